import { afterEach, beforeEach, expect, test } from "vitest";
import { createEmbeddedCluster, type EmbeddedCluster } from "../../../src/cluster/cluster.ts";
import { resolveConfig } from "../../../src/engine/config/config.ts";
import { createEngine, type Engine } from "../../../src/engine/engine.ts";
import { ENDPOINTS } from "../../../src/kube/object/resource.ts";
import { createInformedAccess, type InformedAccess } from "../../../src/engine/sync/cluster/informed-access.ts";
import { createReconciler } from "../../../src/engine/sync/reconciler.ts";
import { until } from "../../support/fake-clock.ts";
import { useTwoClusters } from "./two-clusters.ts";

const ID = "endpoints|shop/web";
const COPY = { namespace: "vc", name: "web-x-shop-x-blue" };
const clusters = useTwoClusters();
const opened: InformedAccess[] = [];
let engine: Engine;

beforeEach(async () => {
  await clusters.tenant.client.create(ENDPOINTS, { apiVersion: "v1", kind: "Endpoints", metadata: { namespace: "shop", name: "web" } });
  const config = resolveConfig({ sync: { toHost: { services: { enabled: false } } } });
  if (!config.ok) throw new Error("The configuration is valid");
  engine = await createEngine({ config: config.config, vcluster: { name: "blue", namespace: "vc" } });
});
afterEach(async () => {
  engine.dispose();
  await Promise.all(opened.splice(0).map((access) => access.stop()));
});

function access(cluster: EmbeddedCluster): InformedAccess {
  const informed = createInformedAccess({ client: cluster.client });
  opened.push(informed);
  return informed;
}

test("a key is put off until the caches are complete, then its object is synced", async () => {
  const keys: string[] = [];
  const [tenant, host] = [access(clusters.tenant), access(clusters.host)];
  const reconciler = await createReconciler({ engine, tenant, host, enqueue: (key) => keys.push(key) });
  expect([reconciler.synced, await reconciler.reconcile(ID)]).toEqual([false, { requeueAfterMs: 100 }]);
  expect(tenant.unsynced()).toContain("endpoints");
  await until("the caches are complete", () => reconciler.synced);
  expect(tenant.unsynced()).toEqual([]);
  expect(keys).toContain(ID);
  expect(await reconciler.reconcile(ID)).toEqual({});
  expect(await clusters.host.client.get(ENDPOINTS, COPY)).toBeDefined();
  expect(reconciler.records()).toMatchObject([{ resource: "endpoints", state: "copied" }]);
  reconciler.close();
  const known = keys.length;
  await clusters.tenant.client.delete(ENDPOINTS, { namespace: "shop", name: "web" });
  await until("the cache has it", () => tenant.source(ENDPOINTS).get({ namespace: "shop", name: "web" }) === undefined);
  expect(keys.length).toBe(known);
});

test("every key fails while the copies on the host are those of another tenant cluster", async () => {
  const first = await createReconciler({ engine, tenant: access(clusters.tenant), host: access(clusters.host), enqueue: () => {} });
  await until("the caches are complete", () => first.synced);
  await first.reconcile(ID);
  first.close();
  const other = await createEmbeddedCluster();
  const second = await createReconciler({ engine, tenant: access(other), host: access(clusters.host), enqueue: () => {} });
  await until("the caches are complete", () => second.synced);
  for (let times = 0; times < 2; times += 1) await expect(second.reconcile(ID)).rejects.toMatchObject({ code: "CLUSTER_IDENTITY" });
  expect(await clusters.host.client.get(ENDPOINTS, COPY)).toBeDefined();
  second.close();
  await Promise.all(opened.splice(0).map((informed) => informed.stop()));
  await other.stop();
});
