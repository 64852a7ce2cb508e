/**
 * A MySQL server that accepts connections and says nothing, or nothing more: the end of the store does not wait for it.
 */
import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { LogFields } from "../../../../src/base/logger.ts";
import { createMetrics } from "../../../../src/base/metrics.ts";
import { openAuditDatabase } from "../../../../src/management/audit/store/audit-database.ts";
import { AUDIT_CLOSING_MS, createAuditStore } from "../../../../src/management/audit/store/audit-store.ts";
import { openLines } from "../../../../src/management/audit/store/open-lines.ts";
import { dataStoreEndpoint } from "../../../../src/management/config/rules/data-store-endpoint.ts";
import { createFakeClock, settle, until } from "../../../support/fake-clock.ts";
import { lookAt, rowOf } from "./rows.ts";

let server: Server;
let sockets: Set<Socket>;
let told: string[];
beforeEach(async () => {
  [sockets, told] = [new Set(), []];
  server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    // It keeps its side open when the other one only ends, and notices when that has gone.
    const knock = () => {
      if (!socket.destroyed) socket.write("x", () => setTimeout(knock, 1));
    };
    socket
      .resume()
      .on("error", () => {})
      .on("end", knock);
    socket.on("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  server.close();
  await once(server, "close");
});

function setting() {
  const [clock, metrics] = [createFakeClock(), createMetrics()];
  const tell = (message: string, fields: LogFields = {}) => void told.push(`${message} ${JSON.stringify(fields)}`);
  const endpoint = dataStoreEndpoint(`mysql://user:hidden@127.0.0.1:${(server.address() as AddressInfo).port}/audit`);
  if (endpoint?.kind !== "mysql") throw new Error("the address is one of MySQL");
  const store = createAuditStore({
    ...{ clock, metrics, random: () => 0, ttlHours: 0, logger: { debug() {}, info: tell, warn: tell, error: tell } },
    open: async (signal) => openAuditDatabase(await openLines(endpoint, { signal })),
  });
  return { clock, metrics, store };
}

test("its end comes after two seconds, is logged, and leaves no connection", async () => {
  const { clock, metrics, store } = setting();
  store.write(rowOf());
  const reading = store.look(lookAt()).catch((error: unknown) => String(error));
  await until("the store is connected", () => sockets.size === 1);
  let closed = false;
  const closing = store.close().then(() => (closed = true));
  await settle();
  await clock.advance(AUDIT_CLOSING_MS - 1);
  expect([closed, told]).toEqual([false, []]);
  await clock.advance(1);
  await closing;
  expect(told).toEqual([
    'The audit database does not respond and is closed; the audit file contains the missing lines {"seconds":2,"lines":1}',
    "Audit lines are missing from the database, which is too slow or unavailable; the audit file contains them {}",
  ]);
  expect(metrics.value("apiserver_audit_error_total", { plugin: "database" })).toBe(1);
  expect(await reading).toContain("the database is closed");
  await until("the connection is closed", () => sockets.size === 0);
  expect([told.length, clock.pending]).toEqual([2, 0]);
});
