import { statSync } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { loadSqlite } from "../../../apiserver/store/sqlite/load-sqlite.ts";
import type { Sql } from "./audit-database.ts";

/** How long a write waits for another process on the file, in milliseconds; it blocks this thread. */
const BUSY_MS = 100;

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

/**
 * A SQLite file, created with its folder if necessary. Only its owner may read it. For one process. After a failure it has to be opened
 * again, and once the file is not the one at `path` any more: SQLite would go on writing to a file that nothing can find.
 *
 * @throws the error of the system or SQLite.
 */
export async function openSqliteLines(path: string): Promise<Sql> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await (await open(path, "a", 0o600)).close();
  const { DatabaseSync: Database } = loadSqlite();
  const database = new Database(path);
  try {
    // Lines are long: larger pages take fewer writes. As many bytes as usual are moved from the log into the file at a time.
    const sizes = "PRAGMA page_size = 16384; PRAGMA wal_autocheckpoint = 256";
    database.exec(`PRAGMA busy_timeout = ${BUSY_MS}; ${sizes}; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL`);
    return linesIn(database, path);
  } catch (error) {
    database.close();
    throw error;
  }
}

function linesIn(database: DatabaseSync, path: string): Sql {
  const opened = fileAt(path);
  const prepared = new Map<string, StatementSync>();
  /** The last statement did. */
  let failed = false;
  const attempt = <Result>(work: () => Result): Result => {
    try {
      if (fileAt(path) !== opened) throw new Error("its file has been removed or replaced");
      const result = work();
      failed = false;
      return result;
    } catch (error) {
      failed = true;
      throw error;
    }
  };
  return {
    words: WORDS,
    all: async (text, values) => attempt(() => database.prepare(text).all(...values)),
    run: async (text, values) => attempt(() => Number(database.prepare(text).run(...values).changes)),
    runPrepared: async (text, values) =>
      attempt(() => {
        let statement = prepared.get(text);
        if (statement === undefined) prepared.set(text, (statement = database.prepare(text)));
        statement.run(...values);
      }),
    meansExisting: () => false,
    refusesValues: (error) => REFUSALS.includes(Number((error as { readonly errcode?: unknown }).errcode) & 0xff),
    usable: () => !failed,
    close: async () => database.close(),
  };
}

/** Which file is there. */
function fileAt(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return `${found?.dev} ${found?.ino}`;
}
