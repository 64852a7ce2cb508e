import * as fc from "fast-check";
import { expect, test } from "vitest";
import { EngineError } from "../../../src/base/errors.ts";
import { ENDPOINTS } from "../../../src/kube/object/resource.ts";
import { createInformer } from "../../../src/kube/runtime/informer/informer.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { FakeCluster, stateOf } from "./fake-cluster.ts";

const name = fc.constantFrom("a", "b", "c", "d");
const codes = ["API_UNAVAILABLE", "API_EXPIRED", "API_TOO_MANY_REQUESTS", "API_FORBIDDEN", "API_INVALID", "API_ERROR"] as const;
const error = fc.constantFrom(...codes).map((code) => new EngineError(code, "scripted"));

/** Events in a cluster and its followers. */
const happening = fc.oneof(
  { weight: 6, arbitrary: name.map((which) => (cluster: FakeCluster) => cluster.put(which)) },
  { weight: 3, arbitrary: name.map((which) => (cluster: FakeCluster) => cluster.remove(which)) },
  { weight: 1, arbitrary: name.map((which) => (cluster: FakeCluster) => cluster.remove(which, { silently: true })) },
  { weight: 2, arbitrary: error.map((one) => (cluster: FakeCluster) => cluster.breakWatches(one)) },
  { weight: 1, arbitrary: fc.constant((cluster: FakeCluster) => cluster.endWatches()) },
  { weight: 1, arbitrary: fc.constant((cluster: FakeCluster) => cluster.compact()) },
  { weight: 1, arbitrary: fc.constant((cluster: FakeCluster) => cluster.bookmark()) },
  { weight: 1, arbitrary: error.map((one) => (cluster: FakeCluster) => void cluster.listErrors.push(one)) },
  { weight: 1, arbitrary: error.map((one) => (cluster: FakeCluster) => void cluster.watchErrors.push(one)) },
  {
    weight: 1,
    arbitrary: fc
      .boolean()
      .map((down) => (cluster: FakeCluster) => void (cluster.down = down ? new EngineError("API_UNAVAILABLE", "down") : undefined)),
  },
  {
    weight: 2,
    // Any state that an object once had comes again, as a change or as an end.
    arbitrary: fc.tuple(name, fc.constantFrom("ADDED", "MODIFIED")).map(([which, type]) => (cluster: FakeCluster) => {
      const object = cluster.objects.get(which);
      if (object !== undefined) cluster.deliver({ type: type as "ADDED", object });
    }),
  },
);

const story = fc.array(fc.tuple(happening, fc.constantFrom(0, 0, 1, 300, 1_000, 20_000)), { maxLength: 40 });

test("whatever happened, the copy ends equal to the cluster, and no object ever went back in time", async () => {
  await fc.assert(
    fc.asyncProperty(
      story,
      fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 1, maxLength: 5 }),
      async (steps, fractions) => {
        const clock = createFakeClock();
        const cluster = new FakeCluster({ clock });
        let draws = 0;
        const chance = { fraction: () => fractions[draws++ % fractions.length]!, uuid: () => "", bytes: () => new Uint8Array() };
        const informer = createInformer({ client: cluster, resource: ENDPOINTS, clock, chance, pageSize: 2 });
        const heard = new Map<string, string | undefined>();
        const newestByName = new Map<string, number>();
        informer.onChange((key) => {
          const { uid, resourceVersion } = informer.get(key)?.metadata ?? {};
          if (resourceVersion === undefined) return void heard.set(key.name, undefined);
          expect(Number(resourceVersion)).toBeGreaterThan(newestByName.get(key.name) ?? 0);
          newestByName.set(key.name, Number(resourceVersion));
          heard.set(key.name, `${uid}@${resourceVersion}`);
        });
        cluster.put("a");
        informer.start();
        for (const [happen, ms] of steps) {
          happen(cluster);
          if (ms > 0) await clock.advance(ms);
        }
        cluster.down = undefined;
        // A lost deletion stays until the next periodic list, which is at most one watch late.
        await clock.advance(60 * 60_000);
        expect(stateOf(informer.list())).toEqual(cluster.state());
        expect(informer.current).toBe(true);
        // Listeners got everything: replaying their calls gives the cache.
        const told = Object.fromEntries([...heard].filter(([, state]) => state !== undefined));
        expect(told).toEqual(cluster.state());
        await informer.stop();
        expect({ watches: cluster.openWatches, timers: clock.pending }).toEqual({ watches: 0, timers: 0 });
      },
    ),
    { numRuns: 400 },
  );
});
