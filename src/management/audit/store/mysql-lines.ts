import { connect } from "node:net";
import type { DataStoreEndpoint } from "../../config/rules/data-store-endpoint.ts";
import type { Sql } from "./audit-database.ts";

/** How long a connection and one statement may take, in milliseconds. */
const CONNECT_MS = 10_000;
const STATEMENT_MS = 30_000;

/** Binary, so that names that differ in case or trailing spaces stay different. */
const NAME = "VARBINARY(1012) NOT NULL";
const WORD = "VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL";
const WORDS: Sql["words"] = {
  createTable: `CREATE TABLE IF NOT EXISTS audit_events (at BIGINT NOT NULL, writer ${WORD}, seq BIGINT NOT NULL, audit_id ${WORD},
    stage ${WORD}, user_name ${NAME}, verb ${NAME}, resource ${NAME}, namespace ${NAME}, name ${NAME},
    code INT NOT NULL, line MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, PRIMARY KEY (at, writer, seq))`,
  insert: "INSERT IGNORE",
  deleteBefore: "DELETE FROM audit_events WHERE at < ? ORDER BY at LIMIT ?",
  // Columns of ASCII neither take other texts for a comparison, nor tell trailing spaces apart.
  text: "CAST(? AS BINARY)",
};

/**
 * A database of MySQL or MariaDB. The client is loaded on first use. After a failure the connection is unusable. `signal` cuts the connection,
 * whatever the server does, and all that waits for it fails.
 *
 * @throws the error of the network or the server.
 */
export async function openMysqlLines(endpoint: Extract<DataStoreEndpoint, { kind: "mysql" }>, signal?: AbortSignal): Promise<Sql> {
  const { host, port, user, password, database, tls } = endpoint;
  const { createConnection } = await import("mysql2/promise");
  // The client's own end waits for the server to close its side too.
  const socket = connect({ host, port, noDelay: true, keepAlive: true });
  const cut = () => void socket.destroy();
  signal?.addEventListener("abort", cut, { once: true });
  socket.once("close", () => signal?.removeEventListener("abort", cut));
  if (signal?.aborted) cut();
  const connection = await createConnection({
    stream: () => socket,
    ...{ host, port, user, password, database, charset: "utf8mb4", connectTimeout: CONNECT_MS },
    // The server may not request local files: what it sends is data only.
    ...{ multipleStatements: false, supportBigNumbers: true, flags: ["-LOCAL_FILES"] },
    ...(tls !== "off" && { ssl: { rejectUnauthorized: tls === "verified" } }),
  });
  // Callers that wait for an answer get the failure.
  connection.on("error", () => {});
  const ask = async (text: string, values: readonly (string | number)[]): Promise<unknown> => {
    try {
      const [result] = await connection.query({ sql: text, values: [...values], timeout: STATEMENT_MS });
      return result;
    } catch (error) {
      cut();
      throw error;
    }
  };
  // Values are escaped here, which an SQL mode of the server could break.
  await ask("SET SESSION sql_mode = 'STRICT_ALL_TABLES'", []);
  return {
    words: WORDS,
    all: async (text, values) => (await ask(text, values)) as Readonly<Record<string, unknown>>[],
    run: async (text, values) => Number(((await ask(text, values)) as { readonly affectedRows?: number }).affectedRows ?? 0),
    close: async () => cut(),
  };
}
