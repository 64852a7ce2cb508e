import { expect, test } from "vitest";
import { silentLogger } from "../../../../src/base/logger.ts";
import { createMetrics } from "../../../../src/base/metrics.ts";
import { createWriteLimiter } from "../../../../src/engine/sync/guards/write-limiter.ts";
import { createFakeClock } from "../../../support/fake-clock.ts";

const ID = "endpoints|shop/web";

function begin() {
  const [clock, metrics] = [createFakeClock(), createMetrics()];
  const brake = createWriteLimiter({ clock, limits: { writes: 3, slowestMinutes: 1 }, logger: silentLogger, metrics });
  const braked = () => metrics.value("endpoint_sync_braked_objects");
  return { clock, brake, braked };
}

/** One write that the version pays for, and so many that it does not. */
function write(brake: ReturnType<typeof createWriteLimiter>, version: string, unasked: number): void {
  for (let count = 0; count <= unasked; count += 1) brake.wrote(ID, version);
}

test("each version of the source pays for one write, however many versions there are", () => {
  const { brake, braked } = begin();
  for (let version = 0; version < 1_000; version += 1) brake.wrote(ID, `v${version}`);
  expect([brake.restraint(ID, "v999"), braked()]).toEqual([{ writeWaitMs: 0, flowWaitMs: 0 }, 0]);
});

test("after a burst the waits double up to the longest", async () => {
  const { clock, brake, braked } = begin();
  write(brake, "v1", 2);
  expect(brake.restraint(ID, "v1").writeWaitMs).toBe(0);
  brake.wrote(ID, "v1");
  const waits: number[] = [];
  for (let count = 0; count < 9; count += 1) {
    const { writeWaitMs } = brake.restraint(ID, "v1");
    waits.push(writeWaitMs);
    brake.held(ID);
    await clock.advance(writeWaitMs);
    expect(brake.restraint(ID, "v1").writeWaitMs).toBe(0);
    brake.wrote(ID, "v1");
  }
  expect([waits, braked()]).toEqual([[1, 2, 4, 8, 16, 32, 60, 60, 60].map((seconds) => seconds * 1_000), 1]);
});

test("a slowed object says since when it is, and until when the next write waits", async () => {
  const { clock, brake } = begin();
  expect(brake.restraint(ID, "v1").slowed).toBeUndefined();
  write(brake, "v1", 3);
  const sinceMs = clock.now();
  expect(brake.restraint(ID, "v1").slowed).toEqual({ sinceMs, untilMs: sinceMs + 1_000 });
  await clock.advance(1_000);
  brake.wrote(ID, "v1");
  expect(brake.restraint(ID, "v1").slowed).toEqual({ sinceMs, untilMs: sinceMs + 3_000 });
});

test("a new version is written at once while the object is slowed, and pays for no more than that", () => {
  const { brake } = begin();
  write(brake, "v1", 5);
  expect(brake.restraint(ID, "v1").writeWaitMs).toBe(4_000);
  expect(brake.restraint(ID, "v2").writeWaitMs).toBe(0);
  brake.wrote(ID, "v2");
  expect(brake.restraint(ID, "v2").writeWaitMs).toBe(4_000);
});

test("writes to the source count, whatever version they make, and what they make asks for nothing", async () => {
  const { clock, brake } = begin();
  for (let version = 0; version < 6; version += 1) brake.flowed(ID, `v${version}`);
  expect(brake.restraint(ID, "v5")).toMatchObject({ writeWaitMs: 8_000, flowWaitMs: 8_000 });
  // A change by another writer is written at once; a host edit that is to flow with it waits a second.
  expect(brake.restraint(ID, "v6")).toMatchObject({ writeWaitMs: 0, flowWaitMs: 1_000 });
  await clock.advance(1_000);
  expect(brake.restraint(ID, "v6")).toMatchObject({ writeWaitMs: 0, flowWaitMs: 0 });
});

test("writes that are far apart are slowed by nothing", async () => {
  const { clock, brake, braked } = begin();
  for (let count = 0; count < 100; count += 1) {
    brake.flowed(ID, `v${count}`);
    await clock.advance(31_000);
  }
  expect([brake.restraint(ID, "v99"), braked()]).toEqual([{ writeWaitMs: 0, flowWaitMs: 0 }, 0]);
});

test("what rests is forgotten, and what still waits is not", async () => {
  const { clock, brake, braked } = begin();
  write(brake, "v1", 3);
  brake.wrote("endpoints|shop/other", "v1");
  expect([brake.remembered, brake.rests(ID), brake.rests("endpoints|shop/other")]).toEqual([2, 60_000, undefined]);
  brake.held(ID);
  await clock.advance(120_000);
  expect([brake.remembered, braked(), brake.restraint(ID, "v1").writeWaitMs]).toEqual([1, 1, 0]);
  expect(brake.rests(ID)).toBeUndefined();
  expect([brake.remembered, braked()]).toEqual([0, 0]);
});

test("a part that has nothing to write does not look again and again while a write of the other part waits", async () => {
  const { clock, brake } = begin();
  for (let count = 0; count < 4; count += 1) brake.wrote(ID, "v1", "made");
  brake.held(ID, "made");
  expect(brake.rests(ID)).toBe(60_000);
  await clock.advance(60_000);
  expect(brake.rests(ID)).toBeUndefined();
  brake.wrote(ID, "v1", "made");
  expect([brake.rests(ID), brake.rests(ID, "made")]).toEqual([60_000, 60_000]);
});
