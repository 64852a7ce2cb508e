import { expect, test } from "vitest";
import { createLoopGuard } from "../../../../src/engine/sync/guards/loop-guard.ts";
import { createFakeClock } from "../../../support/fake-clock.ts";

const LIMITS = { restorations: 3, minutes: 10 };

test("an object is left alone after so many restorations, until its source changes", () => {
  const guard = createLoopGuard(createFakeClock(), LIMITS);
  for (let count = 0; count < 3; count += 1) {
    expect(guard.stoppedAt("endpoints|shop/web")).toBeUndefined();
    guard.restored("endpoints|shop/web", "v1");
  }
  expect(guard.stoppedAt("endpoints|shop/web")).toBe("v1");
  expect(guard.stoppedAt("endpoints|shop/other")).toBeUndefined();
  guard.restored("endpoints|shop/web", "v2");
  expect(guard.stoppedAt("endpoints|shop/web")).toBeUndefined();
});

test("a copy that was deleted so many times comes back evenly, until its source changes", async () => {
  const clock = createFakeClock();
  const guard = createLoopGuard(clock, LIMITS);
  const [id, other] = ["endpoints|shop/web", "endpoints|shop/other"];
  expect(guard.hasRecreated(id, "v1")).toBe(false);
  for (let count = 0; count < 3; count += 1) {
    expect(guard.recreationWaitMs(id, "v1")).toBe(0);
    guard.recreated(id, "v1");
  }
  expect(guard.recreationWaitMs(id, "v1")).toBe(200_000);
  expect([guard.recreationWaitMs(id, "v2"), guard.recreationWaitMs(other, "v1"), guard.stoppedAt(id)]).toEqual([0, 0, undefined]);
  await clock.advance(150_000);
  expect([guard.recreationWaitMs(id, "v1"), guard.hasRecreated(id, "v1"), guard.hasRecreated(id, "v2")]).toEqual([50_000, true, false]);
  await clock.advance(50_000);
  expect(guard.recreationWaitMs(id, "v1")).toBe(0);
  guard.recreated(id, "v1");
  expect(guard.recreationWaitMs(id, "v1")).toBe(200_000);
  await clock.advance(600_000);
  expect(guard.hasRecreated(id, "v1")).toBe(false);
});

test("restorations that are far apart are no fight", async () => {
  const clock = createFakeClock();
  const guard = createLoopGuard(clock, LIMITS);
  for (let count = 0; count < 5; count += 1) {
    guard.restored("endpoints|shop/web", "v1");
    await clock.advance(6 * 60_000);
  }
  expect(guard.stoppedAt("endpoints|shop/web")).toBeUndefined();
});
