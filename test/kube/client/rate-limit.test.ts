import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createRateLimit } from "../../../src/kube/client/transport/rate-limit.ts";
import { createFakeClock } from "../../support/fake-clock.ts";

test("lets a burst through and then one after the other", async () => {
  const clock = createFakeClock();
  const take = createRateLimit({ perSecond: 10, burst: 3 }, clock);
  expect([take(), take(), take(), take(), take()]).toEqual([0, 0, 0, 100, 200]);
  await clock.advance(200);
  expect(take()).toBe(100);
  await clock.advance(10_000);
  expect([take(), take(), take(), take()]).toEqual([0, 0, 0, 100]);
});

test("never lets more through in any time than the burst and the rate allow", async () => {
  const steps = fc.array(fc.integer({ min: 0, max: 500 }), { minLength: 1, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(steps, fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 10 }), async (pauses, perSecond, burst) => {
      let now = 0;
      const take = createRateLimit({ perSecond, burst }, { now: () => now, monotonic: () => now, schedule: () => ({ cancel() {} }) });
      const at: number[] = [];
      for (const pauseMs of pauses) {
        now += pauseMs;
        at.push(now + take());
      }
      for (const [first, start] of at.entries()) {
        for (const [last, end] of at.entries()) {
          if (last < first) continue;
          expect(last - first + 1).toBeLessThanOrEqual(burst + ((end - start) * perSecond) / 1000 + 1e-6);
        }
      }
      expect(at).toEqual(at.toSorted((left, right) => left - right));
    }),
    { numRuns: 200 },
  );
});
