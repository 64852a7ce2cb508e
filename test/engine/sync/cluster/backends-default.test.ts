/** Where nothing is written about backends: upgrades without permissions, starts beside clusters that do not answer, embedders, reloads. */
import { describe, expect, test } from "vitest";
import { EngineError } from "../../../../src/base/errors.ts";
import { silentLogger } from "../../../../src/base/logger.ts";
import { resolveConfig } from "../../../../src/engine/config/config.ts";
import { createEngine } from "../../../../src/engine/engine.ts";
import type { ClusterAccess } from "../../../../src/engine/sync/cluster/access.ts";
import { createInformedAccess } from "../../../../src/engine/sync/cluster/informed-access.ts";
import { createReconciler } from "../../../../src/engine/sync/reconciler.ts";
import { createSyncer } from "../../../../src/engine/syncer.ts";
import type { ClusterClient } from "../../../../src/kube/object/cluster-client.ts";
import type { KubeObject } from "../../../../src/kube/object/types.ts";
import { ENDPOINT_SLICES, ENDPOINTS } from "../../../../src/kube/object/resource.ts";
import { clock, clusterWith, fill, start, stopAll, useRunningSyncers } from "../running-syncers.ts";
import { copyIn, ips, MANAGER, MIRROR, OURS, ownSlice, seen, sidesWith, SKIP, write } from "../backends/seen-backends.ts";

useRunningSyncers();

const VCLUSTER = { name: "blue", namespace: "vc" };

function configOf(toHost: object) {
  const resolved = resolveConfig({ sync: { toHost } });
  if (!resolved.ok) throw new Error(JSON.stringify(resolved.problems));
  return resolved.config;
}

function listening() {
  const told: string[] = [];
  const fields: unknown[] = [];
  const warn = (message: string, said?: unknown) => {
    told.push(message);
    fields.push(said);
  };
  return { told, fields, logger: { ...silentLogger, warn } };
}

type Answer = (review: KubeObject, verb: string, plural: string) => KubeObject | Promise<KubeObject>;

/** A client that notes its calls, and answers reviews of permissions in its own way. */
function asked(client: ClusterClient, calls: string[], answer: Answer): ClusterClient {
  return new Proxy(client, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (resource: { plural: string }, ...rest: unknown[]) => {
        if (resource?.plural === "selfsubjectaccessreviews") {
          const review = rest[0] as KubeObject & { spec: { resourceAttributes: { verb: string; resource: string } } };
          return answer(review, review.spec.resourceAttributes.verb, review.spec.resourceAttributes.resource);
        }
        calls.push(`${String(name)} ${resource?.plural}`);
        return (value as (...args: unknown[]) => unknown).call(target, resource, ...rest);
      };
    },
  });
}

const WITHOUT_SLICES: Answer = async (review, _verb, plural) => ({ ...review, status: { allowed: plural !== "endpointslices" } });

test("a deployment that is only upgraded does exactly what it did, with one warning that names the rules", async () => {
  const life = async (settings: { backends?: "endpoints" }) => {
    const sides = await sidesWith(true, true);
    await fill(sides.tenant, "shop", ["web", "db"]);
    const calls: string[] = [];
    const { told, fields, logger } = listening();
    const through = (client: ClusterClient, side: string) => (side === "host" ? asked(client, calls, WITHOUT_SLICES) : client);
    const syncer = await start({ ...sides, settings, through, logger });
    for (let round = 0; round < 3; round += 1) {
      await write(sides.tenant, [{ addresses: ips(2, round), ports: [{ port: 80 }] }]);
      await clock.advance(4_000);
    }
    const permissions = syncer
      .permissions()
      .map(({ side, verb, resource, namespace }) => `${side} ${verb} ${resource.plural} ${namespace}`);
    await stopAll();
    // Watches are opened again when a chance has it.
    const requests = calls.filter((call) => !call.startsWith("watch ") || call.endsWith("endpointslices"));
    return { did: { requests, permissions, backends: syncer.backends, seen: await seen(sides.on) }, told, fields };
  };
  const [upgraded, before] = [await life({}), await life({ backends: "endpoints" })];
  expect(upgraded.did).toEqual(before.did);
  // Slices of an earlier process are looked for.
  expect(upgraded.did.requests.filter((call) => call.endsWith("endpointslices"))).toEqual(["list endpointslices"]);
  expect(before.told).toEqual([]);
  expect(upgraded.told).toEqual(["backends: auto copies only Endpoints, because permissions on EndpointSlices are missing"]);
  expect(JSON.stringify(upgraded.fields)).toMatch(/grant verb .+ on resource .+endpointslices.+; and 3 more.+set backends: endpoints/);
});

