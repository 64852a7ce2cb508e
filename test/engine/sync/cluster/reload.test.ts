/** Another configuration for a syncer that runs. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemChance } from "../../../../src/base/chance.ts";
import { silentLogger } from "../../../../src/base/logger.ts";
import { noMetrics } from "../../../../src/base/metrics.ts";
import { createEmbeddedCluster, type EmbeddedCluster } from "../../../../src/cluster/cluster.ts";
import { resolveConfig, type Config } from "../../../../src/engine/config/config.ts";
import { resolveSettings, type Settings } from "../../../../src/engine/config/settings.ts";
import type { ClusterClient } from "../../../../src/kube/object/cluster-client.ts";
import { EngineError } from "../../../../src/base/errors.ts";
import { MIRROR, SKIP_MIRROR, SLICE_MANAGER } from "../../../../src/engine/kinds/slice-labels.ts";
import { ENDPOINT_SLICES, ENDPOINTS, NAMESPACES, SERVICES } from "../../../../src/kube/object/resource.ts";
import { createInformedAccess } from "../../../../src/engine/sync/cluster/informed-access.ts";
import { createSyncer, type Syncer } from "../../../../src/engine/syncer.ts";
import { createFakeClock, type FakeClock } from "../../../support/fake-clock.ts";
import { service, tenantEndpoints } from "../../../support/rules.ts";

const MIRROR_CONTROLLER = "endpointslice-mirroring-controller";

let clock: FakeClock;
let tenant: EmbeddedCluster;
let host: EmbeddedCluster;
let planned: string[];
const ends: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  clock = createFakeClock();
  planned = [];
  [tenant, host] = await Promise.all([createEmbeddedCluster({ clock }), createEmbeddedCluster({ clock })]);
  await tenant.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await host.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "vc" } });
  for (const name of ["a", "b"]) {
    const metadata = { namespace: "shop", name, annotations: { team: "shop" } };
    await tenant.client.create(ENDPOINTS, { apiVersion: "v1", kind: "Endpoints", metadata });
  }
});

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  await Promise.all([tenant.stop(), host.stop()]);
});

function configOf(expression?: string): Config {
  const patches = expression === undefined ? [] : [{ path: "metadata.annotations.team", expression }];
  const resolved = resolveConfig({ sync: { toHost: { endpoints: { patches } } } });
  if (!resolved.ok) throw new Error(JSON.stringify(resolved.problems));
  return resolved.config;
}

function settingsOf(changed: object): Settings {
  const resolved = resolveSettings(changed);
  if (!resolved.ok) throw new Error(JSON.stringify(resolved.problems));
  return resolved.settings;
}

/** Lets time pass until `work` is done. */
async function during<Result>(work: Promise<Result>): Promise<Result> {
  let done = false;
  const end = () => void (done = true);
  work.then(end, end);
  while (!done) await clock.advance(5);
  return work;
}

async function started(config: Config, hostClient: ClusterClient = host.client): Promise<Syncer> {
  const shared = { clock, chance: systemChance, logger: silentLogger, metrics: noMetrics };
  const access = {
    tenant: createInformedAccess({ client: tenant.client, ...shared }),
    host: createInformedAccess({ client: hostClient, ...shared }),
  };
  const hooks = { onPlan: (key: { name: string }) => void planned.push(key.name) };
  const syncer = await createSyncer({ config, vcluster: { name: "blue", namespace: "vc" }, ...access, hooks, clock });
  ends.push(async () => Promise.all([during(syncer.stop()), access.tenant.stop(), access.host.stop()]));
  await during(syncer.start());
  await clock.advance(1_000);
  return syncer;
}

async function teamOf(name: string): Promise<string | undefined> {
  return (await host.client.get(ENDPOINTS, { namespace: "vc", name: `${name}-x-shop-x-blue` }))?.metadata.annotations?.["team"];
}

test("the same configuration in other words plans nothing", async () => {
  const syncer = await started(configOf('"one"'));
  planned = [];
  expect(await during(syncer.reload({ config: configOf('"one"'), settings: settingsOf({}) }))).toBe("unchanged");
  await clock.advance(1_000);
  expect(planned).toEqual([]);
});

test("another configuration plans everything once more, and what does not change is not written", async () => {
  const syncer = await started(configOf());
  planned = [];
  expect(await during(syncer.reload({ settings: settingsOf({ onError: "skip-patch" }) }))).toBe("changed");
  await clock.advance(1_000);
  expect(planned.filter((name) => name !== "kubernetes").sort()).toEqual(["a", "b"]);
});

test("a configuration that cannot be compiled changes nothing", async () => {
  const syncer = await started(configOf('"one"'));
  const broken = configOf();
  const patches = [{ path: "metadata.annotations.team", expression: "(" }];
  await expect(
    during(syncer.reload({ config: { ...broken, endpoints: { ...broken.endpoints, patches } } as Config })),
  ).rejects.toMatchObject({
    code: "EXPRESSION_SYNTAX",
  });
  await tenant.client.patch(ENDPOINTS, { namespace: "shop", name: "a" }, "merge", { metadata: { labels: { again: "1" } } });
  await clock.advance(1_000);
  expect(await teamOf("a")).toBe("one");
});

