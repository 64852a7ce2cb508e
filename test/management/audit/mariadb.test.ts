/**
 * Audit lines in MariaDB, where there is one on this machine.
 */
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { silentLogger, type LogFields } from "../../../src/base/logger.ts";
import { createMetrics } from "../../../src/base/metrics.ts";
import { createAuditLog } from "../../../src/management/audit/audit-log.ts";
import { openAuditDatabase, type Sql } from "../../../src/management/audit/store/audit-database.ts";
import {
  AUDIT_CLOSING_MS,
  AUDIT_GATHERING_MS,
  AUDIT_PENDING_LINES_MAX,
  createAuditStore,
} from "../../../src/management/audit/store/audit-store.ts";
import { openLines } from "../../../src/management/audit/store/open-lines.ts";
import { parseManagementConfig } from "../../../src/management/config/config.ts";
import { dataStoreEndpoint } from "../../../src/management/config/rules/data-store-endpoint.ts";
import { createFakeClock, settle, until } from "../../support/fake-clock.ts";
import { hasMariadb, startMariadb, type Mariadb } from "../../support/mariadb.ts";
import { WAIT } from "../../support/patience.ts";
import { describeDatabase } from "./store/database-contract.ts";
import { lookAt, rowOf } from "./store/rows.ts";

test.runIf(false).each(hasMariadb ? [] : ["mariadb-server"])("the package %s is not on this machine: nothing was tried", () => {});

