/**
 * The syncer between two clusters, end to end, as a suite for any two of them: embedded ones, or real ones by kubeconfig. It
 * keeps to one namespace in each.
 */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemChance } from "../../src/base/chance.ts";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { createMetrics, type MetricsRegistry } from "../../src/base/metrics.ts";
import { resolveConfig } from "../../src/engine/config/config.ts";
import { DEFAULT_SETTINGS } from "../../src/engine/config/settings.ts";
import type { ClusterClient } from "../../src/kube/object/cluster-client.ts";
import { ENDPOINTS, EVENTS, NAMESPACES, SERVICES } from "../../src/kube/object/resource.ts";
import { subsetsFingerprint } from "../../src/kube/object/endpoints/subsets.ts";
import type { Endpoints, EndpointSubset, KubeObject, Service, StringMap } from "../../src/kube/object/types.ts";
import { createInformedAccess } from "../../src/engine/sync/cluster/informed-access.ts";
import { createSyncer } from "../../src/engine/syncer.ts";
import { createTranslator } from "../../src/engine/translate/translator.ts";
import { eventually } from "./sandbox-namespace.ts";

/** Two clusters and their end. */
export interface ClusterPair {
  readonly tenant: ClusterClient;
  readonly host: ClusterClient;
  close(): Promise<void>;
}

/** Where the suite runs. */
export interface SyncerSuiteOptions {
  readonly name: string;
  readonly create: () => Promise<ClusterPair>;
}

const CONFIG = {
  sync: {
    toHost: {
      endpoints: {
        patches: [
          {
            path: 'metadata.annotations["example.com/team"]',
            expression: '"blue-" + value',
            reverseExpression: 'value.replace(/^blue-/, "")',
          },
          { path: 'metadata.annotations["example.com/upstream"]', expression: "virtualToHostDNS(value)" },
          { path: "subsets[*].addresses[*].hostname", expression: 'value + "-h"', reverseExpression: "value.slice(0, -2)" },
        ],
      },
    },
  },
};

const ADDRESSES: readonly EndpointSubset[] = [
  {
    addresses: [{ ip: "10.1.0.1", hostname: "a" }, { ip: "10.1.0.2" }],
    notReadyAddresses: [{ ip: "10.1.0.3" }],
    ports: [{ name: "http", port: 80, protocol: "TCP" }],
  },
];

