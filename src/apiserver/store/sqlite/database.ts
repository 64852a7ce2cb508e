/**
 * One database file, held by one process.
 *
 * The file is locked from opening to closing by SQLite itself (exclusive locking mode). The operating system releases the lock whenever the
 * process ends, in any way, so no stale lock can remain. Locks of network file systems are often unreliable, so the file belongs on a local
 * disk.
 *
 * @module
 */
import { closeSync, openSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { DatabaseSync } from "node:sqlite";
import { assert } from "../../../base/errors.ts";
import { damagedFile, emptyDatabase, foreignFile, isLockedFile, newerFile, openFailure } from "./failures.ts";
import { closeAsFound } from "./held-files.ts";
import { loadSqlite } from "./load-sqlite.ts";

/** The application id in the file header, which identifies files of this program. */
const APPLICATION_ID = 0x6b_6f_62_6a;
/** The write-ahead log is truncated to this many bytes once it is merged into the database. */
const LOG_BYTES = 16 * 1024 * 1024;
/** Version of the tables. It increases when older programs cannot read the file. */
const SCHEMA = 1;

/**
 * The tables. `body` is the object as passed to the store. Its resourceVersion is `revision`, regardless of that in the body.
 *
 * `previous` and `previousRevision` are the state that an event replaced; NULL for creations. The result of an event is the state that the
 * next event of its key replaced, or the present state. No state is therefore stored twice.
 */
const tables = (firstRevision: number) => `
  CREATE TABLE meta(name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE objects(key TEXT PRIMARY KEY NOT NULL, revision INTEGER NOT NULL, body TEXT NOT NULL) STRICT;
  CREATE TABLE history(revision INTEGER PRIMARY KEY, type TEXT NOT NULL, key TEXT NOT NULL, previousRevision INTEGER, previous TEXT) STRICT;
  INSERT INTO meta VALUES ('schema', ${SCHEMA}), ('revision', ${firstRevision});
  PRAGMA application_id = ${APPLICATION_ID};`;

/** Options for opening a file. */
export interface OpenDatabaseOptions {
  /** First revision of a new file. Default 1. */
  readonly firstRevision?: number | undefined;
  /** The file must exist and contain the expected tables; neither is created. Default false. */
  readonly existing?: boolean | undefined;
  /**
   * Nothing is written and no lock is taken, so the medium may be read-only. The file must exist, and no process may have it open. Default
   * false.
   */
  readonly readOnly?: boolean | undefined;
}

/**
 * Opens and locks the database in a file. If the file does not exist, it is created, readable only by its owner.
 *
 * @throws CONFIG_FILE when another process has the file open; when the file is damaged, unexpectedly missing or empty, not a database of
 *   this program, or that of a newer version; when the system refuses access.
 */
export function openDatabase(path: string, options: OpenDatabaseOptions = {}): DatabaseSync {
  const file = resolve(path);
  const { DatabaseSync } = loadSqlite();
  const { readOnly = false, existing = readOnly } = options;
  let database: DatabaseSync | undefined;
  try {
    if (existing) demandContent(file, path);
    else createFile(file);
    database = readOnly ? new DatabaseSync(immutable(file), { readOnly }) : new DatabaseSync(file);
    if (readOnly) checkWhole(database, file, path);
    else prepare(database, { ...options, path });
    return database;
  } catch (error) {
    const failure = openFailure(path, error);
    if (database !== undefined && !readOnly && !isLockedFile(failure)) closeAsFound(file, database);
    else database?.close();
    throw failure;
  }
}

/** Runs before SQLite opens the file: if the file is empty, SQLite removes the log next to it, which may contain all data. */
function demandContent(file: string, path: string): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  if (size === undefined || size === 0) throw emptyDatabase(path, size === undefined ? "it does not exist" : "it is empty");
}

/** Returns a URL for which SQLite reads no log and takes no locks. */
function immutable(file: string): URL {
  const url = pathToFileURL(file);
  url.searchParams.set("immutable", "1");
  return url;
}

/**
 * Creates a file if it does not exist. An existing file is not opened: POSIX locks belong to the process, so closing the file would release
 * the locks that another store of this process has on it.
 */
function createFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

function prepare(database: DatabaseSync, { path, firstRevision = 1, existing }: OpenDatabaseOptions & { readonly path: string }): void {
  database.exec("PRAGMA locking_mode = EXCLUSIVE");
  // Takes the lock and keeps it. This does not change a file of another program.
  database.exec("BEGIN EXCLUSIVE");
  const empty = isEmpty(database);
  if (!empty || existing === true) checkTables(database, path);
  database.exec("COMMIT");
  // A commit returns when it is on the disk: FULL syncs the log each time, and fullfsync flushes the drive's own cache on macOS.
  const mode = readNumberOrText(database, "PRAGMA journal_mode = WAL");
  assert(mode === "wal", "a local file can have a write-ahead log");
  database.exec("PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA trusted_schema = OFF");
  // The log grows with the largest transaction. This limit shrinks it again.
  database.exec(`PRAGMA journal_size_limit = ${LOG_BYTES}`);
  if (empty) database.exec(`BEGIN; ${tables(firstRevision)} COMMIT;`);
}

function isEmpty(database: DatabaseSync): boolean {
  return (
    readNumberOrText(database, "PRAGMA application_id") === 0 && readNumberOrText(database, "SELECT count(*) FROM sqlite_schema") === 0
  );
}

/** Checks that the file is complete, because SQLite reads a missing part of the last page as zeros. */
function checkWhole(database: DatabaseSync, file: string, path: string): void {
  const size = Number(readNumberOrText(database, "PRAGMA page_count")) * Number(readNumberOrText(database, "PRAGMA page_size"));
  if (statSync(file).size < size) throw damagedFile(path, "its end is missing");
  checkTables(database, path);
}

function checkTables(database: DatabaseSync, path: string): void {
  if (isEmpty(database)) throw emptyDatabase(path, "it contains no data");
  if (readNumberOrText(database, "PRAGMA application_id") !== APPLICATION_ID) throw foreignFile(path);
  const found = Number(readNumberOrText(database, "SELECT value FROM meta WHERE name = 'schema'"));
  if (found > SCHEMA) throw newerFile(path, { found, known: SCHEMA });
}

/** The first column of the first row. */
function readNumberOrText(database: DatabaseSync, sql: string): unknown {
  return Object.values(database.prepare(sql).get() ?? {})[0];
}
