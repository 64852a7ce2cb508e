/**
 * A cluster that says of a write that it took place, in an answer with nothing wrong about it, and does nothing: a proxy answers from
 * what it was sent, or a database forgot. Or one that says that an object is gone which is there.
 */
import { expect, test } from "vitest";
import type { ClusterClient } from "../../../../src/kube/object/cluster-client.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SECRETS, SERVICES, type ResourceType } from "../../../../src/kube/object/resource.ts";
import type { Endpoints, KubeObject } from "../../../../src/kube/object/types.ts";
import { clock, cluster, fill, start, useRunningSyncers } from "../running-syncers.ts";
import { AUTO, ips, ownSlice, seen, sidesWith, slicesIn, write } from "../backends/seen-backends.ts";

useRunningSyncers();

const COPY = { namespace: "vc", name: "web-x-shop-x-blue" };
const SOURCE = { namespace: "shop", name: "web" };
const subsets = (ip: string) => [{ addresses: [{ ip }], ports: [{ port: 80 }] }];

/** Writes of a kind that are only said to take place, or objects that are said to be gone, while `lying` names the verb; counted. */
function liar(client: ClusterClient, about: ResourceType = ENDPOINTS) {
  const state = { lying: "", lies: 0 };
  const lies = (verb: string, resource: ResourceType) => resource === about && state.lying === verb && (state.lies += 1) > 0;
  /** As the next version would be. */
  async function stored(object: KubeObject): Promise<KubeObject> {
    const { resourceVersion } = await client.list(about, {});
    const uid = object.metadata.uid ?? "11111111-1111-4111-8111-111111111111";
    return { ...object, metadata: { ...object.metadata, uid, resourceVersion: String(Number(resourceVersion) + 1) } };
  }
  const wrapped: ClusterClient = {
    get: async (resource, key) => (lies("get", resource) ? undefined : client.get(resource, key)),
    list: (resource, options) => client.list(resource, options),
    watch: (resource, options) => client.watch(resource, options),
    create: async (resource, object) => (lies("create", resource) ? stored(object) : client.create(resource, object)),
    update: async (resource, object) => (lies("update", resource) ? stored(object) : client.update(resource, object)),
    patch: (resource, key, type, body) => client.patch(resource, key, type, body),
    delete: async (resource, key, preconditions) => (lies("delete", resource) ? "deleted" : client.delete(resource, key, preconditions)),
    close: () => client.close(),
  };
  return { client: wrapped, state };
}

async function world(lying: string) {
  const [tenant, host] = [await cluster("shop"), await cluster("vc")];
  const { client, state } = liar(host.client);
  if (lying === "create") state.lying = lying;
  await fill(tenant, "shop", ["web"]);
  await start({ tenant, on: host, namespace: "vc", through: (own, side) => (side === "host" ? client : own) });
  state.lying = lying;
  /** Anything that is written, so that the cluster comes past the version of a lie. */
  const other = (name: string) =>
    host.client.create(ENDPOINTS, { apiVersion: "v1", kind: "Endpoints", metadata: { namespace: "vc", name } });
  const goOn = async () => {
    await other("other");
    await clock.advance(2_000);
    state.lying = "";
    await other("another");
    await clock.advance(180_000);
  };
  return { tenant, host, state, goOn };
}

test("a copy that was never created is created", async () => {
  const { host, state, goOn } = await world("create");
  await goOn();
  expect(state.lies).toBeGreaterThan(0);
  expect(await host.client.get(ENDPOINTS, COPY)).toBeDefined();
});

test("addresses that were never stored are stored", async () => {
  const { tenant, host, state, goOn } = await world("update");
  const found = (await tenant.client.get(ENDPOINTS, SOURCE)) as Endpoints;
  await tenant.client.update(ENDPOINTS, { ...found, subsets: subsets("10.0.0.7") } as Endpoints);
  await clock.advance(2_000);
  await goOn();
  // The label that keeps a mirror away, which seems not to work, may be the second.
  expect(state.lies).toBeGreaterThan(0);
  expect(await host.client.get(ENDPOINTS, COPY)).toMatchObject({ subsets: subsets("10.0.0.7") });
  expect((await seen(host)).addresses).toEqual(["10.0.0.7"]);
});

test("a copy that was never deleted is deleted", async () => {
  const { tenant, host, state, goOn } = await world("delete");
  await tenant.client.delete(ENDPOINTS, SOURCE);
  await clock.advance(2_000);
  await goOn();
  expect(state.lies).toBe(1);
  expect(await host.client.get(ENDPOINTS, COPY)).toBeUndefined();
});

test("a slice that was made goes once the host shows what takes its place, whatever it answered", async () => {
  const { tenant, on } = await sidesWith(false, false);
  const { client, state } = liar(on.client, ENDPOINT_SLICES);
  await fill(tenant, "shop", ["web"]);
  await write(tenant, [{ addresses: ips(2), ports: [{ port: 80 }] }]);
  await start({ tenant, on, namespace: "vc", settings: AUTO, through: (own, side) => (side === "host" ? client : own) });
  await clock.advance(5_000);
  state.lying = "create";
  await write(tenant, [{ addresses: ips(2), ports: [{ port: 81 }] }]);
  await clock.advance(2_000);
  expect(state.lies).toBe(1);
  expect((await seen(on)).addresses).toEqual(ips(2).map(({ ip }) => ip));
  state.lying = "";
  // The cluster comes past the version of the lie.
  for (const name of ["other", "another"]) {
    await on.client.create(ENDPOINT_SLICES, { ...ownSlice(name, []), metadata: { namespace: "vc", name } });
    await clock.advance(60_000);
  }
  for (const name of ["other", "another"]) await on.client.delete(ENDPOINT_SLICES, { namespace: "vc", name });
  await clock.advance(60_000);
  expect((await slicesIn(on)).flatMap(({ ports }) => ports?.map(({ port }) => port))).toEqual([81]);
});

test.each([
  { side: "tenant", about: ENDPOINTS, deleted: ENDPOINTS },
  { side: "tenant", about: SERVICES, deleted: SERVICES },
  { side: "host", about: SERVICES, deleted: ENDPOINTS },
  { side: "tenant", about: SECRETS, deleted: SECRETS },
] as const)(
  "a deleted copy comes back although a cluster said that what it needs is gone: $deleted.plural, as $side $about.plural are",
  async (lie) => {
    const [tenant, on] = [await cluster("shop"), await cluster("vc")];
    const { client, state } = liar((lie.side === "tenant" ? tenant : on).client, lie.about);
    await tenant.client.create(SECRETS, { apiVersion: "v1", kind: "Secret", metadata: SOURCE });
    await fill(tenant, "shop", ["web"]);
    const endpoints = await tenant.client.get(ENDPOINTS, SOURCE);
    await tenant.client.update(ENDPOINTS, { ...endpoints!, metadata: { ...endpoints!.metadata, annotations: { secret: "web" } } });
    const patches = [{ path: "metadata.annotations.secret", reference: { apiVersion: "v1", kind: "Secret" } }];
    const toHost = { secrets: { enabled: true }, endpoints: { patches } };
    await start({ tenant, on, namespace: "vc", toHost, through: (own, side) => (side === lie.side ? client : own) });
    expect(await on.client.get(lie.deleted, COPY)).toBeDefined();
    state.lying = "get";
    await on.client.delete(lie.deleted, COPY);
    await clock.advance(1_000);
    state.lying = "";
    expect(state.lies).toBeGreaterThan(0);
    await clock.advance(10_000);
    expect(await on.client.get(lie.deleted, COPY)).toBeDefined();
  },
);
