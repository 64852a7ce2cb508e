import { extname } from "node:path";
import { getCACertificates } from "node:tls";
import { Worker } from "node:worker_threads";
import { systemClock, type Clock } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { DataStoreEndpoint } from "../../config/rules/data-store-endpoint.ts";
import type { Sql } from "./audit-database.ts";
import type { FailureMeaning, ThreadResponse, ThreadData, ThreadRequest } from "./database-thread.ts";

/** Options of a connection to a database. */
export interface DatabaseOptions {
  /** Cuts the connection, even if the database does not respond; everything that waits for it fails. */
  readonly signal?: AbortSignal;
  /** Default: {@link systemClock}. */
  readonly clock?: Clock;
}

/** The program of the thread, next to this file. Both are compiled, or neither is. */
const PROGRAM = new URL(`./database-thread${extname(import.meta.url)}`, import.meta.url);

/** More than the longest response needs, even one of empty rows: Node can end the whole process when a thread reaches this limit. */
const LIMITS = { maxOldGenerationSizeMb: 512 };

/** Threads that were abandoned and have not ended: they wait for a system that does not respond, as further threads would. */
const left = new Set<DatabaseThread>();

/**
 * Opens the database at an address in a separate thread. A database that responds too late, or whose thread ends, is abandoned and must be
 * opened again.
 *
 * @throws the error of the database, the network or the system.
 */
export async function openLines(endpoint: DataStoreEndpoint, { signal, clock = systemClock }: DatabaseOptions = {}): Promise<Sql> {
  const what = endpoint.kind === "sqlite" ? "the database file" : "the database";
  const ending = new AbortController();
  const close = () => ending.abort(new Error(`${what} is closed`));
  const forget = () => signal?.removeEventListener("abort", close);
  signal?.addEventListener("abort", close, { once: true });
  if (signal?.aborted) close();
  const limits = { clock, what, cut: (error: Error) => ending.abort(error) };
  try {
    const thread = await within(OPEN_MS, DatabaseThread.start(endpoint, what, ending.signal), limits);
    void thread.exited.then(forget);
    const send = (request: ThreadRequest) => within(STATEMENT_MS, thread.send(request), limits);
    return {
      words: thread.words!,
      all: async (text, values) => (await send({ how: "all", text, values })) as Readonly<Record<string, unknown>>[],
      run: async (text, values) => Number(await send({ how: "run", text, values })),
      runPrepared: async (text, values) => void (await send({ how: "runPrepared", text, values })),
      meansExisting: (error) => error instanceof StatementError && error.meaning === "existing",
      refusesValues: (error) => error instanceof StatementError && error.meaning === "refused",
      usable: () => thread.usable,
      close: async () => {
        if (!thread.ended) await send({ how: "close", text: "", values: [] });
      },
    };
  } catch (error) {
    ending.abort(error);
    forget();
    throw error;
  }
}

/** An error that the database returns instead of a result. */
class StatementError extends Error {
  readonly meaning: FailureMeaning;

  constructor(message: string, meaning: FailureMeaning) {
    super(message);
    this.meaning = meaning;
  }
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** A thread with a database. It responds in the order of the requests, and keeps the process alive only while a response is awaited. */
class DatabaseThread {
  readonly exited: Promise<void>;
  words: Sql["words"] | undefined;
  ended = false;
  readonly #endpoint: string;
  readonly #worker: Worker;
  readonly #waiting: Waiting[] = [];
  #gone = false;
  /** Whether the last request left the database in an unknown state. */
  #failed = false;
  /** Whether its end was requested. */
  #closing = false;
  /** Why it ended. */
  #reason: unknown;
  /** Whether it ended while nothing waited for it, so that the next request must receive the reason. */
  #unreported = false;

