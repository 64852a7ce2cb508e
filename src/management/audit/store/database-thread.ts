/**
 * The thread that works on a database of audit lines, so that requests wait neither for its client nor for its disk. The thread's start
 * data names the database. The thread sends one response when the database is open, with the SQL dialect, and then answers each request in
 * turn. It also reports when the connection to the database is lost.
 *
 * @module
 */
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { parentPort, workerData } from "node:worker_threads";
import { systemClock } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { DataStoreEndpoint } from "../../config/rules/data-store-endpoint.ts";
import type { Sql } from "./audit-database.ts";
import { openMysqlLines } from "./mysql-lines.ts";
import { openSqliteLines } from "./sqlite-lines.ts";

/** The data of the thread. */
export interface ThreadData {
  readonly endpoint: DataStoreEndpoint;
  /** The authorities that the process trusts, where certificates are checked. A thread has a list of its own. */
  readonly certificates?: readonly string[] | undefined;
}

/** A statement, or the request to close the database. */
export interface ThreadRequest {
  readonly how: "all" | "run" | "runPrepared" | "close";
  readonly text: string;
  readonly values: readonly (string | number)[];
}

/** The kind of a failure, as far as it matters. */
export type FailureMeaning = "existing" | "refused" | "other";

/** A result (the SQL dialect, rows, a number of rows, or nothing), a failure, or the loss of the connection. */
export type ThreadResponse =
  | { readonly result: unknown }
  | { readonly failure: string; readonly meaning: FailureMeaning; readonly usable: boolean }
  | { readonly gone: true };

const { endpoint, certificates } = workerData as ThreadData;
const port = parentPort!;
const respond = (response: ThreadResponse) => port.postMessage(response);

function open(): Promise<Sql> {
  if (endpoint.kind === "sqlite") return openSqliteLines(endpoint);
  // Lists are compared, because a list that is set replaces the one that options of the process specify.
  const isOther = certificates !== undefined && certificates.join() !== getCACertificates("default").join();
  if (isOther) setDefaultCACertificates(certificates);
  return openMysqlLines(endpoint, () => respond({ gone: true }), systemClock);
}

function meaningOf(error: unknown, sql: Sql): FailureMeaning {
  if (sql.meansExisting(error)) return "existing";
  return sql.refusesValues(error) ? "refused" : "other";
}

async function work(sql: Sql, { how, text, values }: ThreadRequest): Promise<void> {
  try {
    if (how === "close") {
      // The thread ends when it has nothing left to wait for.
      port.unref();
      await sql.close();
    }
    respond({ result: how === "close" ? undefined : await sql[how](text, values) });
  } catch (error) {
    respond({ failure: messageOf(error), meaning: meaningOf(error, sql), usable: sql.usable() });
  }
}

try {
  const sql = await open();
  let before = Promise.resolve();
  port.on("message", (request: ThreadRequest) => {
    before = before.then(() => work(sql, request));
  });
  respond({ result: sql.words });
} catch (error) {
  respond({ failure: messageOf(error), meaning: "other", usable: false });
}
