/** Unchanged objects cost nothing: neither copies nor evaluations. */
import { describe, expect, test } from "vitest";
import { silentLogger } from "../../../src/base/logger.ts";
import { noMetrics } from "../../../src/base/metrics.ts";
import { createEmbeddedCluster } from "../../../src/cluster/cluster.ts";
import type { PatchDefinition } from "../../../src/engine/patch/patch-definition.ts";
import { ENDPOINTS, NAMESPACES, type ResourceType } from "../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { compilePatches } from "../../../src/engine/patch/compile.ts";
import type { PatchEngine } from "../../../src/engine/patch/types.ts";
import { toHost } from "../../../src/engine/reconcile/convert/to-host.ts";
import { createSyncLoop } from "../../../src/engine/sync/syncer.ts";
import { createCacheByHand, EMPTY_CACHE } from "../../support/cache-by-hand.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { createPlainEngine } from "../../support/plain-engine.ts";
import { tenantEndpoints, testRules } from "../../support/rules.ts";
import { objectWith, run } from "./setting.ts";

const IPS: PatchDefinition = { path: "subsets[*].addresses[*].ip", expression: "value.replace('10.0.0.1', '10.0.0.9')" };
const TEAM: PatchDefinition = { path: "metadata.annotations.team", expression: "value + '-blue'" };
const NOTHING: PatchDefinition = { path: "metadata.annotations.team", expression: "value" };

/** The plain engine, with the number of its evaluations. */
function countingEngine() {
  const engine = createPlainEngine();
  const counting = {
    evaluations: 0,
    compile: (text: string) => engine.compile(text),
    evaluate(...args: Parameters<PatchEngine["evaluate"]>) {
      counting.evaluations += 1;
      return engine.evaluate(...args);
    },
  };
  return counting;
}

function web() {
  const subsets = [{ addresses: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }], ports: [{ port: 80 }] }];
  return objectWith({ metadata: { labels: { app: "web" }, annotations: { team: "shop" } }, subsets });
}

type Subsets = { addresses: unknown[]; ports: unknown }[];
const subsetsOf = (object: KubeObject) => object["subsets"] as Subsets;

describe("patches of one object", () => {
  test("share all that they do not change", () => {
    const before = web();
    const { object } = run([TEAM], before);
    expect(object).not.toBe(before);
    expect(object["subsets"]).toBe(before["subsets"]);
    expect(object.metadata.annotations).toEqual({ team: "shop-blue" });
  });

  test("copy one address and share the others", () => {
    const before = web();
    const { object } = run([NOTHING, IPS], before);
    const [subset, was] = [subsetsOf(object)[0]!, subsetsOf(before)[0]!];
    expect(subset.addresses).toEqual([{ ip: "10.0.0.9" }, { ip: "10.0.0.2" }]);
    expect(subset.addresses[1]).toBe(was.addresses[1]);
    expect(subset.ports).toBe(was.ports);
  });

  test("evaluate each match once, and give the very object back when no answer is a change", () => {
    const engine = countingEngine();
    const before = web();
    const same = [NOTHING, { ...IPS, expression: "value" }, { path: "metadata.labels", expression: "({...value})" }];
    expect(run(same, before, { engine }).object).toBe(before);
    expect(engine.evaluations).toBe(4);
  });

  test("evaluate nothing where nothing matches", () => {
    const engine = countingEngine();
    const before = web();
    expect(run([{ path: "spec.hosts[*]", expression: "value" }], before, { engine }).object).toBe(before);
    expect(engine.evaluations).toBe(0);
  });
});

test("what goes to the host shares the subsets of the tenant object that no patch changes", () => {
  const tenant = tenantEndpoints({ annotations: { team: "shop" } });
  const hostKey = { namespace: "vc", name: "web-x-shop-x-blue" };
  const { object } = toHost(testRules({ patches: [TEAM] }), { tenant, host: undefined, hostKey });
  expect(object.metadata.annotations?.["team"]).toBe("shop-blue");
  expect(subsetsOf(object)[0]!.addresses[0]).toBe(tenant.subsets![0]!.addresses![0]);
});

/** A cache of Endpoints that holds what it is given. */
function cacheOf() {
  const { source, set: put } = createCacheByHand();
  return { put, source: (type: ResourceType) => (type === ENDPOINTS ? source : EMPTY_CACHE) };
}

test("a reconcile whose inputs did not change evaluates nothing, one whose inputs changed does", async () => {
  const engine = countingEngine();
  const [tenant, host] = await Promise.all([createEmbeddedCluster(), createEmbeddedCluster()]);
  await tenant.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await host.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "vc" } });
  const caches = { tenant: cacheOf(), host: cacheOf() };
  const [key, hostKey] = [
    { namespace: "shop", name: "web" },
    { namespace: "vc", name: "web-x-shop-x-blue" },
  ];
  const loop = createSyncLoop({
    tenant: { ...caches.tenant, writer: tenant.client },
    host: { ...caches.host, writer: host.client },
    rules: [{ ...testRules(), servicesEnabled: false, engine, patches: compilePatches([TEAM, IPS], { engine }) }],
    loopGuard: { restorations: 5, minutes: 10 },
    clock: createFakeClock(),
    logger: silentLogger,
    metrics: noMetrics,
    enqueue: () => {},
  });
  const reconcile = async () => {
    const before = engine.evaluations;
    for (const [cluster, cache, at] of [[tenant, caches.tenant, key] as const, [host, caches.host, hostKey] as const]) {
      const object = await cluster.client.get(ENDPOINTS, at);
      if (object !== undefined) cache.put(at, object);
    }
    await loop.reconcile("endpoints|shop/web");
    return engine.evaluations - before;
  };

  await tenant.client.create(ENDPOINTS, { ...tenantEndpoints(), metadata: { ...key, annotations: { team: "shop" } } });
  expect(await reconcile()).toBeGreaterThan(0);
  // The first look at what was written proves that nothing is left to do.
  await reconcile();
  for (let round = 0; round < 3; round += 1) expect(await reconcile()).toBe(0);
  await tenant.client.patch(ENDPOINTS, key, "merge", { metadata: { annotations: { team: "ops" } } });
  expect(await reconcile()).toBeGreaterThan(0);
  expect((await host.client.get(ENDPOINTS, hostKey))?.metadata.annotations?.["team"]).toBe("ops-blue");
  loop.close();
  await Promise.all([tenant.stop(), host.stop()]);
});
