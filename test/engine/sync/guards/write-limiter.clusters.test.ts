/** Whole syncers in virtual time, where something makes them write again and again. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemChance } from "../../../../src/base/chance.ts";
import type { Clock } from "../../../../src/base/clock.ts";
import { silentLogger } from "../../../../src/base/logger.ts";
import { createMetrics } from "../../../../src/base/metrics.ts";
import { createEmbeddedCluster, type EmbeddedCluster } from "../../../../src/cluster/cluster.ts";
import { resolveConfig } from "../../../../src/engine/config/config.ts";
import type { ClusterClient } from "../../../../src/kube/object/cluster-client.ts";
import { ENDPOINT_SLICES, ENDPOINTS, EVENTS, NAMESPACES, SERVICES } from "../../../../src/kube/object/resource.ts";
import type { EndpointSlice, KubeObject } from "../../../../src/kube/object/types.ts";
import { createInformedAccess } from "../../../../src/engine/sync/cluster/informed-access.ts";
import { createSyncer } from "../../../../src/engine/syncer.ts";
import { createFakeClock, type FakeClock } from "../../../support/fake-clock.ts";
import { countCalls, noCalls } from "../../../support/measured-client.ts";

const KEY = { namespace: "shop", name: "web" };
const HOST_KEY = { namespace: "vc", name: "web-x-shop-x-blue" };
const MINUTE_MS = 60_000;
/** A burst of 10, and one after each wait of 1, 2, 4 … 256 seconds; the first write of all is the source's, and one makes the Service. */
const WRITES_MAX = 10 + 10 + 1 + 1;

let clock: FakeClock;
let clusters: Record<"tenant" | "host", EmbeddedCluster>;
const ends: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  clock = createFakeClock();
  clusters = { tenant: await createEmbeddedCluster({ clock }), host: await createEmbeddedCluster({ clock }) };
  await clusters.tenant.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await clusters.host.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "vc" } });
});

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  await Promise.all([clusters.tenant.stop(), clusters.host.stop()]);
});

type Patches = readonly { readonly path: string; readonly expression?: string; readonly reverseExpression?: string }[];

/** The connection between a syncer and one of its clusters. */
interface Webhooks {
  tenant?(client: ClusterClient): ClusterClient;
  host?(client: ClusterClient): ClusterClient;
}

async function startSyncer(patches: Patches, hooks: Webhooks = {}) {
  const resolved = resolveConfig({ sync: { toHost: { endpoints: { patches } } } });
  if (!resolved.ok) throw new Error(JSON.stringify(resolved.problems));
  const [calls, metrics] = [{ tenant: noCalls(), host: noCalls() }, createMetrics()];
  const access = (side: "tenant" | "host") => {
    const client = countCalls((hooks[side] ?? ((same) => same))(clusters[side].client), calls[side]);
    return createInformedAccess({ client, clock, chance: { ...systemChance, fraction: () => 0.5 } });
  };
  const [tenant, host] = [access("tenant"), access("host")];
  const options = { tenant, host, clock: clock as Clock, metrics, logger: silentLogger };
  const syncer = await createSyncer({
    config: resolved.config,
    vcluster: { name: "blue", namespace: "vc" },
    ...options,
  });
  ends.push(async () => void (await Promise.all([syncer.stop(), tenant.stop(), host.stop()])));
  let started = false;
  void syncer.start().then(() => (started = true));
  while (!started) await clock.advance(5);
  return {
    syncer,
    writes: () => calls.tenant.writes + calls.host.writes,
    metric: (name: string) => metrics.value(name),
    codes: () => syncer.status().objects.flatMap(({ notes }) => notes.map(({ code }) => code)),
  };
}

const endpoints = (ip: string, annotations: Record<string, string> = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "Endpoints",
  metadata: { ...KEY, annotations },
  subsets: [{ addresses: [{ ip }] }],
});

async function makeTenant(annotations: Record<string, string> = {}): Promise<void> {
  const service: KubeObject = { apiVersion: "v1", kind: "Service", metadata: KEY, spec: { clusterIP: "None" } };
  await clusters.tenant.client.create(SERVICES, service);
  await clusters.tenant.client.create(ENDPOINTS, endpoints("10.0.0.1", annotations));
}

async function hostIp(): Promise<unknown> {
  const copy = (await clusters.host.client.get(ENDPOINTS, HOST_KEY)) as { subsets?: { addresses: { ip: string }[] }[] } | undefined;
  return copy?.subsets?.[0]?.addresses[0]?.ip;
}

async function changeAddress(ip: string): Promise<void> {
  await clusters.tenant.client.patch(ENDPOINTS, KEY, "merge", { subsets: [{ addresses: [{ ip }] }] });
}

async function eventReasons(): Promise<readonly unknown[]> {
  const { items } = await clusters.tenant.client.list(EVENTS, { namespace: "shop" });
  return items.map((event) => (event as unknown as { reason: string }).reason);
}

/** Takes what a client writes for another value of one label. */
function rewriting(client: ClusterClient, label: string, value: string): ClusterClient {
  const rewritten = (object: KubeObject): KubeObject => ({
    ...object,
    metadata: { ...object.metadata, labels: { ...object.metadata.labels, [label]: value } },
  });
  return {
    ...countCalls(client, noCalls()),
    create: (type, object) => client.create(type, type === ENDPOINTS ? rewritten(object) : object),
    update: (type, object) => client.update(type, type === ENDPOINTS ? rewritten(object) : object),
  };
}

