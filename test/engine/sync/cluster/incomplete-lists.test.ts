/**
 * An API server that answers a list without the objects that it has, and goes on as if nothing were: the watch is fine, and so is each
 * single object.
 */
import { expect, test } from "vitest";
import { endsInitialEvents, type ClusterClient } from "../../../../src/kube/object/cluster-client.ts";
import { ENDPOINTS, EVENTS, SERVICES } from "../../../../src/kube/object/resource.ts";
import type { Endpoints } from "../../../../src/kube/object/types.ts";
import { clock, cluster, fill, start, stopAll, useRunningSyncers } from "../running-syncers.ts";

useRunningSyncers();

const NAMES = ["web", "db", "cache"];
const hostKey = (name: string) => ({ namespace: "vc", name: `${name}-x-shop-x-blue` });

/** How an informer reads its lists. */
const WAYS = ["in pages", "as streams"] as const;

/** Lists of Endpoints are empty so many times. */
function emptyLists(client: ClusterClient, times: number, way: (typeof WAYS)[number] = "in pages"): ClusterClient {
  let left = times;
  return {
    streamsLists: way === "as streams",
    get: (resource, key) => client.get(resource, key),
    async list(resource, options) {
      const list = await client.list(resource, options);
      return resource === ENDPOINTS && left-- > 0 ? { ...list, items: [] } : list;
    },
    async *watch(resource, options) {
      let hides = resource === ENDPOINTS && options.initialEvents === true && left-- > 0;
      for await (const event of client.watch(resource, options)) {
        hides &&= !endsInitialEvents(event);
        if (!hides) yield event;
      }
    },
    create: (resource, object) => client.create(resource, object),
    update: (resource, object) => client.update(resource, object),
    patch: (resource, key, type, body) => client.patch(resource, key, type, body),
    delete: (resource, key, preconditions) => client.delete(resource, key, preconditions),
    close: () => client.close(),
  };
}

async function synced() {
  const [tenant, host] = [await cluster("shop"), await cluster("vc")];
  await fill(tenant, "shop", NAMES);
  await start({ tenant, on: host, namespace: "vc" });
  await stopAll();
  return { tenant, host };
}

type Worlds = Awaited<ReturnType<typeof synced>>;

async function setAddress({ client }: Worlds["tenant"], name: string, ip: string): Promise<void> {
  const found = (await client.get(ENDPOINTS, { namespace: "shop", name })) as Endpoints;
  await client.update(ENDPOINTS, { ...found, subsets: [{ addresses: [{ ip }], ports: [{ port: 80 }] }] } as Endpoints);
}

async function addressOf({ client }: Worlds["host"], name: string): Promise<string | undefined> {
  const found = (await client.get(ENDPOINTS, hostKey(name))) as Endpoints | undefined;
  return found?.subsets?.[0]?.addresses?.[0]?.ip;
}

test.each(WAYS)("the host's list lacks the copies, %s: changes, deletions and host edits go through after seconds", async (way) => {
  const { tenant, host } = await synced();
  await setAddress(tenant, "web", "10.0.0.7");
  await tenant.client.delete(ENDPOINTS, { namespace: "shop", name: "db" });
  await start({ tenant, on: host, namespace: "vc", through: (client, side) => (side === "host" ? emptyLists(client, 1, way) : client) });
  await clock.advance(5_000);
  expect(await addressOf(host, "web")).toBe("10.0.0.7");
  expect(await host.client.get(ENDPOINTS, hostKey("db"))).toBeUndefined();

  const copy = (await host.client.get(ENDPOINTS, hostKey("cache")))!;
  const labels = { ...copy.metadata.labels, tier: "gold" };
  await host.client.update(ENDPOINTS, { ...copy, metadata: { ...copy.metadata, labels } });
  await clock.advance(1_000);
  const edited = await tenant.client.get(ENDPOINTS, { namespace: "shop", name: "cache" });
  expect(edited?.metadata.labels).toMatchObject({ tier: "gold" });
});

