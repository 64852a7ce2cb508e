/** The setting `backends`, between clusters that mirror. */
import { describe, expect, test } from "vitest";
import type { EmbeddedCluster } from "../../../../src/cluster/cluster.ts";
import { viewOfSlices } from "../../../../src/kube/object/endpoints/reader-view.ts";
import type { ClusterClient } from "../../../../src/kube/object/cluster-client.ts";
import { SERVICE_NAME } from "../../../../src/engine/kinds/slice-labels.ts";
import { keyOf } from "../../../../src/kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES, type ResourceType } from "../../../../src/kube/object/resource.ts";
import type { EndpointSlice } from "../../../../src/kube/object/types.ts";
import { clock, cluster, fill, start, stopAll, useRunningSyncers } from "../running-syncers.ts";

useRunningSyncers();

/** A client that notes the side, verb and kind of each request. */
function logging(requests: string[]) {
  return (client: ClusterClient, side: string): ClusterClient =>
    new Proxy(client, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        return (resource: ResourceType, ...rest: unknown[]) => {
          requests.push(`${side} ${String(name)} ${resource.plural}`);
          return (value as (...args: unknown[]) => unknown).call(target, resource, ...rest);
        };
      },
    });
}

async function slicesIn({ client }: EmbeddedCluster): Promise<readonly EndpointSlice[]> {
  return (await client.list(ENDPOINT_SLICES, { namespace: "vc" })).items as readonly EndpointSlice[];
}

/** What readers on the host see, and by how many slices of which makers. */
async function seen(host: EmbeddedCluster) {
  const slices = await slicesIn(host);
  const makers = slices.map(({ metadata }) => metadata.labels?.["endpointslice.kubernetes.io/managed-by"]).sort();
  return { addresses: [...viewOfSlices(slices).values()].map(({ address }) => address), makers };
}

const OURS = "endpoint-sync.sync.platform";
const MIRROR = "endpointslicemirroring-controller.k8s.io";

async function filled(): Promise<{ tenant: EmbeddedCluster; on: EmbeddedCluster; namespace: string }> {
  const sides = { tenant: await cluster("shop"), on: await cluster("vc"), namespace: "vc" };
  await fill(sides.tenant, "shop", ["web"]);
  await sides.tenant.settled();
  return sides;
}

