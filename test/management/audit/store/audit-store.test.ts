/**
 * The queue before the database: what waits, what is lost to it, and when it is tried again.
 */
import { describe, expect, test } from "vitest";
import { createMetrics } from "../../../../src/base/metrics.ts";
import type { Logger } from "../../../../src/base/logger.ts";
import { AUDIT_GATHERING_MS, createAuditStore, type AuditStoreOptions } from "../../../../src/management/audit/store/audit-store.ts";
import { createFakeClock, settle } from "../../../support/fake-clock.ts";
import { createTestDatabase, lookAt, rowOf } from "./rows.ts";

const LOST = { plugin: "database" };

function setting(more: Partial<AuditStoreOptions> = {}) {
  const [clock, metrics, database] = [createFakeClock(), createMetrics(), createTestDatabase()];
  const told: string[] = [];
  const tell = (message: string) => void told.push(message);
  const logger = { debug: () => {}, info: tell, warn: tell, error: tell } as unknown as Logger;
  const parts = { clock, metrics, logger, random: () => 0, ttlHours: 0 };
  const store = createAuditStore({ ...parts, open: () => database.open(), ...more });
  const write = (count: number, from = 0) => {
    for (let index = 0; index < count; index++) store.write(rowOf({ seq: from + index, at: clock.now() }));
  };
  /** Lets lines gather until something is so. */
  const until = async (what: string, done: () => boolean) => {
    for (let waits = 0; !done(); waits++) {
      if (waits === 1_000) throw new Error(`Still not so: ${what}`);
      await clock.advance(AUDIT_GATHERING_MS);
      await settle();
    }
  };
  const lost = () => metrics.value("apiserver_audit_error_total", LOST);
  return { clock, metrics, database, told, store, write, lost, until };
}

describe("lines for the database", () => {
  test("are written together, in order, 256 at a time", async () => {
    const { store, write, database, lost, until } = setting();
    write(1_000);
    await until("all are there", () => database.rows.size === 1_000);
    expect([...database.rows.values()].map(({ seq }) => seq)).toEqual([...Array(1_000).keys()]);
    expect(database.batches).toEqual([256, 256, 256, 232]);
    expect([lost(), (await store.look(lookAt())).lines.length]).toEqual([0, 1_000]);
    await store.close();
  });

  test("wait while it is gone for a minute, and none is lost", async () => {
    const { store, write, database, clock, told, lost, until } = setting();
    database.failure = "connect ECONNREFUSED";
    for (let second = 0; second < 60; second++) {
      write(100, second * 100);
      await clock.advance(1_000);
    }
    expect([database.rows.size, lost(), store.pending]).toEqual([0, 0, 6_000]);
    const tries = database.opened;
    expect(tries).toBeLessThan(12);
    database.failure = undefined;
    await clock.advance(30_000);
    await until("all are there", () => database.rows.size === 6_000);
    expect(told).toEqual(["The audit database cannot be used; its lines are queued", "The audit database accepts lines again"]);
    await store.close();
    expect(lost()).toBe(0);
  });

  test("that find no room are counted and logged once, until it takes lines again", async () => {
    const { store, write, database, clock, told, lost, until } = setting({ pendingLinesMax: 500 });
    database.failure = "disk full";
    write(800);
    await clock.advance(1_000);
    write(100, 800);
    expect([lost(), told.filter((message) => message.includes("missing"))]).toEqual([
      400,
      ["Audit lines are missing from the database, which is too slow or unavailable; the audit file contains them"],
    ]);
    database.failure = undefined;
    await clock.advance(30_000);
    await until("what waited is there", () => database.rows.size === 500);
    write(10, 2_000);
    await until("new ones as well", () => database.rows.size === 510);
    expect(told.at(-1)).toBe("The audit database accepts lines again");
    database.failure = "disk full";
    await store.close();
    expect(lost()).toBe(400);
  });

  test("take no more room than the limit of characters", async () => {
    const { store, database, lost } = setting();
    database.failure = "gone";
    const line = "x".repeat(1_048_576);
    for (let seq = 0; seq < 40; seq++) store.write(rowOf({ seq, line }));
    expect(lost()).toBe(8);
    await store.close();
    expect(lost()).toBe(40);
  });

  test("do not make a slow database a queue without an end, and callers do not wait", async () => {
    const { store, write, database, lost, until } = setting({ pendingLinesMax: 1_000 });
    let open = () => {};
    database.gate = new Promise((resolve) => (open = resolve));
    write(1_000);
    await settle();
    write(500, 1_000);
    expect([database.rows.size, lost()]).toEqual([0, 500]);
    open();
    await until("what waited is there", () => database.rows.size === 1_000);
    await store.close();
  });

  test("go in smaller portions after a failure, and in larger ones again", async () => {
    const { store, write, database, clock, until } = setting();
    database.failure = "packet too large";
    write(400);
    await clock.advance(2_000);
    database.failure = undefined;
    await clock.advance(30_000);
    await until("all are there", () => database.rows.size === 400);
    expect(database.batches[0]).toBeLessThan(256);
    expect(database.batches[1]).toBeGreaterThan(database.batches[0]!);
    await store.close();
  });

  test("are written before the end, or counted as lost when that takes too long", async () => {
    const good = setting();
    good.write(300);
    await good.store.close();
    expect([good.database.rows.size, good.lost()]).toEqual([300, 0]);
    const stuck = setting();
    stuck.database.gate = new Promise(() => {});
    stuck.write(300);
    const closed = stuck.store.close();
    await settle();
    await stuck.clock.advance(2_000);
    await closed;
    expect(stuck.told[0]).toBe("The audit database does not respond and is closed; the audit file contains the missing lines");
    expect([stuck.database.rows.size, stuck.lost()]).toEqual([0, 300]);
    stuck.write(1);
    expect(stuck.lost()).toBe(301);
  });
});

describe("old lines", () => {
  test("are deleted each hour in small portions, and never without an age", async () => {
    const { store, write, database, clock, until } = setting({ ttlHours: 2 });
    write(2_500);
    await until("all are there", () => database.rows.size === 2_500);
    await clock.advance(3_600_000);
    expect(database.rows.size).toBe(2_500);
    write(5, 5_000);
    await clock.advance(2 * 3_600_000);
    await until("the old ones are gone", () => database.rows.size === 5);
    store.keep(0);
    await clock.advance(10 * 3_600_000);
    expect(database.rows.size).toBe(5);
    store.keep(1);
    await until("another age acts at once", () => database.rows.size === 0);
    await store.close();
    expect(clock.pending).toBe(0);
  });

  test("that cannot be deleted are logged, and tried again", async () => {
    const { store, write, database, clock, told, until } = setting({ ttlHours: 1 });
    write(5);
    await until("all are there", () => database.rows.size === 5);
    database.failure = "gone";
    await clock.advance(2 * 3_600_000);
    expect([database.rows.size, told.at(-1)]).toEqual([5, "Cannot delete old audit lines from the database"]);
    database.failure = undefined;
    await clock.advance(3_600_000);
    await until("the old ones are gone", () => database.rows.size === 0);
    await store.close();
  });
});
