import { access, readFile } from "node:fs/promises";
import { join } from "node:path";
import { systemChance } from "../base/chance.ts";
import { systemClock } from "../base/clock.ts";
import { EngineError, messageOf } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import { daysLeft, fitTogether } from "../clusters/credentials.ts";
import { createCipher, ENCRYPTION_KEY_BYTES, parseEncryptionKeys } from "../management/encryption.ts";
import { createServerCertificate } from "../server/certificates.ts";
import type { ServerCertificate } from "../server/certificates.ts";
import { openSqliteStore } from "../server/sqlite-store.ts";
import type { Store } from "../server/store.ts";
import { makeFolder } from "./data-folder.ts";
import { readKeptFile, writeKeptFile } from "./kept-file.ts";
import type { Terminal } from "./terminal.ts";

/** Where the management API keeps what must survive its process. */
export interface ManagementFolder {
  /** Everything in it is encrypted on the disk. */
  readonly store: Store;
  readonly certificate: ServerCertificate;
  /** The port of the start before; undefined at the first. */
  readonly port: number | undefined;
  /** The encryption key lies beside what it encrypts. */
  readonly keyIsBeside: boolean;
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
  readonly terminal: Pick<Terminal, "read" | "env">;
}

/** The variable that holds encryption keys when no file is named. */
export const ENCRYPTION_KEY_VARIABLE = "ENDPOINT_SYNC_ENCRYPTION_KEY";
const DATABASE_FILE = "management.db";
const KEY_FILE = "encryption.key";
const DAYS_LEFT_MIN = 30;

interface Kept extends ServerCertificate {
  readonly port: number;
}

/**
 * Opens a folder, which is made when it does not exist: `management.db` with everything that is stored, `server.json` with
 * certificate and port, and `encryption.key` when no key is given. No other process can open it meanwhile.
 *
 * @throws CONFIG_FILE when the folder or a file in it can not be used, such as data that was written with another key, or without any
 *   key beside it; CONFIG_VALUE for a text that is no key.
 */
export async function openManagementFolder(options: ManagementFolderOptions): Promise<ManagementFolder> {
  const { path, name } = options;
  await makeFolder(path);
  const { keys, isBeside } = await encryptionKeys(options);
  const store = openSqliteStore({ path: join(path, DATABASE_FILE), cipher: createCipher({ keys, chance: systemChance }) });
  try {
    const file = join(path, "server.json");
    const hint = "Remove the file to have a new certificate made; kubeconfigs from before do not trust it";
    const kept = await readKeptFile({ path: file, isKept, what: "certificate of a server", hint });
    const isGood = kept !== undefined && daysLeft(kept, systemClock) >= DAYS_LEFT_MIN;
    const certificate = isGood ? kept : createServerCertificate({ name, clock: systemClock, chance: systemChance });
    const { caPem, certPem, keyPem } = certificate;
    return {
      ...{ store, certificate: { caPem, certPem, keyPem }, port: kept?.port, keyIsBeside: isBeside },
      keep: (port) => writeKeptFile(file, `${JSON.stringify({ caPem, certPem, keyPem, port }, null, 2)}\n`),
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function encryptionKeys({ path, encryptionKeyFile, terminal }: ManagementFolderOptions) {
  const given = encryptionKeyFile === undefined ? terminal.env[ENCRYPTION_KEY_VARIABLE] : await terminal.read(encryptionKeyFile);
  if (given !== undefined) return { keys: parseEncryptionKeys(given), isBeside: false };
  return { keys: parseEncryptionKeys(await keyBeside(path)), isBeside: true };
}

async function keyBeside(folder: string): Promise<string> {
  const path = join(folder, KEY_FILE);
  const kept = await readIfThere(path);
  if (kept !== undefined) return kept;
  // A new key would open nothing of what is there, and look as if it did.
  if (await exists(join(folder, DATABASE_FILE))) {
    const hint = `Give it with --encryption-key-file or ${ENCRYPTION_KEY_VARIABLE}, or put it back as "${path}"`;
    throw new EngineError("CONFIG_FILE", `Cannot read "${join(folder, DATABASE_FILE)}": its encryption key is not at hand`, {
      details: { hint },
    });
  }
  const made = `${Buffer.from(systemChance.bytes(ENCRYPTION_KEY_BYTES)).toString("base64")}\n`;
  await writeKeptFile(path, made);
  return made;
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new EngineError("CONFIG_FILE", `Cannot read "${path}": ${messageOf(error)}`, { cause: error });
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function isKept(value: unknown): value is Kept {
  if (!isRecord(value) || !Number.isInteger(value["port"])) return false;
  if (!["caPem", "certPem", "keyPem"].every((field) => typeof value[field] === "string" && value[field] !== "")) return false;
  return fitTogether(value as unknown as ServerCertificate);
}
