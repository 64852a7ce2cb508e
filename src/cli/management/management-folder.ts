import { statSync } from "node:fs";
import { join } from "node:path";
import { systemChance } from "../../base/chance.ts";
import { systemClock } from "../../base/clock.ts";
import { isRecord } from "../../base/json.ts";
import { daysLeft, fitTogether } from "../../clusters/credentials.ts";
import { demandServable } from "../../management/data/copy-state.ts";
import type { Resealable } from "../../server/store/resealable.ts";
import type { Cipher } from "../../server/store/sqlite/cipher.ts";
import { createServerCertificate } from "../../server/access/certificates.ts";
import type { ServerCertificate } from "../../server/access/certificates.ts";
import type { StoreMemory } from "../../server/store/memory-limits.ts";
import { openSqliteStore } from "../../server/store/sqlite-store.ts";
import type { Store } from "../../server/store/store.ts";
import { makeFolder } from "../data-folder.ts";
import { DATABASE_FILE, readOrMakeCipher } from "./encryption-keys.ts";
import { readKeptFile, writeKeptFile } from "../kept-file.ts";
import type { Terminal } from "../terminal.ts";

/** Where the management API keeps what must survive its process. */
export interface ManagementFolder {
  /** Everything in it is encrypted on the disk. */
  readonly store: Store & Resealable;
  readonly path: string;
  readonly cipher: Cipher;
  readonly certificate: ServerCertificate;
  /** The port of the start before; undefined at the first. */
  readonly port: number | undefined;
  /** The encryption key lies beside what it encrypts. */
  readonly keyIsBeside: boolean;
  /** How large the files of the store are, in bytes. */
  size(): number;
  /** Remembers certificate and port. @throws CONFIG_FILE when that fails. */
  keep(port: number): Promise<void>;
}

/** How the folder is opened. */
export interface ManagementFolderOptions {
  readonly path: string;
  /** Name of the server, for its certificate. */
  readonly name: string;
  /** File with the encryption keys; without it, and without the variable, a key is made and kept in the folder. */
  readonly encryptionKeyFile?: string;
  readonly memory?: StoreMemory;
  readonly terminal: Pick<Terminal, "read" | "env">;
}

/** What a server keeps beside its data: certificate and port. */
export const SERVER_FILE = "server.json";
const DAYS_LEFT_MIN = 30;

interface Kept extends ServerCertificate {
  readonly port: number;
}

/**
 * Opens a folder, which is made when it does not exist: `management.db` with everything that is stored, `server.json` with
 * certificate and port, and `encryption.key` when no key is given. No other process can open it meanwhile.
 *
 * @throws CONFIG_FILE when the folder or a file in it can not be used, such as data that was written with another key, or without any
 *   key beside it; CONFIG_VALUE for a text that is no key; STORE_FAILED for a backup, or a copy that is not whole.
 */
export async function openManagementFolder(options: ManagementFolderOptions): Promise<ManagementFolder> {
  const { path, name } = options;
  await makeFolder(path);
  const { cipher, isBeside } = await readOrMakeCipher({ file: options.encryptionKeyFile, folder: path, terminal: options.terminal });
  const store = openSqliteStore({ path: join(path, DATABASE_FILE), cipher, memory: options.memory });
  try {
    await demandServable(store);
    const file = join(path, SERVER_FILE);
    const hint = "Remove the file to have a new certificate made; kubeconfigs from before do not trust it";
    const kept = await readKeptFile({ path: file, isKept, what: "certificate of a server", hint });
    const isGood = kept !== undefined && daysLeft(kept, systemClock) >= DAYS_LEFT_MIN;
    const certificate = isGood ? kept : createServerCertificate({ name, clock: systemClock, chance: systemChance });
    const { caPem, certPem, keyPem } = certificate;
    return {
      ...{ store, path, cipher, certificate: { caPem, certPem, keyPem }, port: kept?.port, keyIsBeside: isBeside },
      size: () => sizeOf(join(path, DATABASE_FILE)) + sizeOf(join(path, `${DATABASE_FILE}-wal`)),
      keep: (port) => writeKeptFile(file, `${JSON.stringify({ caPem, certPem, keyPem, port }, null, 2)}\n`),
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function isKept(value: unknown): value is Kept {
  if (!isRecord(value) || !Number.isInteger(value["port"])) return false;
  if (!["caPem", "certPem", "keyPem"].every((field) => typeof value[field] === "string" && value[field] !== "")) return false;
  return fitTogether(value as unknown as ServerCertificate);
}
