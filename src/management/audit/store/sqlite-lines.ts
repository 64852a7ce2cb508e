import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { systemClock } from "../../../base/clock.ts";
import type { Sql } from "./audit-database.ts";
import type { SqliteAnswer, SqliteQuestion } from "./sqlite-thread.ts";
import { OPEN_MS, STATEMENT_MS, within } from "./time-limits.ts";
import type { DatabaseOptions } from "./time-limits.ts";

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

/** Beside this file, compiled or not. */
const PROGRAM = new URL(`./sqlite-thread${extname(import.meta.url)}`, import.meta.url);

/** Threads that were left and have not ended: they wait for a disk that does not answer, and further ones would wait as well. */
const left = new Set<SqliteThread>();

/**
 * A SQLite file, created with its folder if necessary. Only its owner may read it. For one process; a separate thread works on it. It
 * must be opened again after a failure, and once the file at `path` is a different one: SQLite would keep writing to a file that
 * no longer has a name.
 *
 * @throws the error of the system or SQLite.
 */
export async function openSqliteLines(path: string, { signal, clock = systemClock }: DatabaseOptions = {}): Promise<Sql> {
  if ([...left].some((thread) => thread.path === path))
    throw new Error("its file has not answered, and an earlier attempt is still waiting for it");
  const thread = new SqliteThread(path, signal);
  const limits = { clock, what: "the database file", cut: () => thread.end(new Error("the database file responds too slowly")) };
  await within(OPEN_MS, thread.answer(), limits);
  /** The last statement did. */
  let failed = false;
  const ask = async (question: SqliteQuestion): Promise<unknown> => {
    try {
      const result = await within(STATEMENT_MS, thread.ask(question), limits);
      failed = false;
      return result;
    } catch (error) {
      failed = true;
      throw error;
    }
  };
  return {
    words: WORDS,
    all: async (text, values) => (await ask({ how: "all", text, values })) as Readonly<Record<string, unknown>>[],
    run: async (text, values) => Number(await ask({ how: "run", text, values })),
    runPrepared: async (text, values) => void (await ask({ how: "runPrepared", text, values })),
    meansExisting: () => false,
    refusesValues: (error) => REFUSALS.includes(Number((error as { readonly errcode?: unknown }).errcode) & 0xff),
    usable: () => !failed && !thread.ended,
    close: async () => {
      if (!thread.ended) await ask({ how: "close", text: "", values: [] });
    },
  };
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** Answers come in the order of the questions. The thread keeps the process alive only while one is awaited. */
class SqliteThread {
  readonly path: string;
  readonly #worker: Worker;
  readonly #waiting: Waiting[] = [];
  ended = false;

  constructor(path: string, signal: AbortSignal | undefined) {
    this.path = path;
    // Options of this process may be about a program on its command line, which a thread refuses.
    this.#worker = new Worker(PROGRAM, { name: "audit-database", workerData: path, execArgv: [] });
    const cut = () => this.end(new Error("the database file is closed"));
    signal?.addEventListener("abort", cut, { once: true });
    this.#worker.on("message", (answer: SqliteAnswer) => this.#take(answer));
    this.#worker.once("error", (error) => this.end(error));
    this.#worker.once("exit", () => {
      this.end(new Error("the thread of the database file has ended"));
      left.delete(this);
      signal?.removeEventListener("abort", cut);
    });
    if (signal?.aborted) cut();
  }

  ask(question: SqliteQuestion): Promise<unknown> {
    const answer = this.answer();
    this.#worker.postMessage(question);
    return answer;
  }

  answer(): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.ended) return reject(new Error("the database file is closed"));
      this.#worker.ref();
      this.#waiting.push({ resolve, reject });
    });
  }

  /** All that waits fails. The thread itself ends when the system has answered it. */
  end(error: unknown): void {
    if (this.ended) return;
    this.ended = true;
    left.add(this);
    void this.#worker.terminate();
    this.#worker.unref();
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }

  #take(answer: SqliteAnswer): void {
    const waiting = this.#waiting.shift();
    if (this.#waiting.length === 0) this.#worker.unref();
    if ("failure" in answer) waiting?.reject(Object.assign(new Error(answer.failure), { errcode: answer.errcode }));
    else waiting?.resolve(answer.result);
  }
}