test.each([
  { what: "markerPrefix", settings: { markerPrefix: "other.example.com/" } },
  { what: "workers", settings: { workers: 3 } },
  { what: "hostQps", settings: { hostQps: 5 } },
  { what: "leaderElection", settings: { leaderElection: { leaseDurationSeconds: 30 } } },
])("$what cannot change without a restart", async ({ what, settings }) => {
  const syncer = await started(configOf());
  await expect(during(syncer.reload({ settings: settingsOf(settings) }))).rejects.toMatchObject({
    code: "CONFIG_VALUE",
    message: expect.stringContaining(what) as unknown,
  });
});

test("the way namespaces are mapped cannot change without a restart", async () => {
  const syncer = await started(configOf());
  const mapped = resolveConfig({ sync: { toHost: { namespaces: { enabled: true, mappings: { byName: { shop: "host-shop" } } } } } });
  if (!mapped.ok) throw new Error(JSON.stringify(mapped.problems));
  await expect(during(syncer.reload({ config: mapped.config }))).rejects.toMatchObject({ code: "CONFIG_VALUE" });
});

test("an object that is under way is done with the old configuration before any sees the new one", async () => {
  const writes: string[] = [];
  let release = (): void => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const { client } = host;
  // Methods of a class do not spread.
  const slow: ClusterClient = {
    get: (type, key) => client.get(type, key),
    list: (type, options) => client.list(type, options),
    watch: (type, options) => client.watch(type, options),
    async create(type, object) {
      if (type === ENDPOINTS) writes.push(object.metadata.annotations!["team"]!);
      if (type === ENDPOINTS) await held;
      return client.create(type, object);
    },
    async update(type, object) {
      writes.push(object.metadata.annotations!["team"]!);
      return client.update(type, object);
    },
    patch: (type, key, how, body) => client.patch(type, key, how, body),
    delete: (type, key, preconditions) => client.delete(type, key, preconditions),
    close: () => client.close(),
  };
  const syncer = await started(configOf('"one"'), slow);
  const reloading = syncer.reload({ config: configOf('"two"') });
  await clock.advance(1_000);
  expect(writes).toEqual(["one", "one"]);
  release();
  expect(await during(reloading)).toBe("changed");
  await clock.advance(1_000);
  expect(writes).toEqual(["one", "one", "two", "two"]);
  expect([await teamOf("a"), await teamOf("b")]).toEqual(["two", "two"]);
});

test("several reloads happen one after the other, and the last one stays", async () => {
  const syncer = await started(configOf('"one"'));
  const reloads = [syncer.reload({ config: configOf('"two"') }), syncer.reload({ config: configOf('"three"') })];
  expect(await during(Promise.all(reloads))).toEqual(["changed", "changed"]);
  await clock.advance(1_000);
  expect([await teamOf("a"), await teamOf("b")]).toEqual(["three", "three"]);
});

test("what was made of a copy is handed back to the host's mirror, also where the copy has no label yet that tells of it", async () => {
  const vcluster = { name: "blue", namespace: "vc" };
  const withBackends = (backends: string) => {
    const settings = settingsOf({ backends });
    const resolved = resolveConfig({}, { settings, vcluster });
    if (!resolved.ok) throw new Error(JSON.stringify(resolved.problems));
    return { settings, config: resolved.config };
  };
  const managers = async () => {
    const { items } = await host.client.list(ENDPOINT_SLICES, { namespace: "vc" });
    return items.map(({ metadata }) => metadata.labels?.[SLICE_MANAGER]);
  };
  await host.controllers.stop(MIRROR_CONTROLLER);
  const metadata = { namespace: "shop", name: "db" };
  await tenant.client.create(SERVICES, { ...service("shop", "db", { ports: [{ port: 80 }] }), metadata });
  await tenant.client.create(ENDPOINTS, { ...tenantEndpoints(), metadata });
  const { client } = host;
  const withoutLabels: ClusterClient = {
    get: (type, key) => client.get(type, key),
    list: (type, options) => client.list(type, options),
    watch: (type, options) => client.watch(type, options),
    create: (type, object) => client.create(type, object),
    async update(type, object) {
      if (object.metadata.labels?.[SKIP_MIRROR] === "true") throw new EngineError("API_UNAVAILABLE", "The request got lost");
      return client.update(type, object);
    },
    patch: (type, key, how, body) => client.patch(type, key, how, body),
    delete: (type, key, preconditions) => client.delete(type, key, preconditions),
    close: () => client.close(),
  };
  const syncer = await started(withBackends("auto").config, withoutLabels);
  const isMade = (manager: string | undefined) => manager === "endpoint-sync.sync.platform";
  while (!(await managers()).some(isMade)) await clock.advance(100);
  await host.controllers.start(MIRROR_CONTROLLER);
  expect(await during(syncer.reload(withBackends("endpoints")))).toBe("changed");
  for (let times = 0; times < 300 && (await managers()).some(isMade); times += 1) await clock.advance(1_000);
  expect(await managers()).toEqual([MIRROR]);
});