test("permissions are not taken for granted while a cluster does not answer", async () => {
  const sides = await sidesWith(true, true);
  await fill(sides.tenant, "shop", ["web"]);
  let answers = false;
  const calls: string[] = [];
  const client = asked(sides.on.client, calls, (review, verb, plural) => {
    if (answers) return WITHOUT_SLICES(review, verb, plural);
    throw new EngineError("API_UNAVAILABLE", "Not yet");
  });
  const shared = { clock, logger: silentLogger };
  const [tenant, host] = [createInformedAccess({ client: sides.tenant.client, ...shared }), createInformedAccess({ client, ...shared })];
  const { told, logger } = listening();
  const syncer = await createSyncer({ config: configOf({}), vcluster: VCLUSTER, tenant, host, clock, logger });
  expect([syncer.backends, calls]).toEqual(["endpoints", []]);
  await expect(syncer.prepare()).rejects.toMatchObject({ code: "API_UNAVAILABLE" });
  answers = true;
  let prepared = false;
  void syncer.prepare().then(() => (prepared = true));
  while (!prepared) await clock.advance(5);
  expect([syncer.backends, told.length]).toEqual(["endpoints", 1]);
  expect(calls.some((call) => call.endsWith("endpointslices"))).toBe(false);
  await Promise.all([syncer.stop(), tenant.stop(), host.stop()]);
});

test.each(["tenant", "host"] as const)("beside a %s cluster that does not know EndpointSlices, Endpoints are copied alone", async (old) => {
  const sides = await sidesWith(true, true);
  await fill(sides.tenant, "shop", ["web"]);
  const requests: string[] = [];
  const through = (client: ClusterClient, side: string) => {
    if (side !== old) return client;
    return new Proxy(client, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        return (resource: { plural: string }, ...rest: unknown[]) => {
          if (resource?.plural !== "endpointslices") return (value as (...args: unknown[]) => unknown).call(target, resource, ...rest);
          requests.push(String(name));
          throw new EngineError("API_NOT_FOUND", "404 page not found");
        };
      },
    });
  };
  const { told, fields, logger } = listening();
  const syncer = await start({ ...sides, through, logger });
  await write(sides.tenant, [{ addresses: ips(2), ports: [{ port: 80 }] }]);
  await clock.advance(60_000);
  expect([syncer.backends, (await copyIn(sides.on)) !== undefined]).toEqual(["endpoints", true]);
  expect(told).toEqual(["backends: auto copies only Endpoints, because an API server does not support EndpointSlices"]);
  expect(fields).toMatchObject([{ clusters: [old] }]);
  // It is not followed. The host is asked once more, for slices of an earlier process.
  expect(requests).toEqual(old === "host" ? ["list", "list"] : ["list"]);
});

test("what a reload writes about slices takes effect, and its end too", async () => {
  const sides = await sidesWith(true, false);
  await fill(sides.tenant, "shop", ["web"]);
  const syncer = await start(sides);
  expect([syncer.backends, (await seen(sides.on)).makers]).toEqual(["auto", [OURS]]);
  await sides.on.controllers.start("endpointslice-mirroring-controller");
  const reload = async (toHost: object) => {
    let done: unknown;
    void syncer.reload({ config: configOf(toHost) }).then((result) => (done = result));
    while (done === undefined) await clock.advance(5);
    await clock.advance(80_000);
    return done;
  };
  expect(await reload({ endpointSlices: { enabled: false } })).toBe("changed");
  expect(syncer.backends).toBe("endpoints");
  expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.1"], makers: [MIRROR] });
  expect((await copyIn(sides.on))?.metadata.labels?.[SKIP]).toBeUndefined();
  await sides.on.controllers.stop("endpointslice-mirroring-controller");
  await write(sides.tenant, [{ addresses: ips(3), ports: [{ port: 80 }] }]);
  expect(await reload({})).toBe("changed");
  expect(syncer.backends).toBe("auto");
  expect((await seen(sides.on)).addresses).toEqual(ips(3).map(({ ip }) => ip));
});

test.each([
  { why: "throws", throws: true },
  { why: "gives nothing", throws: false },
])("a program whose access to caches of slices $why has Endpoints copied alone, with one warning", async ({ throws }) => {
  const sides = await sidesWith(true, true);
  await fill(sides.tenant, "shop", ["web"]);
  const accesses = [sides.tenant, sides.on].map(({ client }) => createInformedAccess({ client, clock, logger: silentLogger }));
  const [tenant, host] = accesses.map((access): ClusterAccess => ({
    writer: access.writer,
    source(resource) {
      if (resource !== ENDPOINT_SLICES) return access.source(resource);
      if (throws) throw new Error("No such cache");
      return undefined as never;
    },
  }));
  const engine = await createEngine({ config: configOf({}), vcluster: VCLUSTER });
  const { told, logger } = listening();
  const keys = new Set<string>();
  const reconciler = await createReconciler({ engine, tenant: tenant!, host: host!, enqueue: (key) => keys.add(key), clock, logger });
  while (!reconciler.synced) await clock.advance(5);
  for (let round = 0; round < 5; round += 1) {
    for (const key of [...keys]) {
      keys.delete(key);
      await reconciler.reconcile(key);
    }
    await clock.advance(1_000);
  }
  expect(told).toEqual(["backends: auto copies only Endpoints, because there are no caches of EndpointSlices"]);
  expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.1"], makers: [MIRROR] });
  reconciler.close();
  engine.dispose();
  await Promise.all(accesses.map((access) => access.stop()));
});