/** Runs every case between two clusters that `create` makes. */
export function syncerSuite({ name, create }: SyncerSuiteOptions): void {
  describe(name, () => {
    let world: World;
    beforeAll(async () => void (world = await createWorld(await create())));
    afterAll(() => world?.close());

    test("a tenant Service and its Endpoints appear on the host, translated and patched", async () => {
      await world.seed("web", { "example.com/team": "shop", "example.com/upstream": `api.${world.tenantNamespace}.svc` });
      const copy = await world.hostEndpoints("web", (found) => found.subsets !== undefined);
      expect(copy.metadata.annotations).toMatchObject({
        "example.com/team": "blue-shop",
        "example.com/upstream": `api-x-${world.tenantNamespace}-x-blue.${world.hostNamespace}.svc.cluster.local`,
      });
      expect(subsetsFingerprint(copy.subsets)).toBe(subsetsFingerprint(withHostname(ADDRESSES, "a-h")));
      const service = (await world.pair.host.get(SERVICES, world.hostKey("web"))) as Service;
      expect(service.spec?.selector).toBeUndefined();
      expect(service.spec?.ports).toMatchObject([{ name: "http", port: 80 }]);
    });

    test("a change in the tenant cluster reaches the host in one write", async () => {
      await world.seedAndRest("changing");
      const before = world.hostWrites();
      const moved = [{ addresses: [{ ip: "10.1.9.9" }], ports: ADDRESSES[0]!.ports! }];
      await world.updateTenant("changing", (found) => ({ ...found, subsets: moved }));
      await world.hostEndpoints("changing", (found) => subsetsFingerprint(found.subsets) === subsetsFingerprint(moved));
      await eventually("the write is counted", async () => world.hostWrites() > before || undefined);
      await world.atRest();
      expect(world.hostWrites() - before).toBe(1);
    });

    test("a host edit comes back reversed, in one tenant write and one host write", async () => {
      await world.seedAndRest("edited", { "example.com/team": "shop" });
      const [hostBefore, tenantBefore] = [world.hostWrites(), world.tenantWrites()];
      await world.updateHost("edited", { "example.com/team": "blue-ops" });
      await world.tenantEndpoints("edited", (found) => found.metadata.annotations?.["example.com/team"] === "ops");
      const counted = () => world.tenantWrites() > tenantBefore && world.hostWrites() > hostBefore;
      await eventually("both writes are counted", async () => counted() || undefined);
      await world.atRest();
      expect([world.tenantWrites() - tenantBefore, world.hostWrites() - hostBefore]).toEqual([1, 1]);
    });

    test("a host edit that has no way back is undone, and people are told", async () => {
      await world.seed("one-way", { "example.com/upstream": "a.b.svc" });
      const first = await world.hostEndpoints("one-way", () => true);
      await world.updateHost("one-way", { "example.com/upstream": "elsewhere" });
      await world.hostEndpoints(
        "one-way",
        (found) =>
          found.metadata.resourceVersion !== first.metadata.resourceVersion &&
          found.metadata.annotations?.["example.com/upstream"]?.startsWith("a-x-b") === true,
      );
      await eventually(
        "an Event on the tenant object",
        async () => (await world.eventReasons("one-way")).includes("OneWayEdit") || undefined,
      );
    });

    test("a deleted copy comes back", async () => {
      await world.seed("deleted-there");
      const first = await world.hostEndpoints("deleted-there", () => true);
      await world.pair.host.delete(ENDPOINTS, world.hostKey("deleted-there"));
      await world.hostEndpoints("deleted-there", (found) => found.metadata.uid !== first.metadata.uid);
    });

    test("deleting in the tenant cluster deletes on the host", async () => {
      await world.seed("deleted-here");
      await world.hostEndpoints("deleted-here", () => true);
      await world.pair.tenant.delete(ENDPOINTS, world.tenantKey("deleted-here"));
      await world.pair.tenant.delete(SERVICES, world.tenantKey("deleted-here"));
      await eventually("both copies are gone", async () => {
        const left = await Promise.all(
          [ENDPOINTS, SERVICES].map((resource) => world.pair.host.get(resource, world.hostKey("deleted-here"))),
        );
        return left.every((object) => object === undefined) || undefined;
      });
    });

    test("an object that is not ours keeps its name and its content", async () => {
      const key = world.hostKey("foreign");
      await world.pair.host.create(SERVICES, {
        apiVersion: "v1",
        kind: "Service",
        metadata: { ...key },
        spec: { ports: [{ port: 9999 }] },
      });
      await world.seed("foreign");
      await eventually(
        "an Event on the tenant object",
        async () => (await world.eventReasons("foreign")).includes("HostObjectForeign") || undefined,
      );
      expect((await world.pair.host.get(SERVICES, key)) as Service).toMatchObject({ spec: { ports: [{ port: 9999 }] } });
      expect(await world.pair.host.get(ENDPOINTS, key)).toBeUndefined();
    });

    test("a long name is cut and closed with a digest", async () => {
      const long = "n".repeat(60);
      await world.seed(long);
      expect(world.hostKey(long).name).toHaveLength(63);
      await world.hostEndpoints(long, () => true);
    });

    test("Endpoints that come before their Service are copied once it is there", async () => {
      await world.pair.tenant.create(ENDPOINTS, world.endpoints("early"));
      await world.pair.tenant.create(SERVICES, world.service("early"));
      await world.hostEndpoints("early", () => true);
    });

    test("fifty objects at once converge, and the syncer comes to rest", async () => {
      const names = Array.from({ length: 50 }, (_, index) => `burst-${index}`);
      await Promise.all(names.map((name) => world.seed(name)));
      await Promise.all(names.map((name) => world.copied(name)));
      await world.atRest();
    });

    test("a restart writes nothing", async () => {
      await world.atRest();
      await world.restart();
      const before = [world.hostWrites(), world.tenantWrites()];
      await world.atRest();
      expect([world.hostWrites(), world.tenantWrites()]).toEqual(before);
    });
  });
}

type World = Awaited<ReturnType<typeof createWorld>>;

/** A quiet time this long, in milliseconds, counts as rest. */
const REST_MS = 150;

