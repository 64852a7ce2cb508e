import { describe, expect, test } from "vitest";
import type { ClusterClient } from "../../../../src/kube/object/cluster-client.ts";
import { ENDPOINTS, SERVICES, type ResourceType } from "../../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../../src/kube/object/types.ts";
import { createGoneObjects } from "../../../../src/engine/sync/run/gone-objects.ts";
import { createFakeClock } from "../../../support/fake-clock.ts";
import { clock, cluster, fill, start, useRunningSyncers } from "../running-syncers.ts";

useRunningSyncers();

const COPY = { namespace: "vc", name: "web-x-shop-x-blue" };
const SOURCE = { namespace: "shop", name: "web" };

/** Hides deletions of a kind, and counts its lists and all reads of single objects. */
function withoutDeletions(client: ClusterClient, about: ResourceType, counts: { gets: number; lists: number }): ClusterClient {
  return {
    get: (resource, key) => ((counts.gets += 1), client.get(resource, key)),
    list: (resource, options) => ((counts.lists += resource === about ? 1 : 0), client.list(resource, options)),
    async *watch(resource, options) {
      for await (const event of client.watch(resource, options)) if (resource !== about || event.type !== "DELETED") yield event;
    },
    create: (resource, object) => client.create(resource, object),
    update: (resource, object) => client.update(resource, object),
    patch: (resource, key, type, body) => client.patch(resource, key, type, body),
    delete: (resource, key, preconditions) => client.delete(resource, key, preconditions),
    close: () => client.close(),
  };
}

async function startWithout(side: "tenant" | "host", resource: ResourceType) {
  const [tenant, on] = [await cluster("shop"), await cluster("vc")];
  const counts = { gets: 0, lists: 0 };
  await fill(tenant, "shop", ["web"]);
  const through = (client: ClusterClient, of: "tenant" | "host") => (of === side ? withoutDeletions(client, resource, counts) : client);
  await start({ tenant, on, namespace: "vc", settings: { backends: "endpoints" }, through });
  Object.assign(counts, { gets: 0, lists: 0 });
  return { tenant, on, counts };
}

describe("a cluster says that an object is gone which a cache still has", () => {
  test("the cache is listed again, and a host Service comes back within seconds", async () => {
    const { on, counts } = await startWithout("host", SERVICES);
    await on.client.delete(SERVICES, COPY);
    await on.client.delete(ENDPOINTS, COPY);
    await clock.advance(10_000);
    expect([await on.client.get(SERVICES, COPY), await on.client.get(ENDPOINTS, COPY)].map((object) => object?.kind)).toEqual([
      "Service",
      "Endpoints",
    ]);
    expect(counts.lists).toBe(1);
  });

  test("a host Service comes back, too, if the Endpoints change meanwhile", async () => {
    const { tenant, on } = await startWithout("host", SERVICES);
    await on.client.delete(SERVICES, COPY);
    await on.client.delete(ENDPOINTS, COPY);
    await clock.advance(2_000);
    await tenant.client.patch(ENDPOINTS, SOURCE, "merge", { metadata: { annotations: { changed: "yes" } } });
    await clock.advance(10_000);
    expect((await on.client.get(SERVICES, COPY))?.kind).toBe("Service");
  });

  test("the cluster is not asked again and again until the next periodic list", async () => {
    const { tenant, on, counts } = await startWithout("tenant", ENDPOINTS);
    await tenant.client.delete(ENDPOINTS, SOURCE);
    await on.client.delete(ENDPOINTS, COPY);
    await clock.advance(10 * 60_000);
    expect(counts.lists).toBe(1);
    expect(counts.gets).toBeLessThanOrEqual(10);
  });
});

test("a cache that shows the deletion before the next question, or another object of the name by then, is not doubted", async () => {
  const fakeClock = createFakeClock();
  const objectOf = (uid: string): KubeObject => ({ apiVersion: "v1", kind: "Service", metadata: { ...COPY, uid } });
  const doubted: string[] = [];
  let cached: KubeObject | undefined = objectOf("first");
  const gone = createGoneObjects({
    clock: fakeClock,
    cached: () => cached,
    doubt: ({ object }) => void doubted.push(object.metadata.uid!),
  });
  const at = async (ms: number, now: KubeObject | undefined) => {
    cached = objectOf("first");
    gone.look("endpoints|shop/web", [{ side: "host", resource: SERVICES, object: cached }]);
    await fakeClock.advance(ms);
    cached = now;
    gone.check("endpoints|shop/web");
    return doubted.splice(0);
  };
  expect(await at(5_000, undefined)).toEqual([]);
  expect(await at(5_000, objectOf("second"))).toEqual([]);
  expect(await at(1_000, objectOf("first"))).toEqual([]);
  expect(await at(5_000, objectOf("first"))).toEqual(["first"]);
});
