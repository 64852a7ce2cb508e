/** Readiness follows the outcome of the store's writes. */
import { expect, test, vi } from "vitest";
import { createLineLogger } from "../../../src/base/logger.ts";
import { createServerReadiness, keepLooking } from "../../../src/management/api/readiness.ts";
import { alarmRaised } from "../../../src/apiserver/store/etcd/client/failure.ts";
import { writeFailure } from "../../../src/apiserver/store/sqlite/failures.ts";
import { createFakeClock, settle } from "../../support/fake-clock.ts";

/** A store whose writes end as `fate` says. */
function start() {
  const clock = createFakeClock();
  const lines: string[] = [];
  const logger = createLineLogger({ write: (line) => lines.push(line), now: () => 0, format: "text", level: "info" });
  const store = { fate: async (): Promise<void> => {}, asked: 0 };
  const relieve = vi.fn(async () => {});
  const demandWritable = () => {
    store.asked += 1;
    return store.fate();
  };
  return { clock, lines, store, relieve, notReady: createServerReadiness({ store: { demandWritable }, relieve, clock, logger }) };
}

const failing = (error: Error) => () => Promise.reject(error);
const full = Object.assign(new Error("database or disk is full"), { errcode: 13 });

test("says why writes fail, without paths, until they work again, and logs both", async () => {
  const { clock, lines, store, relieve, notReady } = start();
  expect(await notReady()).toBe(undefined);
  store.fate = failing(writeFailure("/secret/management.db", full));
  await clock.advance(1_000);
  expect(await notReady()).toBe("the disk is full");
  await clock.advance(1_000);
  expect(await notReady()).toBe("the disk is full");
  expect(lines.splice(0)).toEqual([expect.stringMatching(/Not ready .*the disk is full.*\/secret\/management\.db/)]);
  store.fate = async () => {};
  await clock.advance(1_000);
  expect(await notReady()).toBe(undefined);
  expect(lines).toEqual([expect.stringContaining("Ready again")]);
  expect(relieve).toHaveBeenCalledTimes(2);
});

test("has a store without room compacted at each check", async () => {
  const { clock, store, relieve, notReady } = start();
  for (const fate of [failing(alarmRaised("NOSPACE")), failing(alarmRaised("NOSPACE")), failing(alarmRaised("CORRUPT"))]) {
    store.fate = fate;
    expect(await notReady()).toContain("alarm");
    await clock.advance(1_000);
  }
  expect(relieve).toHaveBeenCalledTimes(2);
});

test("is checked without requests too, so that room is made repeatedly until there is some", async () => {
  const { clock, store, relieve, lines, notReady } = start();
  const end = keepLooking(notReady, clock);
  store.fate = failing(alarmRaised("NOSPACE"));
  for (let times = 1; times <= 2; times += 1) {
    await clock.advance(10_000);
    expect(relieve).toHaveBeenCalledTimes(times);
  }
  expect(lines).toEqual([expect.stringContaining("Not ready")]);
  end();
  await clock.advance(10_000);
  expect(relieve).toHaveBeenCalledTimes(2);
});

test("of a store that does not answer fails after three seconds, with the same answer for concurrent requests", async () => {
  const { clock, store, notReady } = start();
  store.fate = () => new Promise(() => {});
  const asking = Promise.all([notReady(), notReady()]);
  await settle();
  await clock.advance(3_000);
  expect(await asking).toEqual(Array(2).fill("the store does not respond"));
  expect([await notReady(), store.asked]).toEqual(["the store does not respond", 1]);
});