async function createWorld(pair: ClusterPair) {
  const suffix = randomBytes(3).toString("hex");
  const [tenantNamespace, hostNamespace] = [`shop-${suffix}`, `vc-${suffix}`];
  const vcluster = { name: "blue", namespace: hostNamespace };
  const translator = createTranslator({ vcluster });
  await pair.tenant.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: tenantNamespace } });
  await pair.host.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: hostNamespace } });
  const metrics = createMetrics();
  let running = await start({ pair, tenantNamespace, vcluster, metrics });

  const tenantKey = (name: string) => ({ namespace: tenantNamespace, name });
  const hostKey = (name: string) => translator.toHost(tenantKey(name), ENDPOINTS)!;
  const endpoints = (name: string, annotations: StringMap = {}): KubeObject => ({
    apiVersion: "v1",
    kind: "Endpoints",
    metadata: { ...tenantKey(name), annotations },
    subsets: ADDRESSES,
  });
  const service = (name: string): KubeObject => ({
    apiVersion: "v1",
    kind: "Service",
    metadata: { ...tenantKey(name) },
    spec: { ports: [{ name: "http", port: 80 }] },
  });
  const writes = (cluster: string) =>
    ["create", "update", "delete"]
      .flatMap((action) => ["written", "deleted"].map((result) => metrics.value("endpoint_sync_writes_total", { action, cluster, result })))
      .reduce((sum, count) => sum + count, 0);
  const when = (client: ClusterClient, key: { namespace: string; name: string }, holds: (found: Endpoints) => boolean) =>
    eventually(`Endpoints ${key.namespace}/${key.name}`, async () => {
      const found = (await client.get(ENDPOINTS, key)) as Endpoints | undefined;
      return found !== undefined && holds(found) ? found : undefined;
    });

  return {
    pair,
    tenantNamespace,
    hostNamespace,
    tenantKey,
    hostKey,
    endpoints,
    service,
    hostWrites: () => writes("host"),
    tenantWrites: () => writes("tenant"),
    hostEndpoints: (name: string, holds: (found: Endpoints) => boolean) => when(pair.host, hostKey(name), holds),
    tenantEndpoints: (name: string, holds: (found: Endpoints) => boolean) => when(pair.tenant, tenantKey(name), holds),
    async seed(name: string, annotations: StringMap = {}) {
      await pair.tenant.create(SERVICES, service(name));
      await pair.tenant.create(ENDPOINTS, endpoints(name, annotations));
    },
    /** Resolves when the host has both copies. */
    async copied(name: string) {
      await when(pair.host, hostKey(name), () => true);
      await eventually(`a copy of Service ${name}`, () => pair.host.get(SERVICES, hostKey(name)));
    },
    async seedAndRest(name: string, annotations: StringMap = {}) {
      const before = writes("host");
      await this.seed(name, annotations);
      await this.copied(name);
      await eventually("both writes are counted", async () => writes("host") >= before + 2 || undefined);
      await this.atRest();
    },
    async updateTenant(name: string, change: (found: KubeObject) => KubeObject) {
      await pair.tenant.update(ENDPOINTS, change((await pair.tenant.get(ENDPOINTS, tenantKey(name)))!));
    },
    async updateHost(name: string, annotations: StringMap) {
      await eventually(`a copy of ${name}`, () => pair.host.get(ENDPOINTS, hostKey(name)));
      await pair.host.patch(ENDPOINTS, hostKey(name), "merge", { metadata: { annotations } });
    },
    async eventReasons(name: string): Promise<string[]> {
      const { items } = await pair.tenant.list(EVENTS, { namespace: tenantNamespace });
      return items.filter((event) => (event["involvedObject"] as { name?: string }).name === name).map((event) => String(event["reason"]));
    },
    async atRest() {
      let seen = -1;
      let since = performance.now();
      await eventually("the syncer is at rest", async () => {
        const total = writes("host") + writes("tenant");
        if (total !== seen || running.syncer.status().waiting > 0) [seen, since] = [total, performance.now()];
        return performance.now() - since > REST_MS || undefined;
      });
    },
    async restart() {
      await running.stop();
      running = await start({ pair, tenantNamespace, vcluster, metrics });
    },
    async close() {
      await running.stop();
      await pair.tenant.delete(NAMESPACES, { namespace: "", name: tenantNamespace });
      await pair.host.delete(NAMESPACES, { namespace: "", name: hostNamespace });
      await pair.close();
    },
  };
}

async function start({
  pair,
  tenantNamespace,
  vcluster,
  metrics,
}: {
  pair: ClusterPair;
  tenantNamespace: string;
  vcluster: { name: string; namespace: string };
  metrics: MetricsRegistry;
}) {
  const resolved = resolveConfig(CONFIG);
  if (!resolved.ok) throw new Error(resolved.problems.map(({ message }) => message).join("\n"));
  const runtime = { clock: systemClock, chance: systemChance, logger: silentLogger, metrics };
  const tenant = createInformedAccess({ client: pair.tenant, scope: { namespace: tenantNamespace }, ...runtime });
  const host = createInformedAccess({ client: pair.host, scope: { namespace: vcluster.namespace }, ...runtime });
  const syncer = await createSyncer({ config: resolved.config, settings: DEFAULT_SETTINGS, vcluster, tenant, host, ...runtime });
  await syncer.start();
  return {
    syncer,
    async stop() {
      await syncer.stop();
      await Promise.all([tenant.stop(), host.stop()]);
    },
  };
}

function withHostname(subsets: readonly EndpointSubset[], hostname: string): EndpointSubset[] {
  return subsets.map((subset) => ({
    ...subset,
    addresses: subset.addresses!.map((address) => (address.hostname === undefined ? address : { ...address, hostname })),
  }));
}
