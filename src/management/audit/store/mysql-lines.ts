import { connect } from "node:net";
import type { Clock } from "../../../base/clock.ts";
import type { DataStoreEndpoint } from "../../config/rules/data-store-endpoint.ts";
import type { Sql } from "./audit-database.ts";

/** Binary, so that names that differ in case or trailing spaces stay different. */
const NAME = "VARBINARY(1012) NOT NULL";
const WORD = "VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL";
const WORDS: Sql["words"] = {
  createTable: `CREATE TABLE IF NOT EXISTS audit_events (at BIGINT NOT NULL, writer ${WORD}, seq BIGINT NOT NULL, audit_id ${WORD},
    stage ${WORD}, user_name ${NAME}, verb ${NAME}, resource ${NAME}, namespace ${NAME}, name ${NAME},
    code INT NOT NULL, line MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, PRIMARY KEY (at, writer, seq))`,
  // INSERT IGNORE would also shorten values that are too long, and ON DUPLICATE KEY UPDATE needs another privilege.
  skipExisting: "",
  deleteBefore: "DELETE FROM audit_events WHERE at < ? ORDER BY at LIMIT ?",
  // An ASCII column cannot be compared with other texts, and its comparisons ignore trailing spaces.
  text: "CAST(? AS BINARY)",
};

/** `ER_DUP_ENTRY`. */
const EXISTS = 1062;
/** Refusals of values: null, out of range, wrong number, wrong characters, too long, a check (also of MySQL). */
const REFUSALS: readonly unknown[] = [1048, 1264, 1265, 1292, 1366, 1406, 4025, 3819];

/** Bytes of the longest response to one statement: twice the largest page of lines. */
const ANSWER_BYTES_MAX = 16 * 1_048_576;
/** How often the bytes of an incoming response are counted, in milliseconds. */
const LOOK_MS = 10;

/**
 * Opens a MySQL or MariaDB database. The client is loaded on first use. A connection that fails is closed. No operation has a time limit.
 *
 * @param gone - called when the connection is lost, or closed.
 * @param clock - schedules the checks of a response's length.
 * @throws the error of the network or the server; the connection is closed when one response is longer than {@link ANSWER_BYTES_MAX}.
 */
export async function openMysqlLines(
  endpoint: Extract<DataStoreEndpoint, { kind: "mysql" }>,
  gone: () => void,
  clock: Clock,
): Promise<Sql> {
  const { host, port, user, password, database, tls } = endpoint;
  const { createConnection } = await import("mysql2");
  // The client's own `end` also waits for the server to close its side.
  const socket = connect({ host, port, noDelay: true, keepAlive: true });
  const cut = () => void socket.destroy();
  socket.once("end", gone).once("close", gone);
  const client = createConnection({
    stream: () => socket,
    ...{ host, port, user, password, database, charset: "utf8mb4", connectTimeout: 0 },
    // The server may not request local files: what it sends is data only.
    ...{ multipleStatements: false, supportBigNumbers: true, flags: ["-LOCAL_FILES"] },
    // The name is checked too: anyone can have a certificate of a known authority for another name.
    ...(tls !== "off" && { ssl: { rejectUnauthorized: tls === "verified", verifyIdentity: tls === "verified" } }),
  });
  /** Node can end the whole process when a thread has no memory left, so an endless response is cut off long before that. */
  const bounded = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    const before = socket.bytesRead;
    const look = () => {
      if (socket.bytesRead - before <= ANSWER_BYTES_MAX) timer = clock.schedule(LOOK_MS, look);
      else socket.destroy(new Error(`the database sent more than ${ANSWER_BYTES_MAX} bytes in one response`));
    };
    let timer = clock.schedule(LOOK_MS, look);
    try {
      return await work();
    } finally {
      timer.cancel();
    }
  };
  // A connection may fail more than once; each pending request receives the failure itself.
  client.on("error", () => {});
  const connection = client.promise();
  const ask = async (how: "query" | "execute", sql: string, values: readonly (string | number)[]): Promise<unknown> => {
    try {
      const statement = { sql, values: [...values] };
      const [result] = await bounded<readonly unknown[]>(() =>
        how === "query" ? connection.query(statement) : connection.execute(statement),
      );
      return result;
    } catch (error) {
      // An error that the server returns leaves the connection usable.
      if (errorNumber(error) === undefined) cut();
      throw error;
    }
  };
  try {
    await bounded(() => connection.connect());
    // Values of queries are escaped in this process, and some SQL modes of the server would break the escaping.
    await ask("query", "SET SESSION sql_mode = 'STRICT_ALL_TABLES'", []);
  } catch (error) {
    cut();
    throw error;
  }
  return {
    words: WORDS,
    all: async (text, values) => (await ask("query", text, values)) as Readonly<Record<string, unknown>>[],
    run: async (text, values) => Number(((await ask("query", text, values)) as { readonly affectedRows?: number }).affectedRows ?? 0),
    runPrepared: async (text, values) => void (await ask("execute", text, values)),
    meansExisting: (error) => errorNumber(error) === EXISTS,
    refusesValues: (error) => REFUSALS.includes(errorNumber(error)),
    usable: () => !socket.destroyed && !socket.readableEnded,
    close: async () => cut(),
  };
}

/** The number of an error that the server returned; undefined for other errors. */
function errorNumber(error: unknown): number | undefined {
  const { errno, sqlState, fatal } = error as { readonly errno?: unknown; readonly sqlState?: unknown; readonly fatal?: unknown };
  return typeof errno === "number" && typeof sqlState === "string" && fatal !== true ? errno : undefined;
}
