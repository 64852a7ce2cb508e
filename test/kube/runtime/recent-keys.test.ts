import { expect, test } from "vitest";
import { RecentKeys } from "../../../src/kube/runtime/queue/recent-keys.ts";
import { createFakeClock } from "../../support/fake-clock.ts";

test("keys are recent for the time that was named, and given out once, oldest change first", async () => {
  const clock = createFakeClock();
  const recent = new RecentKeys({ clock, withinMs: 1_000 });
  recent.add("old");
  recent.add("a");
  await clock.advance(600);
  recent.add("b");
  recent.add("a");
  await clock.advance(500);
  expect(recent.take()).toEqual(["b", "a"]);
  expect(recent.take()).toEqual([]);
});

test("however many keys change, only those of the last moments are remembered", async () => {
  const clock = createFakeClock();
  const recent = new RecentKeys({ clock, withinMs: 1_000 });
  for (let second = 0; second < 50; second++) {
    for (let i = 0; i < 100; i++) recent.add(`${second}/${i}`);
    await clock.advance(1_000);
  }
  expect(recent.size).toBeLessThanOrEqual(200);
});