  /** Opens the database, once no earlier thread waits for it. */
  static async start(endpoint: DataStoreEndpoint, what: string, signal: AbortSignal): Promise<DatabaseThread> {
    const name = JSON.stringify(endpoint);
    const earlier = [...left].filter((thread) => thread.#endpoint === name);
    if (earlier.length > 0) {
      const cut = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      await Promise.race([cut, Promise.all(earlier.map(({ exited }) => exited))]);
    }
    signal.throwIfAborted();
    const thread = new DatabaseThread(endpoint, what, signal);
    thread.words = (await thread.#nextResponse()) as Sql["words"];
    return thread;
  }

  private constructor(endpoint: DataStoreEndpoint, what: string, signal: AbortSignal) {
    this.#endpoint = JSON.stringify(endpoint);
    const isChecked = endpoint.kind === "mysql" && endpoint.tls === "verified";
    const data: ThreadData = { endpoint, certificates: isChecked ? getCACertificates("default") : undefined };
    // A thread refuses some options of a process, such as those for a program on its command line.
    this.#worker = new Worker(PROGRAM, { name: "audit-database", workerData: data, execArgv: [], resourceLimits: LIMITS });
    this.#worker.on("message", (response: ThreadResponse) => this.#take(response));
    this.#worker.once("error", (error) => this.#fail(new Error(`the thread of ${what} has failed: ${messageOf(error)}`)));
    this.exited = new Promise((resolve) => this.#worker.once("exit", () => resolve()));
    void this.exited.then(() => {
      this.#fail(new Error(`the thread of ${what} has ended`));
      left.delete(this);
    });
    signal.addEventListener("abort", () => this.#end(signal.reason), { once: true });
  }

  /** Whether the next request may succeed, or must receive a failure that was not reported yet. */
  get usable(): boolean {
    return this.#unreported || (!this.ended && !this.#gone && !this.#failed);
  }

  send(request: ThreadRequest): Promise<unknown> {
    this.#closing ||= request.how === "close";
    const response = this.#nextResponse();
    if (!this.ended) this.#worker.postMessage(request);
    return response;
  }

  #nextResponse(): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#unreported = false;
      if (this.ended) return reject(this.#reason);
      this.#worker.ref();
      this.#waiting.push({ resolve, reject });
    });
  }

  /** Handles an end that may not have been requested. */
  #fail(error: Error): void {
    if (!this.ended && !this.#closing && this.#waiting.length === 0) this.#unreported = true;
    this.#end(error);
  }

  /** Rejects everything that waits. The thread itself ends when the system has responded to it. */
  #end(error: unknown): void {
    if (this.ended) return;
    this.ended = true;
    this.#reason = error;
    left.add(this);
    void this.#worker.terminate();
    this.#worker.unref();
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }

  #take(response: ThreadResponse): void {
    if ("gone" in response) {
      this.#gone = true;
      return;
    }
    const waiting = this.#waiting.shift();
    if (this.#waiting.length === 0) this.#worker.unref();
    this.#failed = "failure" in response && !response.usable;
    if ("result" in response) return waiting?.resolve(response.result);
    waiting?.reject(new StatementError(response.failure, response.meaning));
  }
}

/** How long it may take to open a database, and how long one statement, in milliseconds. */
export const OPEN_MS = 10_000;
export const STATEMENT_MS = 30_000;

/** Work with a time limit: `cut` makes the work fail, and `what` names the database in the message. */
interface Limited {
  readonly clock: Clock;
  readonly what: string;
  readonly cut: (error: Error) => void;
}

/** Waits for work, and aborts it if it takes longer than `ms`. */
async function within<Result>(ms: number, work: Promise<Result>, { clock, what, cut }: Limited): Promise<Result> {
  let late: Error | undefined;
  const timer = clock.schedule(ms, () => {
    late = new Error(`${what} did not respond within ${ms / 1_000} s`);
    cut(late);
  });
  try {
    return await work;
  } catch (error) {
    throw late ?? error;
  } finally {
    timer.cancel();
  }
}