test("patches of endpoints that do not act on slices of users are told with the Service, once", async () => {
  const patches = [{ path: "metadata.labels.team", expression: '"x"' }];
  const messages = async (slices: boolean, toHost: Record<string, unknown>, settings = {}) => {
    const sides = await sidesWith(true, true);
    await fill(sides.tenant, "shop", ["web", "db"]);
    if (slices) await sides.tenant.client.create(ENDPOINT_SLICES, ownSlice("web-own", ["10.0.0.9"]));
    const { told, fields, logger } = listening();
    await start({ ...sides, toHost, logger, settings });
    await sides.tenant.client.patch(ENDPOINT_SLICES, { namespace: "shop", name: "web-own" }, "merge", { endpoints: [] }).catch(() => {});
    await clock.advance(10_000);
    await stopAll();
    return told.map((message, index) => [message, (fields[index] as { service?: string }).service]);
  };
  expect(await messages(true, { endpoints: { patches } })).toEqual([
    ["Patches of endpoints have no effect on slices that users have written for a Service", "shop/web"],
  ]);
  expect(await messages(false, { endpoints: { patches } })).toEqual([]);
  expect(await messages(true, { endpoints: { patches }, endpointSlices: { patches } }, { backends: "auto" })).toEqual([]);
});

describe("patches of endpoints that rewrite addresses", () => {
  const patches = [{ path: "subsets[*].addresses[*].ip", expression: '"10.8.0." + value.split(".")[3]' }];
  const POD_SLICES = "Patches of endpoints have no effect on copied slices that the tenant's cluster has made from Pods of a Service";

  /** A Service whose slices are made from Pods, and the messages about it. */
  async function told(toHost: Record<string, unknown>, change: (tenant: ClusterClient) => Promise<unknown>) {
    const tenant = await clusterWith({ controllers: ["*", "-endpointslice-controller", "-endpointslice-mirroring-controller"] }, "shop");
    const sides = { ...(await sidesWith(true, true)), tenant };
    await fill(tenant, "shop", ["web"]);
    const { told, fields, logger } = listening();
    await start({ ...sides, toHost, logger });
    await tenant.client.create(ENDPOINT_SLICES, ownSlice("web-pods", ["10.0.0.1"], { [MANAGER]: "endpointslice-controller.k8s.io" }));
    await change(tenant.client);
    await clock.advance(20_000);
    const { addresses } = await seen(sides.on);
    await stopAll();
    return { addresses, told: told.map((message, index) => [message, (fields[index] as { service?: string }).service]) };
  }

  const overCapacity = { metadata: { annotations: { "endpoints.kubernetes.io/over-capacity": "truncated" } } };
  const mark = (tenant: ClusterClient) => tenant.patch(ENDPOINTS, { namespace: "shop", name: "web" }, "merge", overCapacity);
  const remove = (tenant: ClusterClient) => tenant.delete(ENDPOINTS, { namespace: "shop", name: "web" });

  test.each([
    { why: "are over capacity", change: mark },
    { why: "do not exist", change: remove },
  ])("are reported with the Service, once, if slices of Pods are copied because the Endpoints $why", async ({ change }) => {
    const both = async (tenant: ClusterClient) => {
      await change(tenant);
      await clock.advance(20_000);
      await tenant.patch(ENDPOINT_SLICES, { namespace: "shop", name: "web-pods" }, "merge", { metadata: { labels: { changed: "yes" } } });
    };
    expect(await told({ endpoints: { patches } }, both)).toEqual({ addresses: ["10.0.0.1"], told: [[POD_SLICES, "shop/web"]] });
  });

  test("are not reported if Endpoints take the place of slices of Pods within a moment, or if slices have patches too", async () => {
    expect(await told({ endpoints: { patches } }, async () => {})).toEqual({ addresses: ["10.8.0.1"], told: [] });
    const briefly = async (tenant: ClusterClient) => {
      await remove(tenant);
      await clock.advance(3_000);
      const subsets = [{ addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] }];
      await tenant.create(ENDPOINTS, {
        apiVersion: "v1",
        kind: "Endpoints",
        metadata: { namespace: "shop", name: "web" },
        subsets,
      } as never);
    };
    expect(await told({ endpoints: { patches } }, briefly)).toEqual({ addresses: ["10.8.0.1"], told: [] });
    const own = [{ path: "endpoints[*].addresses[*]", expression: '"10.8.0." + value.split(".")[3]' }];
    const toHost = { endpoints: { patches }, endpointSlices: { patches: own } };
    expect((await told(toHost, remove)).told).toEqual([]);
  });
});
