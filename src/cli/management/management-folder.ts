import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { systemChance } from "../../base/chance.ts";
import { systemClock } from "../../base/clock.ts";
import { daysLeft } from "../../cluster/credentials.ts";
import { createBackupCipher } from "../../management/data/backup-seals.ts";
import { demandServable, lostData, lostLog } from "../../management/data/copy-state.ts";
import type { Resealable } from "../../apiserver/store/resealable.ts";
import { isEmptyFile } from "../../apiserver/store/sqlite/failures.ts";
import type { Cipher } from "../../apiserver/store/cipher.ts";
import { createServerCertificate, type ServerCertificate } from "../../apiserver/access/certificates.ts";
import type { StoreMemory } from "../../apiserver/store/memory-limits.ts";
import { openSqliteStore, type SqliteStoreOptions } from "../../apiserver/store/sqlite/sqlite-store.ts";
import type { Store } from "../../apiserver/store/store.ts";
import { makeFolder } from "../files/data-folder.ts";
import { openRecovering } from "./data-source.ts";
import { DATABASE_FILE, readNamedCipher, readOrMakeCipherBeside } from "./encryption-keys.ts";
import { keepProgress, readRevisionFile, REVISION_FILE } from "./revision-file.ts";
import { noteClosed, readServerFile, SERVER_FILE, writeServerFile } from "./server-file.ts";
import type { Terminal } from "../process/terminal.ts";

/** The folder in which the management API keeps the state that must survive its process. */
export interface ManagementFolder {
  /** Everything in it is encrypted on the disk. Closing it throws CONFIG_FILE if that cannot be recorded; it is closed anyway. */
  readonly store: Store & Resealable;
  readonly path: string;
  readonly cipher: Cipher;
  readonly certificate: ServerCertificate;
  /** The port of the previous start; undefined at the first start. */
  readonly port: number | undefined;
  /** True if the encryption key is stored next to the data that it encrypts. */
  readonly keyIsBeside: boolean;
  /** Returns the total size of the store's files, in bytes. */
  size(): number;
  /** Stores the certificate and the port, and marks the data as open until the store is closed. @throws CONFIG_FILE when that fails. */
  keep(port: number): Promise<void>;
}

/** How the folder is opened. */
export interface ManagementFolderOptions {
  readonly path: string;
  /** Name of the server, for its certificate. */
  readonly name: string;
  /** File with the encryption keys. Without it and without the variable, a key is created and stored in the folder. */
  readonly encryptionKeyFile?: string;
  /** Starts with the remaining data if some are missing. Default false: the start is refused. */
  readonly acceptDataLoss?: boolean;
  readonly memory?: StoreMemory;
  readonly terminal: Pick<Terminal, "read" | "env">;
}

const DAYS_LEFT_MIN = 30;

/**
 * Opens a folder, and creates it if it does not exist. `management.db` contains all objects, `server.json` the certificate and the port,
 * and `encryption.key` the key if the options name none. No other process can open the folder until it is closed.
 *
 * @throws CONFIG_FILE when the folder or a file in it cannot be used, for example because the key is missing or is not the one that
 *   encrypted the data; CONFIG_VALUE for a value that is not a key; STORE_FAILED for a backup, an incomplete copy, or missing data.
 */
export async function openManagementFolder(options: ManagementFolderOptions): Promise<ManagementFolder> {
  const { path, name, acceptDataLoss = false } = options;
  // Read before the folder is created: a start without its key leaves no empty folder.
  const named = await readNamedCipher({ file: options.encryptionKeyFile, terminal: options.terminal });
  await makeFolder(path);
  const kept = await readServerFile(path);
  const hadData = acceptDataLoss ? undefined : signOfData(path, kept !== undefined);
  const database = join(path, DATABASE_FILE);
  const log = `${database}-wal`;
  const place = `"${database}"`;
  // These checks come before a key is created next to the data.
  if (hadData !== undefined && sizeOf(database) === 0) throw lostData(place, hadData);
  if (hadData !== undefined && kept?.open === true && !existsSync(log)) throw lostLog(log);
  const { cipher, isBeside } = named ?? (await readOrMakeCipherBeside(path));
  const opening = createBackupCipher(cipher);
  const { memory } = options;
  const progress = keepProgress(path, acceptDataLoss);
  const given = { path: database, cipher: opening.cipher, memory, existing: hadData !== undefined, progress };
  const store = await openRecovering(path, () => openStore(given, () => lostData(place, hadData!)));
  try {
    // A new database counts from 1.
    const counted = !acceptDataLoss && (await store.revision()) > 1 ? "its write counter shows that there was data" : undefined;
    await demandServable(store, { isBackup: opening.backups.size > 0, hadData: hadData ?? counted, place });
    const isGood = kept !== undefined && daysLeft(kept, systemClock) >= DAYS_LEFT_MIN;
    const certificate = isGood ? kept : createServerCertificate({ name, clock: systemClock, chance: systemChance });
    const { caPem, certPem, keyPem } = certificate;
    return {
      ...{ store, path, cipher, certificate: { caPem, certPem, keyPem }, port: kept?.port, keyIsBeside: isBeside },
      size: () => sizeOf(database) + sizeOf(log),
      async keep(port) {
        await writeServerFile(path, { caPem, certPem, keyPem, port, open: true });
        noteWhenClosed(store, path);
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Returns the evidence that there was data, for messages; undefined if there is none. The first revision is that of an unused database. */
function signOfData(folder: string, hasServerFile: boolean): string | undefined {
  if (hasServerFile) return `${SERVER_FILE} shows that a server has used it`;
  return (readRevisionFile(folder) ?? 1) > 1 ? `${REVISION_FILE} shows that a server has written to it` : undefined;
}

/**
 * Marks the data as closed before the store is closed. In the reverse order, a crash in between would leave data marked as open without a
 * log.
 */
function noteWhenClosed(store: Store, folder: string): void {
  const close = store.close.bind(store);
  store.close = async () => {
    try {
      await noteClosed(folder);
    } finally {
      await close();
    }
  };
}

function openStore(options: SqliteStoreOptions, lost: () => Error): Store & Resealable {
  try {
    return openSqliteStore(options);
  } catch (error) {
    throw isEmptyFile(error) ? lost() : error;
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
