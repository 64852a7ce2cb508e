/**
 * One database file, held by one process.
 *
 * The file is locked from opening to closing by SQLite itself (exclusive locking mode). The operating system gives the lock
 * back when the process ends, however it ends, so nothing stale can be left. Locks of network file systems are often not to
 * be relied on: the file belongs on a local disk.
 *
 * @module
 */
import { closeSync, openSync } from "node:fs";
import { resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { assert } from "../../../base/errors.ts";
import { foreignFile, newerFile, openFailure } from "./failures.ts";
import { loadSqlite } from "./load-sqlite.ts";

/** Marks a file as ours, in the field that SQLite's file format has for it. */
const APPLICATION_ID = 0x6b_6f_62_6a;
/** The write-ahead log is cut to so many bytes once all of it is in the database. */
const LOG_BYTES = 16 * 1024 * 1024;
/** Grows when older programs could no longer read the file. */
const SCHEMA = 1;

/**
 * `body` is the object as it was given to the store; its resourceVersion is `revision`, whatever the body says.
 *
 * The history tells what was before: `previous` and its revision are the state that an event replaced, absent for creations.
 * What an event led to is what the next one of its key replaced, or what is there now. So nothing is stored twice.
 */
const tables = (firstRevision: number) => `
  CREATE TABLE meta(name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE objects(key TEXT PRIMARY KEY NOT NULL, revision INTEGER NOT NULL, body TEXT NOT NULL) STRICT;
  CREATE TABLE history(revision INTEGER PRIMARY KEY, type TEXT NOT NULL, key TEXT NOT NULL, previousRevision INTEGER, previous TEXT) STRICT;
  INSERT INTO meta VALUES ('schema', ${SCHEMA}), ('revision', ${firstRevision});
  PRAGMA application_id = ${APPLICATION_ID};`;

/**
 * The database in a file, locked and ready; the file is made when it does not exist, for its owner's eyes only.
 *
 * @param firstRevision What a file that is made counts from.
 * @throws CONFIG_FILE when another process has it open, it is no database of ours, it is damaged, its schema is newer, or the
 *   system refuses.
 */
export function openDatabase(path: string, firstRevision = 1): DatabaseSync {
  const file = resolve(path);
  const { DatabaseSync } = loadSqlite();
  let database: DatabaseSync | undefined;
  try {
    createFile(file);
    database = new DatabaseSync(file);
    prepare(database, { path, firstRevision });
    return database;
  } catch (error) {
    database?.close();
    throw openFailure(path, error);
  }
}

/**
 * A file that exists is not touched: closing it would give back the locks that another store of this process holds on it,
 * since POSIX ties them to the process and the file.
 */
function createFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

function prepare(database: DatabaseSync, { path, firstRevision }: { readonly path: string; readonly firstRevision: number }): void {
  database.exec("PRAGMA locking_mode = EXCLUSIVE");
  // Takes the lock, which stays. A foreign file is not changed by it.
  database.exec("BEGIN EXCLUSIVE");
  const empty = isEmpty(database);
  if (!empty) checkOrigin(database, path);
  database.exec("COMMIT");
  // A commit returns when it is on the disk: FULL syncs the log each time, fullfsync empties the drive's own cache on macOS.
  const mode = readNumberOrText(database, "PRAGMA journal_mode = WAL");
  assert(mode === "wal", "a local file can have a write-ahead log");
  database.exec("PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA trusted_schema = OFF");
  // The log grows with the largest transaction; it does not stay that long.
  database.exec(`PRAGMA journal_size_limit = ${LOG_BYTES}`);
  if (empty) database.exec(`BEGIN; ${tables(firstRevision)} COMMIT;`);
}

function isEmpty(database: DatabaseSync): boolean {
  return (
    readNumberOrText(database, "PRAGMA application_id") === 0 && readNumberOrText(database, "SELECT count(*) FROM sqlite_schema") === 0
  );
}

function checkOrigin(database: DatabaseSync, path: string): void {
  if (readNumberOrText(database, "PRAGMA application_id") !== APPLICATION_ID) throw foreignFile(path);
  const found = Number(readNumberOrText(database, "SELECT value FROM meta WHERE name = 'schema'"));
  if (found > SCHEMA) throw newerFile(path, { found, known: SCHEMA });
}

/** The first column of the first row. */
function readNumberOrText(database: DatabaseSync, sql: string): unknown {
  return Object.values(database.prepare(sql).get() ?? {})[0];
}
