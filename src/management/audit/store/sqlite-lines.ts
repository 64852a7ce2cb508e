import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { loadSqlite } from "../../../apiserver/store/sqlite/load-sqlite.ts";
import type { Sql } from "./audit-database.ts";

/** How long a write waits for another process on the file, in milliseconds; it blocks this thread. */
const BUSY_MS = 100;

const WORDS: Sql["words"] = {
  createTable: `CREATE TABLE IF NOT EXISTS audit_events (at INTEGER NOT NULL, writer TEXT NOT NULL, seq INTEGER NOT NULL, audit_id TEXT NOT NULL,
    stage TEXT NOT NULL, user_name TEXT NOT NULL, verb TEXT NOT NULL, resource TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
    code INTEGER NOT NULL, line TEXT NOT NULL, PRIMARY KEY (at, writer, seq))`,
  insert: "INSERT OR IGNORE",
  deleteBefore: "DELETE FROM audit_events WHERE rowid IN (SELECT rowid FROM audit_events WHERE at < ? ORDER BY at LIMIT ?)",
  text: "?",
};

/**
 * A SQLite file, created with its folder if necessary. Only its owner may read it. For one process.
 *
 * @throws the error of the system or SQLite.
 */
export async function openSqliteLines(path: string): Promise<Sql> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await (await open(path, "a", 0o600)).close();
  const { DatabaseSync: Database } = loadSqlite();
  const database = new Database(path);
  try {
    database.exec(`PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL`);
    return linesIn(database);
  } catch (error) {
    database.close();
    throw error;
  }
}

function linesIn(database: DatabaseSync): Sql {
  return {
    words: WORDS,
    all: async (text, values) => database.prepare(text).all(...values),
    run: async (text, values) => Number(database.prepare(text).run(...values).changes),
    close: async () => database.close(),
  };
}
