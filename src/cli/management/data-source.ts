/**
 * Sources of `platform-data`, and their faults. Reading a folder that no server has open writes nothing in it,
 * so backups on read-only media work as well.
 *
 * @module
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { EngineError, isEngineError } from "../../base/errors.ts";
import { createBackupCipher, type KeyedCipher } from "../../management/data/backup-seals.ts";
import { checkContents, contentsOf, type Contents, type Findings } from "../../management/data/contents.ts";
import { lostLog, readCopyState, type CopyState } from "../../management/data/copy-state.ts";
import { faultsAgainst, type Manifest } from "../../management/data/manifest.ts";
import type { Resealable } from "../../apiserver/store/resealable.ts";
import { openSqliteStore } from "../../apiserver/store/sqlite/sqlite-store.ts";
import type { Store } from "../../apiserver/store/store.ts";
import type { CommandContext } from "../process/command.ts";
import { DATABASE_FILE } from "./encryption-keys.ts";
import { askContents } from "./folder-socket.ts";
import { demandProgress } from "./revision-file.ts";
import { noteClosed, readServerFile, readServerText } from "./server-file.ts";
import { namesEtcd, openStoreFromFlags, storeName, type StoreFlags } from "./store-flags.ts";

/** The contents of a source, and its metadata. */
export interface DataSource {
  readonly contents: Contents;
  readonly copy: CopyState | undefined;
  /** The id of the backup that each row was sealed for, by the key of the row. */
  readonly backups: ReadonlyMap<string, string>;
  /** The text of `server.json`; undefined when there is none. */
  readonly serverFile: string | undefined;
  /** Why `server.json` is unusable; undefined if it is not. */
  readonly serverFault: string | undefined;
  /** The name of the source, for messages. */
  readonly place: string;
}

/** Result of checking a source. */
export interface SourceCheck extends Findings {
  /** State of the source. A backup whose manifest is missing is still a backup. */
  readonly state: "data" | CopyState["state"];
  readonly manifest: Manifest | undefined;
  /** Differences from the data that were backed up or stored, one sentence each; they are also the first faults. */
  readonly broken: readonly string[];
  /** Facts that cannot be verified, one phrase each. */
  readonly unproven: readonly string[];
}

/**
 * Reads data from the server that has the folder open, or from the store if there is no such server.
 *
 * @throws errors of the source and the keys.
 */
export async function readSource(context: CommandContext, flags: StoreFlags, cipher: KeyedCipher): Promise<DataSource> {
  const place = storeName(flags);
  const inFolder = namesEtcd(flags) ? undefined : flags.data;
  const beside = await readBeside(inFolder);
  const served = inFolder === undefined ? undefined : await askContents(inFolder, cipher);
  if (served !== undefined) return { contents: served, copy: undefined, backups: new Map(), ...beside, place };
  const { cipher: opening, backups } = createBackupCipher(cipher);
  return withSource(context, flags, opening, async (store) => {
    return { contents: await contentsOf(store), copy: await readCopyState(store), backups, ...beside, place };
  });
}

/**
 * Opens the store of a source that no server has open, and passes it to `act`.
 *
 * @throws CONFIG_FILE if there is no data, or a server opens the folder in the meantime; errors of `act`.
 */
export async function withSource<T>(
  { terminal }: CommandContext,
  flags: StoreFlags,
  cipher: KeyedCipher,
  act: (store: Store & Partial<Resealable>) => Promise<T>,
): Promise<T> {
  if (namesEtcd(flags) || flags.data === undefined) return closing(await openStoreFromFlags(flags, { terminal, cipher }), act);
  const path = join(flags.data, DATABASE_FILE);
  const before = timesOf(path);
  // A log must be merged into the file, under a lock. Without a log nothing has to be written.
  if (before === undefined) {
    const details = { hint: "Specify the folder of a backup, or the folder that management --data uses" };
    throw new EngineError("CONFIG_FILE", `"${flags.data}" contains no data of the management API: ${DATABASE_FILE} is missing`, {
      details,
    });
  }
  const progress = demandProgress(flags.data);
  if (before.hasLog) {
    return closing(await openRecovering(flags.data, () => openSqliteStore({ path, cipher, existing: true, progress })), act);
  }
  await demandLog(flags.data);
  const result = await closing(openSqliteStore({ path, cipher, readOnly: true, progress }), act);
  const after = timesOf(path);
  if (after !== undefined && !after.hasLog && after.changed === before.changed) return result;
  const details = { hint: "Run the same command again" };
  throw new EngineError("CONFIG_FILE", `"${flags.data}" was opened by a server while it was read`, { details });
}

/** Requires a log if the file marks the data as open: the log exists for all of that time. @throws STORE_FAILED if it is missing. */
async function demandLog(folder: string): Promise<void> {
  const kept = await readServerFile(folder).catch(() => undefined);
  const path = join(folder, DATABASE_FILE);
  if (kept?.open === true && timesOf(path)?.hasLog === false) throw lostLog(`${path}-wal`);
}

/**
 * Opens data that may have a log next to it. When the database is closed, the log is merged into the database and removed. From then on, a
 * missing log is not an error.
 */
export async function openRecovering<S extends Store>(folder: string, open: () => S): Promise<S> {
  const store = open();
  try {
    await noteClosed(folder);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function closing<S extends Store, T>(store: S, act: (store: S) => Promise<T>): Promise<T> {
  try {
    return await act(store);
  } finally {
    await store.close();
  }
}

function timesOf(path: string): { readonly hasLog: boolean; readonly changed: bigint } | undefined {
  const file = statSync(path, { throwIfNoEntry: false, bigint: true });
  return file && { hasLog: statSync(`${path}-wal`, { throwIfNoEntry: false }) !== undefined, changed: file.mtimeNs };
}

async function readBeside(folder: string | undefined): Promise<Pick<DataSource, "serverFile" | "serverFault">> {
  if (folder === undefined) return { serverFile: undefined, serverFault: undefined };
  const serverFile = await readServerText(folder);
  try {
    await readServerFile(folder);
    return { serverFile, serverFault: undefined };
  } catch (error) {
    if (isEngineError(error)) return { serverFile, serverFault: error.message };
    throw error;
  }
}

/** Checks all data that was read from a source. */
export function judge({ contents, copy, backups, serverFile, serverFault }: DataSource): SourceCheck {
  const found = checkContents(contents);
  const isBackup = backups.size > 0;
  const manifest = copy?.state === "backup" ? copy.manifest : undefined;
  const broken: string[] = [];
  const unproven: string[] = [];
  if (copy?.state === "unfinished") broken.push("a copy into it was not finished");
  else if (manifest !== undefined) broken.push(...faultsAgainst(manifest, { ...contents, backups, serverFile }));
  else if (isBackup) broken.push("it is a backup, but its manifest is missing");
  else if (copy?.state === "backup") {
    if (copy.digest !== found.digest) broken.push("its contents differ from those that were copied into it");
    unproven.push("that server.json is the one that was backed up", "the order in which the objects were written");
  }
  if (contents.objects.length === 0) broken.push("it contains no data");
  if (serverFault !== undefined) broken.push(serverFault);
  const state = copy?.state ?? (isBackup ? "backup" : "data");
  return { ...found, faults: [...broken, ...found.faults], broken, state, manifest, unproven };
}
