/**
 * The thread that works on a SQLite file of audit lines, so that requests wait neither for SQLite nor for its disk. Its data is the path.
 * It answers once when the file is open, then each question in turn.
 *
 * @module
 */
import { statSync } from "node:fs";
import { open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { messageOf } from "../../../base/errors.ts";
import { createFolders } from "../../../apiserver/store/folders.ts";
import { loadSqlite } from "../../../apiserver/store/sqlite/load-sqlite.ts";

/** A statement, or the end. */
export interface SqliteQuestion {
  readonly how: "all" | "run" | "runPrepared" | "close";
  readonly text: string;
  readonly values: readonly (string | number)[];
}

/** Rows, a number of rows or nothing; or SQLite's error. */
export type SqliteAnswer = { readonly result: unknown } | { readonly failure: string; readonly errcode: unknown };

/** How long a statement waits for another process on the file, in milliseconds. */
const BUSY_MS = 100;

const path = workerData as string;
const port = parentPort!;
const answer = (sent: SqliteAnswer) => port.postMessage(sent);
const fail = (error: unknown) =>
  answer({ failure: messageOf(error), errcode: (error as { readonly errcode?: unknown } | undefined)?.errcode });

/** Which file is there. */
function fileAt(): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return `${found?.dev} ${found?.ino}`;
}

async function openFile(): Promise<DatabaseSync> {
  await createFolders(dirname(path));
  const found = await stat(path).catch(() => undefined);
  // Opening a pipe would wait for a reader.
  if (found !== undefined && !found.isFile() && !found.isDirectory()) throw new Error("it is not a file");
  await (await open(path, "a", 0o600)).close();
  const { DatabaseSync: Database } = loadSqlite();
  const database = new Database(path);
  try {
    // Lines are long: larger pages take fewer writes. As many bytes as usual are moved from the log into the file at a time.
    const sizes = "PRAGMA page_size = 16384; PRAGMA wal_autocheckpoint = 256";
    database.exec(`PRAGMA busy_timeout = ${BUSY_MS}; ${sizes}; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function listen(database: DatabaseSync): void {
  const opened = fileAt();
  const prepared = new Map<string, StatementSync>();
  const statement = ({ how, text }: SqliteQuestion): StatementSync => {
    const known = prepared.get(text) ?? database.prepare(text);
    if (how === "runPrepared") prepared.set(text, known);
    return known;
  };
  port.on("message", (question: SqliteQuestion) => {
    const { how, values } = question;
    try {
      if (how === "close") {
        // Nothing is left to wait for then, so that the thread ends.
        port.unref();
        database.close();
        return answer({ result: undefined });
      }
      if (fileAt() !== opened) throw new Error("its file has been removed or replaced");
      answer({ result: how === "all" ? statement(question).all(...values) : Number(statement(question).run(...values).changes) });
    } catch (error) {
      fail(error);
    }
  });
}

try {
  listen(await openFile());
  answer({ result: undefined });
} catch (error) {
  fail(error);
}
