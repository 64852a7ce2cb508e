import { statSync } from "node:fs";
import { open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { createFolders } from "../../../apiserver/store/folders.ts";
import { loadSqlite } from "../../../apiserver/store/sqlite/load-sqlite.ts";
import type { DataStoreEndpoint } from "../../config/rules/data-store-endpoint.ts";
import type { Sql } from "./audit-database.ts";

const WORDS: Sql["words"] = {
  createTable: `CREATE TABLE IF NOT EXISTS audit_events (at INTEGER NOT NULL, writer TEXT NOT NULL, seq INTEGER NOT NULL, audit_id TEXT NOT NULL,
    stage TEXT NOT NULL, user_name TEXT NOT NULL, verb TEXT NOT NULL, resource TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
    code INTEGER NOT NULL, line TEXT NOT NULL, PRIMARY KEY (at, writer, seq))`,
  skipExisting: "ON CONFLICT (at, writer, seq) DO NOTHING",
  deleteBefore: "DELETE FROM audit_events WHERE rowid IN (SELECT rowid FROM audit_events WHERE at < ? ORDER BY at LIMIT ?)",
  text: "?",
};
/** `SQLITE_CONSTRAINT`, `SQLITE_MISMATCH`, `SQLITE_TOOBIG`: the low byte of extended codes. */
const REFUSALS: readonly unknown[] = [19, 20, 18];

/** How long a statement waits for another process that uses the file, in milliseconds. */
const BUSY_MS = 100;

/**
 * Opens a SQLite file, and creates it with its folder if necessary. Only the owner may read a new file, and only one process may use it.
 * Each statement blocks the thread that runs it. The file must be opened again after a failure, and when `path` refers to a different file,
 * because SQLite would keep writing to the removed one.
 *
 * @throws the error of the system or SQLite.
 */
export async function openSqliteLines({ path }: Extract<DataStoreEndpoint, { kind: "sqlite" }>): Promise<Sql> {
  const database = await openFile(path);
  const opened = fileAt(path);
  const prepared = new Map<string, StatementSync>();
  /** Whether the last statement failed. */
  let failed = false;
  const run = <Result>(text: string, work: (statement: StatementSync) => Result, keep = false): Result => {
    failed = true;
    if (fileAt(path) !== opened) throw new Error("its file has been removed or replaced");
    const statement = prepared.get(text) ?? database.prepare(text);
    if (keep) prepared.set(text, statement);
    const result = work(statement);
    failed = false;
    return result;
  };
  return {
    words: WORDS,
    all: async (text, values) => run(text, (statement) => statement.all(...values)),
    run: async (text, values) => run(text, (statement) => Number(statement.run(...values).changes)),
    runPrepared: async (text, values) => void run(text, (statement) => statement.run(...values), true),
    meansExisting: () => false,
    refusesValues: (error) => REFUSALS.includes(Number((error as { readonly errcode?: unknown } | undefined)?.errcode) & 0xff),
    usable: () => !failed,
    close: async () => database.close(),
  };
}

/** Identifies the file at a path. */
function fileAt(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return `${found?.dev} ${found?.ino}`;
}

async function openFile(path: string): Promise<DatabaseSync> {
  await createFolders(dirname(path));
  const found = await stat(path).catch(() => undefined);
  // Opening a pipe would wait for a reader.
  if (found !== undefined && !found.isFile() && !found.isDirectory()) throw new Error("it is not a file");
  await (await open(path, "a", 0o600)).close();
  const { DatabaseSync: Database } = loadSqlite();
  const database = new Database(path);
  try {
    // Lines are long: larger pages take fewer writes. A checkpoint moves as many bytes as with the default sizes.
    const sizes = "PRAGMA page_size = 16384; PRAGMA wal_autocheckpoint = 256";
    database.exec(`PRAGMA busy_timeout = ${BUSY_MS}; ${sizes}; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
