/** The sync loop with caches that a test moves by hand, so that it decides what is late. */
import { setImmediate as nextTask } from "node:timers/promises";
import { expect, test } from "vitest";
import { EngineError } from "../../../src/base/errors.ts";
import { createLineLogger, silentLogger, type Logger } from "../../../src/base/logger.ts";
import { noMetrics } from "../../../src/base/metrics.ts";
import type { EmbeddedCluster } from "../../../src/cluster/cluster.ts";
import type { ObjectKey } from "../../../src/kube/object/key.ts";
import { ENDPOINTS, NAMESPACES } from "../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import type { Writer } from "../../../src/engine/sync/cluster/access.ts";
import { createSyncLoop, type SyncLoop } from "../../../src/engine/sync/syncer.ts";
import type { SyncHooks } from "../../../src/engine/sync/run/reconcile.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { tenantEndpoints, testRules } from "../../support/rules.ts";
import { lateAccess } from "./cluster/late-access.ts";
import { useTwoClusters } from "./two-clusters.ts";

const ID = "endpoints|shop/web";
const KEY = { namespace: "shop", name: "web" };
const HOST_KEY = { namespace: "vc", name: "web-x-shop-x-blue" };

const clusters = useTwoClusters();

function startLoop(hooks: SyncHooks = {}, hostWriter?: Writer, logger: Logger = silentLogger) {
  const caches = { tenant: lateAccess(clusters.tenant), host: lateAccess(clusters.host) };
  const loop: SyncLoop = createSyncLoop({
    tenant: caches.tenant,
    host: { ...caches.host, ...(hostWriter && { writer: hostWriter }) },
    rules: [{ ...testRules(), servicesEnabled: false }],
    loopGuard: { restorations: 5, minutes: 10 },
    clock: createFakeClock(),
    logger,
    metrics: noMetrics,
    hooks,
    enqueue: () => {},
  });
  return { caches, loop };
}

async function annotate({ client }: EmbeddedCluster, key: ObjectKey, team: string): Promise<void> {
  await client.patch(ENDPOINTS, key, "merge", { metadata: { annotations: { team } } });
}

async function teamOf({ client }: EmbeddedCluster, key: ObjectKey): Promise<string | undefined> {
  return (await client.get(ENDPOINTS, key))?.metadata.annotations?.["team"];
}

test("two host edits in a row both reach the tenant, even if the second comes before the answer to the first", async () => {
  const { caches, loop } = startLoop();
  await clusters.tenant.client.create(ENDPOINTS, { ...tenantEndpoints(), metadata: { ...KEY, annotations: { team: "shop" } } });
  await caches.tenant.look(KEY);
  await loop.reconcile(ID);
  for (const team of ["ops", "sales"]) {
    await annotate(clusters.host, HOST_KEY, team);
    await caches.host.look(HOST_KEY);
    await loop.reconcile(ID);
    expect(await teamOf(clusters.tenant, KEY)).toBe(team);
  }
  await loop.reconcile(ID);
  expect(loop.records()[0]!.notes).toEqual([]);
  await Promise.all([caches.tenant.look(KEY), caches.host.look(HOST_KEY)]);
  await annotate(clusters.tenant, KEY, "back");
  await caches.tenant.look(KEY);
  await loop.reconcile(ID);
  expect(await teamOf(clusters.host, HOST_KEY)).toBe("back");
});

test("a second host edit reaches the tenant, even if lists on both sides left the object out after the first", async () => {
  const { caches, loop } = startLoop();
  await clusters.tenant.client.create(ENDPOINTS, { ...tenantEndpoints(), metadata: { ...KEY, annotations: { team: "shop" } } });
  await caches.tenant.look(KEY);
  await loop.reconcile(ID);
  await annotate(clusters.host, HOST_KEY, "ops");
  await caches.host.look(HOST_KEY);
  await loop.reconcile(ID);
  await Promise.all([caches.tenant.look(KEY), caches.host.look(HOST_KEY)]);
  caches.tenant.put(KEY, undefined);
  caches.host.put(HOST_KEY, undefined);
  await loop.reconcile(ID);
  await annotate(clusters.host, HOST_KEY, "sales");
  await Promise.all([caches.tenant.look(KEY), caches.host.look(HOST_KEY)]);
  await loop.reconcile(ID);
  expect([await teamOf(clusters.tenant, KEY), await teamOf(clusters.host, HOST_KEY)]).toEqual(["sales", "sales"]);
  expect(loop.records()[0]!.notes).toEqual([]);
});