const flipping = [
  {
    path: "metadata.annotations",
    expression: "({...value, flip: context.hostObject?.metadata.annotations?.flip === 'a' ? 'b' : 'a'})",
  },
];

test("two syncers with different patches slow each other down, and changes of the tenant still arrive", async () => {
  await makeTenant({ team: "shop" });
  const one = await startSyncer([{ path: "metadata.annotations.team", expression: "value + '-one'" }]);
  const two = await startSyncer([{ path: "metadata.annotations.team", expression: "value + '-two'" }]);
  await clock.advance(10 * MINUTE_MS);
  for (const { writes } of [one, two]) expect(writes()).toBeLessThanOrEqual(WRITES_MAX);
  expect([...one.codes(), ...two.codes()]).toContain("WRITES_SLOWED");
  expect(await eventReasons()).toContain("WritesSlowed");
  expect(one.metric("endpoint_sync_braked_objects") + two.metric("endpoint_sync_braked_objects")).toBeGreaterThan(0);
  expect(one.metric("endpoint_sync_braked_writes_total") + two.metric("endpoint_sync_braked_writes_total")).toBeGreaterThan(0);
  for (const ip of ["10.0.0.2", "10.0.0.3"]) {
    await changeAddress(ip);
    await clock.advance(500);
    expect(await hostIp()).toBe(ip);
  }
});

test("an expression that flips on what it wrote is slowed, and all is forgotten once it is at rest", async () => {
  await makeTenant({ team: "shop" });
  const { syncer, writes, metric } = await startSyncer(flipping);
  await clock.advance(10 * MINUTE_MS);
  expect(writes()).toBeLessThanOrEqual(WRITES_MAX);
  await changeAddress("10.0.0.2");
  await clock.advance(500);
  expect(await hostIp()).toBe("10.0.0.2");
  expect(metric("endpoint_sync_braked_objects")).toBe(1);
  await clusters.tenant.client.delete(ENDPOINTS, KEY);
  await clock.advance(12 * MINUTE_MS);
  const left = syncer.status().objects.filter(({ resource, tenantKey }) => resource === "endpoints" && tenantKey.namespace === "shop");
  expect([left, metric("endpoint_sync_braked_objects")]).toEqual([[], 0]);
});

test("slices that are made of a copy that flips share what it writes unasked, and changes of the tenant reach them", async () => {
  await clusters.host.controllers.stop("endpointslice-mirroring-controller");
  await makeTenant({ team: "shop" });
  const { writes, metric } = await startSyncer(flipping);
  await clock.advance(10 * MINUTE_MS);
  // Beside one write of each for the tenant's version, and the label that keeps the mirror away.
  expect(writes()).toBeLessThanOrEqual(WRITES_MAX + 2);
  expect(metric("endpoint_sync_braked_objects")).toBe(1);
  for (const ip of ["10.0.0.2", "10.0.0.3"]) {
    await changeAddress(ip);
    await clock.advance(500);
    const { items } = await clusters.host.client.list(ENDPOINT_SLICES, { namespace: "vc" });
    expect([
      await hostIp(),
      ...items.flatMap((slice) => (slice as EndpointSlice).endpoints?.flatMap(({ addresses }) => addresses)),
    ]).toEqual([ip, ip]);
  }
  await clusters.tenant.client.delete(ENDPOINTS, KEY);
  await clock.advance(12 * MINUTE_MS);
  expect(metric("endpoint_sync_braked_objects")).toBe(0);
});

test("a host webhook that reverts what is written is slowed", async () => {
  await makeTenant();
  await clusters.tenant.client.patch(ENDPOINTS, KEY, "merge", { metadata: { labels: { team: "shop" } } });
  const { writes } = await startSyncer([{ path: "metadata.labels.team", expression: "value + '-x'" }], {
    host: (client) => rewriting(client, "team", "ops"),
  });
  // The copy is touched all the time, so that it is processed again.
  for (let second = 0; second < 600; second += 1) {
    await clusters.host.client
      .patch(ENDPOINTS, HOST_KEY, "merge", { metadata: { annotations: { touched: String(second) } } })
      .catch(() => {});
    await clock.advance(1_000);
  }
  expect(writes()).toBeLessThanOrEqual(2 * WRITES_MAX);
});

test("a tenant webhook that reverts host edits is slowed", async () => {
  await makeTenant();
  await clusters.tenant.client.patch(ENDPOINTS, KEY, "merge", { metadata: { labels: { team: "shop" } } });
  const { writes } = await startSyncer([], { tenant: (client) => rewriting(client, "team", "shop") });
  for (let second = 0; second < 600; second += 1) {
    await clusters.host.client.patch(ENDPOINTS, HOST_KEY, "merge", { metadata: { labels: { team: `ops-${second}` } } }).catch(() => {});
    await clock.advance(1_000);
  }
  expect(writes()).toBeLessThanOrEqual(2 * WRITES_MAX);
});

test("host edits at the pace of people are not slowed", async () => {
  await makeTenant();
  const { metric } = await startSyncer([]);
  for (let count = 0; count < 20; count += 1) {
    await clusters.host.client.patch(ENDPOINTS, HOST_KEY, "merge", { metadata: { annotations: { team: `ops-${count}` } } });
    await clock.advance(7_000);
    expect((await clusters.tenant.client.get(ENDPOINTS, KEY))?.metadata.annotations?.["team"]).toBe(`ops-${count}`);
  }
  expect(metric("endpoint_sync_braked_writes_total")).toBe(0);
});