describe("slices alone", () => {
  test("have host Services and backends, and do not ask for Endpoints", async () => {
    const requests: string[] = [];
    const sides = await filled();
    await start({ ...sides, settings: { backends: "slices" }, through: logging(requests) });
    expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.1"], makers: [OURS] });
    expect((await sides.on.client.list(SERVICES, { namespace: "vc" })).items).toHaveLength(1);
    expect((await sides.on.client.list(ENDPOINTS, { namespace: "vc" })).items).toHaveLength(0);
    expect([...new Set(requests.map((one) => one.replace(/ \w+ /, " ")))].sort()).toEqual([
      "host endpointslices",
      "host namespaces",
      "host services",
      "tenant endpointslices",
      "tenant namespaces",
      "tenant services",
    ]);
  });

  test("make no request for Endpoints in a whole life", async () => {
    const requests: string[] = [];
    const sides = { ...(await filled()), settings: { backends: "slices" } as const, through: logging(requests) };
    await fill(sides.tenant, "shop", ["api"]);
    await sides.tenant.settled();
    const { client: host } = sides.on;
    const { client: tenant } = sides.tenant;
    const web = { namespace: "shop", name: "web" };
    const copy = async () => keyOf((await slicesIn(sides.on)).find(({ metadata }) => metadata.labels?.[SERVICE_NAME]?.startsWith("web"))!);
    const steps: Readonly<Record<string, () => Promise<unknown>>> = {
      start: () => start(sides),
      "change of backends": () =>
        tenant.patch(ENDPOINTS, web, "merge", { subsets: [{ addresses: [{ ip: "10.0.0.2" }], ports: [{ port: 80 }] }] }),
      "change of the Service": () => tenant.patch(SERVICES, web, "merge", { metadata: { labels: { team: "shop" } } }),
      "host edit of a slice": async () => host.patch(ENDPOINT_SLICES, await copy(), "merge", { endpoints: [] }),
      "host edit of the labels": async () => host.patch(ENDPOINT_SLICES, await copy(), "merge", { metadata: { labels: { "sync.platform/managed-by": null } } }), // prettier-ignore
      "deleted copy": async () => host.delete(ENDPOINT_SLICES, await copy()),
      restart: async () => {
        await stopAll();
        await start(sides);
      },
      "deleted Endpoints": () => tenant.delete(ENDPOINTS, { namespace: "shop", name: "api" }),
      "deleted Service": () => tenant.delete(SERVICES, { namespace: "shop", name: "api" }),
    };
    for (const [what, step] of Object.entries(steps)) {
      requests.length = 0;
      await step();
      await sides.tenant.settled();
      await clock.advance(5_000);
      // The step has reached the syncer, so that there was something to ask for.
      expect({ what, some: requests.length > 0 }).toEqual({ what, some: true });
      expect({ what, endpoints: requests.filter((one) => one.endsWith(" endpoints")) }).toEqual({ what, endpoints: [] });
    }
    expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.2"], makers: [OURS] });
    requests.length = 0;
    await clock.advance(60_000);
    expect(requests.filter((one) => one.endsWith(" endpoints"))).toEqual([]);
    expect(requests.filter((one) => !/ (list|watch) /.test(one))).toEqual([]);
  });

  test("follow the tenant", async () => {
    const sides = await filled();
    await start({ ...sides, settings: { backends: "slices" } });
    const subsets = [{ addresses: [{ ip: "10.0.0.2" }], ports: [{ port: 80 }] }];
    await sides.tenant.client.patch(ENDPOINTS, { namespace: "shop", name: "web" }, "merge", { subsets });
    await sides.tenant.settled();
    await clock.advance(5_000);
    expect((await seen(sides.on)).addresses).toEqual(["10.0.0.2"]);
  });

  test("do not begin while the host mirrors copies of Endpoints, and say how to get there", async () => {
    const sides = await filled();
    await start(sides);
    await sides.on.settled();
    expect((await seen(sides.on)).makers).toEqual([MIRROR]);
    await stopAll();
    await expect(start({ ...sides, settings: { backends: "slices" } })).rejects.toMatchObject({
      code: "CONFIG_VALUE",
      message: "Cannot write slices only: the host still has slices made from 1 copy of Endpoints: vc/web-x-shop-x-blue",
      details: { hint: expect.stringContaining("backends: both") as string },
    });
    expect((await seen(sides.on)).makers).toEqual([MIRROR]);
  });

  test("are reached by way of both without a moment in which backends are missing", async () => {
    const sides = await filled();
    await start(sides);
    await sides.on.settled();
    const fewest: number[] = [];
    const look = async () => fewest.push((await seen(sides.on)).addresses.length);
    await stopAll();
    await start({
      ...sides,
      settings: { backends: "both" },
      through: (client, side) =>
        side === "tenant"
          ? client
          : new Proxy(client, {
              get(target, name) {
                const value: unknown = Reflect.get(target, name);
                if (typeof value !== "function") return value;
                if (!["create", "update", "delete"].includes(String(name))) return value.bind(target) as unknown;
                return async (...args: unknown[]) => {
                  const answer: unknown = await (value as (...args: unknown[]) => unknown).apply(target, args);
                  await sides.on.settled();
                  await look();
                  return answer;
                };
              },
            }),
    });
    await sides.on.settled();
    expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.1"], makers: [OURS] });
    expect(Math.min(...fewest)).toBe(1);
    await stopAll();
    await start({ ...sides, settings: { backends: "slices" } });
    expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.1"], makers: [OURS] });
  });
});

test("both are copies of either kind", async () => {
  const sides = await filled();
  await start({ ...sides, settings: { backends: "both" } });
  await sides.on.settled();
  expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.1"], makers: [OURS] });
  const [copy] = (await sides.on.client.list(ENDPOINTS, { namespace: "vc" })).items;
  expect(copy?.metadata.labels?.["endpointslice.kubernetes.io/skip-mirror"]).toBe("true");
});
