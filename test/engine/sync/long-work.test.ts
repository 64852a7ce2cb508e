/** The longest work of the syncer is done in pieces: on a clock that moves with each evaluation, none of them is long. */
import { describe, expect, test } from "vitest";
import { silentLogger } from "../../../src/base/logger.ts";
import { createMetrics } from "../../../src/base/metrics.ts";
import type { PatchDefinition } from "../../../src/engine/patch/patch-definition.ts";
import { ENDPOINTS, type ResourceType } from "../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { compilePatches } from "../../../src/engine/patch/compile.ts";
import { createSyncLoop } from "../../../src/engine/sync/syncer.ts";
import { createCacheByHand, EMPTY_CACHE } from "../../support/cache-by-hand.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { createPlainEngine } from "../../support/plain-engine.ts";
import { testRules } from "../../support/rules.ts";

const ADDRESSES = 300;

/** Outcome of one object, on a clock that moves by a millisecond with each evaluation. */
async function reconcile(patches: readonly PatchDefinition[], tenant: KubeObject, host?: KubeObject) {
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
  const written: KubeObject[] = [];
  const write = (_type: unknown, object: KubeObject) => {
    written.push(object);
    return Promise.resolve({ ...object, metadata: { uid: "uid-2", ...object.metadata, resourceVersion: "20" } });
  };
  const writer = { get: async () => undefined, create: write, update: write, delete: async () => "deleted" as const };
  const side = (object?: KubeObject) => ({
    source: (type: ResourceType) => (type === ENDPOINTS && object !== undefined ? createCacheByHand(object).source : EMPTY_CACHE),
    writer,
  });
  const costs: number[] = [];
  const metrics = createMetrics();
  const loop = createSyncLoop({
    tenant: side(tenant),
    host: side(host),
    rules: [{ ...testRules(), servicesEnabled: false, engine, patches: compilePatches(patches, { engine }) }],
    loopGuard: { restorations: 5, minutes: 10 },
    clock: { ...createFakeClock(), monotonic: () => nowMs },
    logger: silentLogger,
    metrics,
    enqueue: () => {},
  });
  await loop.reconcile("endpoints|shop/web", { charge: (costMs) => costs.push(costMs) });
  expect(metrics.value("endpoint_sync_long_pieces_total")).toBe(0);
  loop.close();
  return { written, evaluations, longestMs: Math.max(...costs), totalMs: costs.reduce((sum, cost) => sum + cost, 0) };
}

function tenantObject(): KubeObject {
  const addresses = Array.from({ length: ADDRESSES }, (_, index) => ({ ip: `10.0.${index >> 8}.${index & 255}` }));
  const metadata = { namespace: "shop", name: "web", uid: "uid-1", resourceVersion: "10" };
  return { apiVersion: "v1", kind: "Endpoints", metadata, subsets: [{ addresses }] };
}

const IPS: PatchDefinition = {
  path: "subsets[*].addresses[*].ip",
  expression: "value.replace('10.0', '10.9')",
  reverseExpression: "value.replace('10.9', '10.0')",
};

describe("an object with hundreds of addresses is patched in many short pieces", () => {
  test("on the way to the host, once", async () => {
    const { written, evaluations, longestMs, totalMs } = await reconcile([IPS], tenantObject());
    expect(written.length).toBe(1);
    expect([evaluations, totalMs]).toEqual([ADDRESSES, ADDRESSES]);
    expect(longestMs).toBeLessThanOrEqual(10);
  });

  test("where it refers to others as well", async () => {
    const reference: PatchDefinition = { path: "metadata.annotations['secret']", reference: { apiVersion: "v1", kind: "Secret" } };
    const { written, longestMs } = await reconcile([reference, IPS], tenantObject());
    expect(written.length).toBe(1);
    expect(longestMs).toBeLessThanOrEqual(10);
  });

  test("on the way back, and for the proof that it leads to the host again", async () => {
    const tenant = tenantObject();
    const { written } = await reconcile([IPS], tenant);
    const copy = structuredClone(written[0]!) as KubeObject & { subsets: { addresses: { ip: string }[] }[] };
    copy.subsets[0]!.addresses[0]!.ip = "10.9.77.7";
    const back = await reconcile([IPS], tenant, copy);
    expect(back.written[0]).toMatchObject({ metadata: { name: "web" } });
    expect(JSON.stringify(back.written[0])).toContain("10.0.77.7");
    expect(back.evaluations).toBeGreaterThanOrEqual(3 * ADDRESSES);
    expect(back.longestMs).toBeLessThanOrEqual(10);
  });
});