test.each(WAYS)("the tenant's list lacks the sources, %s: no copy is deleted, and a deleted one comes back", async (way) => {
  const { tenant, host } = await synced();
  const before = (await host.client.list(ENDPOINTS)).items.map(({ metadata }) => metadata.uid);
  await start({ tenant, on: host, namespace: "vc", through: (client, side) => (side === "tenant" ? emptyLists(client, 1, way) : client) });
  await clock.advance(5_000);
  expect((await host.client.list(ENDPOINTS)).items.map(({ metadata }) => metadata.uid)).toEqual(before);
  await host.client.delete(ENDPOINTS, hostKey("web"));
  await clock.advance(5_000);
  expect(await addressOf(host, "web")).toBe("10.0.0.1");
});

test("lists that stay incomplete are read again once a minute, and reported", async () => {
  const { tenant, host } = await synced();
  let lists = 0;
  const through = (client: ClusterClient, side: "tenant" | "host"): ClusterClient => {
    if (side === "tenant") return client;
    const empty = emptyLists(client, Number.POSITIVE_INFINITY);
    return { ...empty, list: (resource, options) => ((lists += resource === ENDPOINTS ? 1 : 0), empty.list(resource, options)) };
  };
  await setAddress(tenant, "web", "10.0.0.7");
  const syncer = await start({ tenant, on: host, namespace: "vc", through });
  await clock.advance(60_000);
  const first = lists;
  await clock.advance(5 * 60_000);
  expect(lists - first).toBeLessThanOrEqual(6);
  expect(lists - first).toBeGreaterThanOrEqual(4);
  expect(syncer.status().contradicted).toContain("endpoints|shop/web");
  const { items: events } = await tenant.client.list(EVENTS);
  expect(events.map(({ reason }) => reason)).toContain("CacheContradicted");
});

test("a copy that was deleted with its source does not come back, though the cache still has the source", async () => {
  const [tenant, host] = [await cluster("shop"), await cluster("vc")];
  await fill(tenant, "shop", NAMES);
  const through = (client: ClusterClient, side: "tenant" | "host"): ClusterClient =>
    side === "tenant" ? withoutDeletions(client) : client;
  await start({ tenant, on: host, namespace: "vc", through });
  await tenant.client.delete(ENDPOINTS, { namespace: "shop", name: "web" });
  await host.client.delete(ENDPOINTS, hostKey("web"));
  await clock.advance(1_000);
  const service = (await tenant.client.get(SERVICES, { namespace: "shop", name: "web" }))!;
  await tenant.client.update(SERVICES, { ...service, metadata: { ...service.metadata, labels: { tier: "gold" } } });
  await clock.advance(1_000);
  expect((await host.client.get(SERVICES, hostKey("web")))?.metadata.labels).toMatchObject({ tier: "gold" });
  expect(await host.client.get(ENDPOINTS, hostKey("web"))).toBeUndefined();
});

test("a copy that keeps being deleted: both clusters are listed again, because another replica may know what this one has missed", async () => {
  const { tenant, host } = await synced();
  const lists = { tenant: 0, host: 0 };
  const through = (client: ClusterClient, side: "tenant" | "host"): ClusterClient => ({
    ...emptyLists(client, 0),
    list: (resource, options) => ((lists[side] += resource === ENDPOINTS ? 1 : 0), client.list(resource, options)),
  });
  await start({ tenant, on: host, namespace: "vc", through });
  const remove = async (times: number) => {
    for (let time = 0; time < times; time += 1) {
      await host.client.delete(ENDPOINTS, hostKey("web"));
      await clock.advance(5_000);
      expect(await addressOf(host, "web")).toBe("10.0.0.1");
    }
  };
  await remove(4);
  expect(lists).toEqual({ tenant: 1, host: 1 });
  await remove(1);
  expect(lists).toEqual({ tenant: 2, host: 2 });
});

/** Hides deletions of Endpoints. */
function withoutDeletions(client: ClusterClient): ClusterClient {
  return {
    ...emptyLists(client, 0),
    async *watch(resource, options) {
      for await (const event of client.watch(resource, options)) if (resource !== ENDPOINTS || event.type !== "DELETED") yield event;
    },
  };
}