test("the log says once which host namespace copies wait for, and when it is there", async () => {
  const lines: string[] = [];
  const logger = createLineLogger({ now: () => 0, write: (line) => lines.push(line.slice(line.indexOf(" ") + 1)) });
  const { caches, loop } = startLoop({}, undefined, logger);
  await clusters.tenant.client.create(ENDPOINTS, { ...tenantEndpoints(), metadata: { ...KEY } });
  await caches.tenant.look(KEY);
  const { client: host } = clusters.host;
  await host.delete(NAMESPACES, { namespace: "", name: "vc" });
  while ((await host.get(NAMESPACES, { namespace: "", name: "vc" })) !== undefined) await nextTask();
  for (let round = 0; round < 2; round++) expect(await loop.reconcile(ID)).toEqual({ requeueAfterMs: 3_000 });
  expect(lines).toEqual(["warn  Copies are waiting for a host namespace that does not exist namespace=vc"]);
  await host.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "vc" } });
  await loop.reconcile(ID);
  expect(lines.slice(1)).toEqual(["info  The host namespace exists now namespace=vc"]);
});

test("a cache that stays behind costs fewer and fewer calls, and a fresh one none", async () => {
  const { caches, loop } = startLoop();
  await clusters.host.client.create(ENDPOINTS, { ...tenantEndpoints(), metadata: { ...HOST_KEY } });
  await clusters.tenant.client.create(ENDPOINTS, { ...tenantEndpoints(), metadata: { ...KEY } });
  await caches.tenant.look(KEY);
  const waits: (number | undefined)[] = [];
  for (let round = 0; round < 12; round++) waits.push((await loop.reconcile(ID)).requeueAfterMs);
  expect([waits[0], waits[1], waits[2], waits.at(-1)]).toEqual([50, 100, 200, 10_000]);
  await caches.host.look(HOST_KEY);
  expect(await loop.reconcile(ID)).toEqual({});
  caches.host.put(HOST_KEY, undefined);
  expect((await loop.reconcile(ID)).requeueAfterMs).toBe(50);
});

test("a change is planned once, and once more where a cluster has stored something else", async () => {
  const states: string[] = [];
  let webhook = "";
  const writer: Writer = {
    get: (type, key) => clusters.host.client.get(type, key),
    create: (type, object) => clusters.host.client.create(type, object),
    update: (type, { metadata, ...object }) =>
      clusters.host.client.update(type, {
        ...object,
        metadata: { ...metadata, annotations: { ...metadata.annotations, webhook } },
      } as KubeObject),
    delete: (type, key, preconditions) => clusters.host.client.delete(type, key, preconditions),
  };
  const { caches, loop } = startLoop({ onPlan: (_key, _resource, { state }) => void states.push(state) }, writer);
  await clusters.tenant.client.create(ENDPOINTS, { ...tenantEndpoints(), metadata: { ...KEY, annotations: { webhook } } });
  const settle = async () => {
    states.length = 0;
    await caches.tenant.look(KEY);
    await loop.reconcile(ID);
    await caches.host.look(HOST_KEY);
    await loop.reconcile(ID);
    return [...states];
  };
  await settle();
  await annotate(clusters.tenant, KEY, "shop");
  expect(await settle()).toEqual(["copied"]);
  webhook = "was here";
  await annotate(clusters.tenant, KEY, "ops");
  expect(await settle()).toEqual(["copied", "copied"]);
});

test("the plan after a live read is seen as any other", async () => {
  const states: string[] = [];
  const { caches, loop } = startLoop({ onPlan: (_key, _resource, { state }) => void states.push(state) });
  const older = await clusters.tenant.client.create(ENDPOINTS, { ...tenantEndpoints(), metadata: { ...KEY } });
  await annotate(clusters.tenant, KEY, "shop");
  await caches.tenant.look(KEY);
  await loop.reconcile(ID);
  caches.tenant.put(KEY, older);
  await loop.reconcile(ID);
  // A copy beside a host Service that no cache knows of is planned once more when that was read.
  expect(states).toEqual(["copied", "copied", "stale", "copied"]);
});

test("a write that lacks a permission is in the records, with what is missing, and is tried again", async () => {
  const forbidden = new EngineError("API_FORBIDDEN", 'User "syncer" cannot create resource "endpoints"');
  let granted = false;
  const writer: Writer = {
    get: (type, key) => clusters.host.client.get(type, key),
    create: (type, object) => (granted ? clusters.host.client.create(type, object) : Promise.reject(forbidden)),
    update: (type, object) => clusters.host.client.update(type, object),
    delete: (type, key, preconditions) => clusters.host.client.delete(type, key, preconditions),
  };
  const { caches, loop } = startLoop({}, writer);
  await clusters.tenant.client.create(ENDPOINTS, { ...tenantEndpoints(), metadata: KEY });
  await caches.tenant.look(KEY);
  await expect(loop.reconcile(ID)).rejects.toBe(forbidden);
  expect(loop.records()).toMatchObject([{ state: "refused", notes: [{ code: "API_FORBIDDEN", message: forbidden.message }] }]);
  granted = true;
  await loop.reconcile(ID);
  expect(await clusters.host.client.get(ENDPOINTS, HOST_KEY)).toBeDefined();
  expect(loop.records()).toMatchObject([{ state: "copied", notes: [] }]);
});