describe.runIf(hasMariadb)("audit lines in MariaDB", { timeout: 120_000 }, () => {
  let mariadb: Mariadb;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "audit-mariadb-"));
    mariadb = await startMariadb();
  }, 120_000);
  afterAll(async () => {
    await mariadb.stop();
    rmSync(folder, { recursive: true });
  });

  const open = async () => {
    const endpoint = dataStoreEndpoint(mariadb.endpoint);
    if (endpoint?.kind !== "mysql") throw new Error("the address is one of MySQL");
    return openAuditDatabase(await openLines(endpoint));
  };
  const fresh = async () => void (await mariadb.run("DROP TABLE IF EXISTS audit.audit_events"));

  describeDatabase(open, fresh);

  test("values stay values where the server takes no backslashes for escapes", async () => {
    await mariadb.run("SET GLOBAL sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'");
    const database = await open();
    try {
      const found = await database.look({
        filter: { user: "\\' OR 1=1 -- " },
        before: { at: 9, writer: "~", seq: 9 },
        since: 0,
        scan: 10,
        most: 10,
      });
      expect(found.lines).toEqual([]);
    } finally {
      await database.close();
      await mariadb.run("SET GLOBAL sql_mode = DEFAULT");
    }
  });

  test("a wrong password is reported without being quoted", async () => {
    const endpoint = dataStoreEndpoint(mariadb.endpoint.replace("p%40%3A%2Fw", "hidden-word"));
    const failure = await openLines(endpoint as Parameters<typeof openLines>[0]).catch((error: unknown) => String(error));
    expect(failure).toContain("Access denied");
    expect(failure).not.toContain("hidden-word");
  });

  test("a server that stops answering in the middle holds the end for two seconds, and its connection is closed", async () => {
    await fresh();
    await (await open()).close();
    const [clock, told] = [createFakeClock(), [] as string[]];
    const tell = (message: string) => void told.push(message);
    const endpoint = dataStoreEndpoint(mariadb.endpoint) as Parameters<typeof openLines>[0];
    const store = createAuditStore({
      ...{ clock, random: () => 0, ttlHours: 0, logger: { debug() {}, info: tell, warn: tell, error: tell } },
      open: async (signal) => openAuditDatabase(await openLines(endpoint, { signal })),
    });
    const processes = async (state: string) =>
      Number(await mariadb.run(`SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ${state}`));
    // Others wait for the lock until its holder is ended.
    const lock = mariadb.run("LOCK TABLES audit.audit_events WRITE; SELECT SLEEP(3600)").catch(() => {});
    await vi.waitFor(async () => expect(await processes("INFO = 'SELECT SLEEP(3600)'")).toBe(1), WAIT);
    store.write(rowOf());
    await clock.advance(AUDIT_GATHERING_MS);
    await vi.waitFor(async () => expect(await processes("STATE LIKE 'Waiting for table%'")).toBe(1), WAIT);
    const closed = store.close();
    await settle();
    await clock.advance(AUDIT_CLOSING_MS);
    await closed;
    expect(told[0]).toContain("does not respond and is closed");
    const [id] = (await mariadb.run("SELECT ID FROM information_schema.PROCESSLIST WHERE INFO = 'SELECT SLEEP(3600)'")).split("\n");
    await mariadb.run(`KILL ${id}`);
    await lock;
    await vi.waitFor(async () => expect(await processes("USER != 'root' AND USER != 'system user'")).toBe(0), WAIT);
  });

  /** A store on MariaDB, with what it logs. */
  const storeOf = (address = mariadb.endpoint) => {
    const [clock, metrics, told] = [createFakeClock(), createMetrics(), [] as string[]];
    const tell = (message: string, fields: LogFields = {}) => void told.push(`${message} ${JSON.stringify(fields)}`);
    const endpoint = dataStoreEndpoint(address) as Parameters<typeof openLines>[0];
    let sql: Sql | undefined;
    const store = createAuditStore({
      ...{ clock, metrics, random: () => 0, ttlHours: 0, logger: { debug() {}, info: tell, warn: tell, error: tell } },
      open: async (signal) => openAuditDatabase((sql = await openLines(endpoint, { signal }))),
    });
    /** Lets the clock go on until something is so. */
    const pass = (done: () => boolean) =>
      vi.waitFor(async () => {
        await clock.advance(1_000);
        expect(done()).toBe(true);
      }, WAIT);
    const lost = () => metrics.value("apiserver_audit_error_total", { plugin: "database" });
    /** The server ends its connection, and the store has heard of it. */
    const disconnect = async () => {
      await mariadb.run("KILL USER audit");
      await until("the store knows that its connection has gone", () => sql?.usable() === false);
    };
    return { store, told, pass, lost, clock, disconnect };
  };
  const counted = async () => Number(await mariadb.run("SELECT COUNT(*) FROM audit.audit_events"));

  test("a database that is read-only is read, its lines wait, and none is lost", async () => {
    await fresh();
    const { store, told, pass, lost } = storeOf();
    store.write(rowOf({ seq: 1 }));
    await pass(() => store.pending === 0);
    await mariadb.run("SET GLOBAL read_only = 1");
    try {
      store.write(rowOf({ seq: 2 }));
      await pass(() => told.length === 1);
      expect(told[0]).toContain("read-only");
      expect((await store.look(lookAt())).lines).toHaveLength(1);
    } finally {
      await mariadb.run("SET GLOBAL read_only = 0");
    }
    await pass(() => store.pending === 0);
    await store.close();
    expect([await counted(), lost()]).toEqual([2, 0]);
  });

  test.each(["INSERT", "SELECT"])("without the right to %s the rest goes on, and with it again nothing is missing", async (right) => {
    await fresh();
    const { store, told, pass, lost, disconnect } = storeOf();
    store.write(rowOf({ seq: 1 }));
    await pass(() => store.pending === 0);
    const all = ["SELECT", "INSERT", "DELETE", "CREATE"];
    const users = ["'audit'@'127.0.0.1'", "'audit'@'localhost'"];
    const grant = (privileges: readonly string[]) =>
      mariadb.run(
        users.map((user) => `REVOKE ALL ON audit.* FROM ${user}; GRANT ${privileges.join(", ")} ON audit.* TO ${user}`).join("; "),
      );
    await grant(all.filter((one) => one !== right));
    // They count from the next connection on.
    await disconnect();
    try {
      store.write(rowOf({ seq: 2 }));
      if (right === "INSERT") {
        await pass(() => told.length === 1);
        expect(told[0]).toContain("command denied");
        expect((await store.look(lookAt())).lines).toHaveLength(1);
      } else {
        await pass(() => store.pending === 0);
        await expect(store.look(lookAt())).rejects.toThrow("denied");
        store.write(rowOf({ seq: 3 }));
        await pass(() => store.pending === 0);
        expect(told).toEqual([]);
      }
    } finally {
      await mariadb.run(users.map((user) => `GRANT ALL ON audit.* TO ${user}`).join("; "));
    }
    await pass(() => store.pending === 0);
    await store.close();
    expect([await counted(), lost(), told.join().includes("p@")]).toEqual([right === "INSERT" ? 2 : 3, 0, false]);
  });

  test("rows that the table would cut are counted and logged once, and the others are there whole", async () => {
    await fresh();
    await (await open()).close();
    await mariadb.run("ALTER TABLE audit.audit_events MODIFY line VARCHAR(100) CHARACTER SET utf8mb4 NOT NULL");
    const { store, told, pass, lost } = storeOf();
    for (let seq = 0; seq < 100; seq++) store.write(rowOf({ seq, ...(seq % 25 === 7 && { line: JSON.stringify("x".repeat(200)) }) }));
    await pass(() => store.pending === 0);
    expect([await counted(), lost()]).toEqual([96, 4]);
    expect(told).toEqual([
      expect.stringMatching(/^The audit database rejects lines; the audit file contains them .*Data too long for column 'line'/),
    ]);
    await store.close();
  });

  test("a table that was dropped is made again, also where lines are only read", async () => {
    await fresh();
    const { store, pass, lost } = storeOf();
    store.write(rowOf({ seq: 1 }));
    await pass(() => store.pending === 0);
    await fresh();
    await expect(store.look(lookAt())).rejects.toThrow("doesn't exist");
    expect((await store.look(lookAt())).lines).toEqual([]);
    await fresh();
    store.write(rowOf({ seq: 2 }));
    await pass(() => store.pending === 0);
    await store.close();
    expect([await counted(), lost()]).toEqual([1, 0]);
  });

  test("a connection that the server has ended while it was idle is no failure", async () => {
    await fresh();
    const { store, told, pass, lost, disconnect } = storeOf();
    store.write(rowOf({ seq: 1 }));
    await pass(() => store.pending === 0);
    await disconnect();
    store.write(rowOf({ seq: 2 }));
    await pass(() => store.pending === 0);
    await store.close();
    expect([await counted(), lost(), told]).toEqual([2, 0, []]);
  });

  test("a table that is full keeps its lines waiting, and with room again each line is there once", async () => {
    await fresh();
    await (await open()).close();
    // Rows of this engine are found by numbers of two bytes.
    await mariadb.run("ALTER TABLE audit.audit_events ENGINE=MyISAM MAX_ROWS=100 AVG_ROW_LENGTH=100");
    const { store, told, pass, lost } = storeOf();
    for (let seq = 0; seq < 1_000; seq++) store.write(rowOf({ seq, line: JSON.stringify("x".repeat(200)) }));
    await pass(() => told.length > 0);
    expect(told).toEqual([
      expect.stringMatching(/^The audit database cannot be used; its lines are queued .*The table 'audit_events' is full/),
    ]);
    expect(store.pending).toBeGreaterThan(500);
    await mariadb.run("ALTER TABLE audit.audit_events ENGINE=InnoDB MAX_ROWS=0");
    await pass(() => store.pending === 0);
    await store.close();
    expect([await counted(), lost(), told.slice(1)]).toEqual([1_000, 0, ['The audit database accepts lines again {"lost":0}']]);
  });

  test("while it is gone for a minute lines wait, and those that find no room are counted and logged once", async () => {
    await fresh();
    const { store, told, pass, lost, clock } = storeOf();
    store.write(rowOf({ seq: 0, writer: "before" }));
    await pass(() => store.pending === 0);
    await mariadb.kill();
    for (let second = 0; second < 60; second++) {
      for (let one = 0; one < 500; one++) store.write(rowOf({ seq: second * 500 + one }));
      if (second === 0) await pass(() => told.length > 0);
      await clock.advance(1_000);
    }
    expect([store.pending, lost()]).toEqual([AUDIT_PENDING_LINES_MAX, 30_000 - AUDIT_PENDING_LINES_MAX]);
    await mariadb.start();
    await pass(() => store.pending === 0);
    await store.close();
    expect(await counted()).toBe(1 + AUDIT_PENDING_LINES_MAX);
    expect(told.map((text) => text.replace(/ \{.*/, ""))).toEqual([
      "The audit database cannot be used; its lines are queued",
      "Audit lines are missing from the database, which is too slow or unavailable; the audit file contains them",
      "The audit database accepts lines again",
    ]);
    expect(told[2]).toContain(`"lost":${30_000 - AUDIT_PENDING_LINES_MAX}`);
  });

  test("lines that wait at the end are written before it", async () => {
    await fresh();
    const { store, told, lost } = storeOf();
    for (let seq = 0; seq < 1_000; seq++) store.write(rowOf({ seq }));
    await store.close();
    expect([await counted(), lost(), told]).toEqual([1_000, 0, []]);
  });

  test("while it is slow its callers do not wait, and no line is lost", async () => {
    await fresh();
    await (await open()).close();
    const { store, told, pass, lost } = storeOf();
    const waiting = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE LIKE 'Waiting for table%'";
    const lock = mariadb.run("LOCK TABLES audit.audit_events WRITE; SELECT SLEEP(3600)").catch(() => {});
    const holder = "SELECT ID FROM information_schema.PROCESSLIST WHERE INFO = 'SELECT SLEEP(3600)'";
    await vi.waitFor(async () => expect(await mariadb.run(holder)).not.toBe(""), WAIT);
    for (let seq = 0; seq < 5_000; seq++) store.write(rowOf({ seq }));
    await vi.waitFor(async () => expect(await mariadb.run(waiting)).toBe("1\n"), WAIT);
    expect([store.pending, lost()]).toEqual([5_000, 0]);
    await mariadb.run(`KILL ${(await mariadb.run(holder)).trim()}`);
    await lock;
    await pass(() => store.pending === 0);
    await store.close();
    expect([await counted(), lost(), told]).toEqual([5_000, 0, []]);
  });

  test("a thread that fails while nothing waits for it is logged with the next line, and no line is lost", async () => {
    await fresh();
    const sockets: Socket[] = [];
    const { port } = new URL(mariadb.endpoint);
    const between = createServer((socket) => {
      sockets.push(socket);
      const inner = connect(Number(port), "127.0.0.1");
      inner.on("error", () => {}).on("close", () => socket.destroy());
      socket.on("error", () => {}).on("close", () => inner.destroy());
      socket.pipe(inner).pipe(socket);
    });
    between.listen(0, "127.0.0.1");
    await once(between, "listening");
    const ends: Promise<unknown>[] = [];
    const note = (worker: Worker) => void ends.push(new Promise((resolve) => worker.once("exit", resolve)));
    process.on("worker", note);
    try {
      const { store, told, pass, lost } = storeOf(mariadb.endpoint.replace(port, String((between.address() as AddressInfo).port)));
      store.write(rowOf({ seq: 1 }));
      await pass(() => store.pending === 0);
      // Half an error, which the client cannot read.
      sockets[0]!.write(Buffer.from([2, 0, 0, 0, 255, 1]));
      await ends[0];
      store.write(rowOf({ seq: 2 }));
      await pass(() => store.pending === 0);
      await store.close();
      expect([await counted(), lost()]).toEqual([2, 0]);
      expect(told).toEqual([
        expect.stringMatching(/^The audit database cannot be used; its lines are queued .*the thread of the database has failed: /),
        'The audit database accepts lines again {"lost":0}',
      ]);
    } finally {
      process.off("worker", note);
      between.close();
    }
  });

  test("long lines pass where a packet has at most 1 MiB", async () => {
    await fresh();
    await mariadb.run("SET GLOBAL max_allowed_packet = 1048576");
    try {
      const { store, told, pass } = storeOf();
      const line = JSON.stringify(`'"\\`.repeat(60_000)).slice(0, 250_000);
      for (let seq = 0; seq < 12; seq++) store.write(rowOf({ seq, line }));
      await pass(() => store.pending === 0);
      await store.close();
      expect([await counted(), told]).toEqual([12, []]);
    } finally {
      await mariadb.run("SET GLOBAL max_allowed_packet = DEFAULT");
    }
  });

  test("100,000 lines reach it, some wait while the server is killed and started again, and each is there once", async () => {
    await fresh();
    const metrics = createMetrics();
    const log = createAuditLog({ clock: systemClock, logger: silentLogger, metrics });
    const parsed = parseManagementConfig(
      JSON.stringify({ audit: { enabled: true, path: join(folder, "audit.log"), level: 2, dataStoreEndpoint: mariadb.endpoint } }),
    );
    if (!parsed.ok) throw new Error("the configuration is good");
    await log.configure(parsed.config.audit);
    const leave = (from: number, count: number) => {
      for (let index = from; index < from + count; index++) {
        const attributes = {
          verb: "list",
          group: "management.platform",
          version: "v1",
          resource: "teams",
          subresource: "",
          namespace: "",
          name: `t${index}`,
        };
        const request = {
          auditID: `id-${index}`,
          method: "GET",
          requestURI: "/",
          sourceIPs: [],
          userAgent: "",
          receivedAt: Date.UTC(2026, 5, 1),
        };
        log.audit({ ...request, attributes })!.complete(200);
      }
    };
    const pending = () => (metrics.text(), metrics.value("management_audit_pending_lines"));
    for (let from = 0; from < 100_000; from += 10_000) {
      leave(from, 5_000);
      if (from === 50_000) await mariadb.kill();
      leave(from + 5_000, 5_000);
      if (from === 50_000) await mariadb.start();
      await until("what waited is there", () => pending() === 0, 60_000);
    }
    await log.stop();
    const [counted] = (await mariadb.run("SELECT COUNT(*), COUNT(DISTINCT audit_id) FROM audit.audit_events")).split("\n");
    expect(readFileSync(join(folder, "audit.log"), "utf8").split("\n")).toHaveLength(100_001);
    expect(counted).toBe("100000\t100000");
    expect(metrics.value("apiserver_audit_error_total", { plugin: "database" })).toBe(0);
  });
});
