/** The longest work of the syncer is done in pieces: on a clock that moves with each evaluation, none of them is long. */
import { expect, test } from "vitest";
import { silentLogger } from "../../src/base/logger.ts";
import { createMetrics } from "../../src/base/metrics.ts";
import type { ObjectSource } from "../../src/object/object-source.ts";
import { ENDPOINTS } from "../../src/object/resource.ts";
import type { KubeObject } from "../../src/object/types.ts";
import { compilePatches } from "../../src/patch/compile.ts";
import { createSyncLoop } from "../../src/sync/syncer.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { createPlainEngine } from "../support/plain-engine.ts";
import { testRules } from "../support/rules.ts";

const ADDRESSES = 1_000;

function cacheOf(...objects: readonly KubeObject[]): ObjectSource {
  const get: ObjectSource["get"] = ({ name, namespace }) =>
    objects.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
  return { get, list: () => objects, onChange: () => () => {}, synced: true, current: true };
}

test("an object with a thousand addresses is patched in many short pieces, once", async () => {
  let [nowMs, evaluations] = [0, 0];
  const plain = createPlainEngine();
  const engine = {
    ...plain,
    evaluate(...args: Parameters<typeof plain.evaluate>) {
      nowMs += 1;
      evaluations += 1;
      return plain.evaluate(...args);
    },
  };
  const addresses = Array.from({ length: ADDRESSES }, (_, index) => ({ ip: `10.0.${index >> 8}.${index & 255}` }));
  const metadata = { namespace: "shop", name: "web", uid: "uid-1", resourceVersion: "10" };
  const tenant = cacheOf({ apiVersion: "v1", kind: "Endpoints", metadata, subsets: [{ addresses }] });
  const patches = compilePatches([{ path: "subsets[*].addresses[*].ip", expression: "value.replace('10.0', '10.9')" }], { engine });
  const metrics = createMetrics();
  const created: KubeObject[] = [];
  const writer = {
    get: async () => undefined,
    create: async (_type: unknown, object: KubeObject) => {
      created.push(object);
      return { ...object, metadata: { ...object.metadata, uid: "uid-2", resourceVersion: "20" } };
    },
    update: async (_type: unknown, object: KubeObject) => object,
    delete: async () => "deleted" as const,
  };
  const costs: number[] = [];
  const loop = createSyncLoop({
    tenant: { source: (type) => (type === ENDPOINTS ? tenant : cacheOf()), writer },
    host: { source: () => cacheOf(), writer },
    rules: [{ ...testRules(), servicesEnabled: false, engine, patches }],
    loopGuard: { restorations: 5, minutes: 10 },
    clock: { ...createFakeClock(), monotonic: () => nowMs },
    logger: silentLogger,
    metrics,
    enqueue: () => {},
  });
  await loop.reconcile("endpoints|shop/web", { charge: (costMs) => costs.push(costMs) });
  expect(created.length).toBe(1);
  expect(evaluations).toBe(ADDRESSES);
  expect(metrics.value("endpoint_sync_long_pieces_total")).toBe(0);
  expect([Math.max(...costs) <= 10, costs.reduce((sum, cost) => sum + cost, 0)]).toEqual([true, ADDRESSES]);
  loop.close();
});
