/** The setting `backends: auto`, between clusters whose controllers work or do not. */
import { describe, expect, test } from "vitest";
import type { EmbeddedCluster } from "../../../../src/cluster/cluster.ts";
import { viewOfSlices } from "../../../../src/kube/object/endpoints/reader-view.ts";
import type { ClusterClient } from "../../../../src/kube/object/cluster-client.ts";
import { ENDPOINT_SLICES, ENDPOINTS } from "../../../../src/kube/object/resource.ts";
import type { EndpointSubset } from "../../../../src/kube/object/types.ts";
import { clock, cluster, clusterWith, fill, start, stopAll, useRunningSyncers } from "../running-syncers.ts";
import {
  AUTO,
  copyIn,
  ips,
  MANAGER,
  MIRROR,
  NAME,
  OURS,
  ownSlice,
  seen,
  sidesWith,
  SKIP,
  slicesIn,
  watching,
  write,
} from "./seen-backends.ts";

useRunningSyncers();

describe("the host's mirror", () => {
  test("is left to work where it does, and each change is one write", async () => {
    const sides = await sidesWith(true, true);
    await fill(sides.tenant, "shop", ["web"]);
    const views: (readonly string[])[] = [];
    await start({ ...sides, settings: AUTO, through: watching(sides.on, views) });
    expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.1"], makers: [MIRROR] });
    expect((await copyIn(sides.on))?.metadata.labels?.[SKIP]).toBeUndefined();
    // A Service and its Endpoints.
    expect(views).toHaveLength(2);
    views.length = 0;
    const changes = [ips(3), ips(2, 1), ips(120)];
    for (const addresses of changes) {
      await write(sides.tenant, [{ addresses, ports: [{ port: 80 }] }]);
      await clock.advance(20_000);
    }
    expect(views).toEqual(changes.map((addresses) => addresses.map(({ ip }) => ip).sort()));
    expect((await seen(sides.on)).makers).toEqual([MIRROR]);
  });

  test("is missed after a moment where it does not work, and then at once", async () => {
    const sides = await sidesWith(true, false);
    await fill(sides.tenant, "shop", ["web"]);
    const views: (readonly string[])[] = [];
    await start({ ...sides, settings: AUTO, through: watching(sides.on, views) });
    expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.1"], makers: [OURS] });
    expect((await copyIn(sides.on))?.metadata.labels?.[SKIP]).toBe("true");
    views.length = 0;
    await fill(sides.tenant, "shop", ["api"]);
    await clock.advance(500);
    const slices = await slicesIn(sides.on);
    expect(slices.map(({ metadata }) => metadata.labels?.["kubernetes.io/service-name"]).sort()).toEqual(["api-x-shop-x-blue", NAME]);
    // Service, Endpoints and one slice.
    expect(views).toHaveLength(3);
  });

  test("is taken over from where it would cut, and no backend is missing meanwhile", async () => {
    const sides = await sidesWith(true, true);
    await fill(sides.tenant, "shop", ["web"]);
    await write(sides.tenant, [{ addresses: ips(10), ports: [{ port: 80 }] }]);
    const views: (readonly string[])[] = [];
    await start({ ...sides, settings: AUTO, through: watching(sides.on, views) });
    expect((await seen(sides.on)).makers).toEqual([MIRROR]);
    views.length = 0;
    await write(sides.tenant, [{ addresses: ips(1_001), ports: [{ port: 80 }] }]);
    await clock.advance(10_000);
    expect((await seen(sides.on)).makers).toEqual([OURS]);
    for (const view of views) expect(view).toEqual(expect.arrayContaining(ips(10).map(({ ip }) => ip)));
    // Endpoints, eleven slices, and Endpoints with the label.
    expect(views).toHaveLength(13);
  });

  test("that stops in the middle leaves nothing behind, and no backend is missing", async () => {
    const sides = await sidesWith(true, true);
    await fill(sides.tenant, "shop", ["web"]);
    await start({ ...sides, settings: AUTO });
    await sides.on.controllers.stop("endpointslice-mirroring-controller");
    const views: (readonly string[])[] = [];
    await stopAll();
    await write(sides.tenant, [{ addresses: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }], ports: [{ port: 80 }] }]);
    await start({ ...sides, settings: AUTO, through: watching(sides.on, views) });
    await clock.advance(20_000);
    expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.1", "10.0.0.2"], makers: [OURS] });
    for (const view of views) expect(view).toContain("10.0.0.1");
  });

  test("that missed its time does not get it twice: what it left goes once what replaces it is there", async () => {
    const sides = await sidesWith(true, true);
    await fill(sides.tenant, "shop", ["web"]);
    await start({ ...sides, settings: AUTO });
    await sides.on.controllers.stop("endpointslice-mirroring-controller");
    await write(sides.tenant, [{ addresses: [{ ip: "10.0.0.2" }], ports: [{ port: 80 }] }]);
    await clock.advance(2_000);
    expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.1"], makers: [MIRROR] });
    await clock.advance(1_500);
    expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.2"], makers: [OURS] });
  });
});

describe("slices that are made", () => {
  async function made(
    subsets: readonly EndpointSubset[],
  ): Promise<{ tenant: EmbeddedCluster; on: EmbeddedCluster; views: (readonly string[])[] }> {
    const sides = await sidesWith(false, false);
    await fill(sides.tenant, "shop", ["web"]);
    await write(sides.tenant, subsets);
    const views: (readonly string[])[] = [];
    await start({ ...sides, settings: AUTO, through: watching(sides.on, views) });
    views.length = 0;
    return { ...sides, views };
  }

  test.each([1_000, 1_001, 6_000])("show %i addresses, whatever a mirror does", async (count) => {
    const sides = await sidesWith(true, count > 1_000);
    await fill(sides.tenant, "shop", ["web"]);
    await write(sides.tenant, [{ addresses: ips(count), ports: [{ port: 80 }] }]);
    await start({ ...sides, settings: AUTO });
    await clock.advance(10_000);
    const { addresses, makers } = await seen(sides.on);
    expect(addresses).toHaveLength(count);
    expect(makers).toEqual([OURS]);
  });

  test("keep both families through every change", async () => {
    const both = [{ ip: "10.0.0.1" }, { ip: "fd00::1" }];
    const { tenant, on, views } = await made([{ addresses: both, ports: [{ port: 80 }] }]);
    expect((await seen(on)).addresses).toEqual(["10.0.0.1", "fd00::1"]);
    for (const ip of ["10.0.0.2", "10.0.0.3"]) {
      await write(tenant, [{ addresses: [...both, { ip }], ports: [{ port: 80 }] }]);
      await clock.advance(1_000);
      expect((await seen(on)).addresses).toEqual(["10.0.0.1", ip, "fd00::1"]);
    }
    for (const view of views) expect(view).toEqual(expect.arrayContaining(["10.0.0.1", "fd00::1"]));
    // Each change is one write of Endpoints and one of a slice.
    expect(views).toHaveLength(4);
  });

  test("are written no more than they differ", async () => {
    const { tenant, on, views } = await made([{ addresses: ips(250), ports: [{ port: 80 }] }]);
    expect(await slicesIn(on)).toHaveLength(3);
    await write(tenant, [{ addresses: ips(250, 1), ports: [{ port: 80 }] }]);
    await clock.advance(1_000);
    expect(views).toHaveLength(2);
    for (const view of views) expect(view.length).toBeGreaterThanOrEqual(250);
  });

  test("are new under other ports before the old ones go", async () => {
    const { tenant, on, views } = await made([{ addresses: ips(2), ports: [{ port: 80 }] }]);
    await write(tenant, [{ addresses: ips(2), ports: [{ port: 81 }] }]);
    await clock.advance(2_000);
    expect((await slicesIn(on)).flatMap(({ ports }) => ports?.map(({ port }) => port))).toEqual([81]);
    for (const view of views) expect(new Set(view)).toEqual(new Set(ips(2).map(({ ip }) => ip)));
  });

  test("take what others do to them back", async () => {
    const { on } = await made([{ addresses: ips(1), ports: [{ port: 80 }] }]);
    const [before] = await slicesIn(on);
    const edits: Record<string, unknown>[] = [
      { metadata: { labels: { [MANAGER]: "somebody" } } },
      { metadata: { labels: { "kubernetes.io/service-name": "another" } } },
      { metadata: { labels: { "sync.platform/managed-by": null } } },
      { metadata: { labels: { extra: "yes" }, annotations: { more: "yes" } } },
      { endpoints: [{ addresses: ["10.9.9.9"] }] },
      { ports: [] },
    ];
    for (const edit of edits) {
      await on.client.patch(ENDPOINT_SLICES, { namespace: "vc", name: before!.metadata.name! }, "merge", edit);
      await clock.advance(2_000);
      const slices = await slicesIn(on);
      expect(
        slices.map(({ metadata: { name, labels, annotations }, endpoints, ports }) => ({ name, labels, annotations, endpoints, ports })),
      ).toEqual([
        {
          name: before!.metadata.name,
          labels: before!.metadata.labels,
          annotations: before!.metadata.annotations,
          endpoints: before!.endpoints,
          ports: before!.ports,
        },
      ]);
    }
    await on.client.delete(ENDPOINT_SLICES, { namespace: "vc", name: before!.metadata.name! });
    await clock.advance(2_000);
    expect(await slicesIn(on)).toHaveLength(1);
  });

  test("go with their Endpoints, also where no controller collects what has no owner", async () => {
    const sides = {
      tenant: await cluster("shop"),
      on: await clusterWith({ controllers: ["*", "-endpointslice-mirroring-controller", "-garbage-collector-controller"] }, "vc"),
    };
    await fill(sides.tenant, "shop", ["web", "api"]);
    await start({ ...sides, namespace: "vc", settings: AUTO });
    expect(await slicesIn(sides.on)).toHaveLength(2);
    await sides.tenant.client.delete(ENDPOINTS, { namespace: "shop", name: "web" });
    await clock.advance(10_000);
    expect(await slicesIn(sides.on)).toHaveLength(1);
    // And what went unobserved.
    await stopAll();
    await sides.tenant.client.delete(ENDPOINTS, { namespace: "shop", name: "api" });
    await start({ ...sides, namespace: "vc", settings: AUTO });
    await clock.advance(10_000);
    expect(await slicesIn(sides.on)).toHaveLength(0);
  });

  test("are still served while a deleted copy is missing", async () => {
    const sides = {
      tenant: await cluster("shop"),
      on: await clusterWith({ controllers: ["*", "-endpointslice-mirroring-controller", "-garbage-collector-controller"] }, "vc"),
    };
    await fill(sides.tenant, "shop", ["web"]);
    const views: (readonly string[])[] = [];
    await start({ ...sides, namespace: "vc", settings: AUTO, through: watching(sides.on, views) });
    views.length = 0;
    await sides.on.client.delete(ENDPOINTS, { namespace: "vc", name: NAME });
    await clock.advance(10_000);
    // The copy with the label, and the slice that belongs to it now.
    expect(views).toEqual([["10.0.0.1"], ["10.0.0.1"]]);
    const copy = await copyIn(sides.on);
    expect(copy?.metadata.labels?.[SKIP]).toBe("true");
    expect((await slicesIn(sides.on)).map(({ metadata }) => metadata.ownerReferences?.[0]?.uid)).toEqual([copy?.metadata.uid]);
  });

  test("stay when something else has taken the place of the copy, until their Endpoints go", async () => {
    const sides = {
      tenant: await cluster("shop"),
      on: await clusterWith({ controllers: ["*", "-endpointslice-mirroring-controller", "-garbage-collector-controller"] }, "vc"),
    };
    await fill(sides.tenant, "shop", ["web"]);
    await start({ ...sides, namespace: "vc", settings: AUTO });
    await stopAll();
    const metadata = { namespace: "vc", name: NAME };
    await sides.on.client.delete(ENDPOINTS, metadata);
    await sides.on.client.create(ENDPOINTS, { apiVersion: "v1", kind: "Endpoints", metadata, subsets: [] } as never);
    await start({ ...sides, namespace: "vc", settings: AUTO });
    await clock.advance(30_000);
    expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.1"], makers: [OURS] });
    await sides.tenant.client.delete(ENDPOINTS, { namespace: "shop", name: "web" });
    await clock.advance(10_000);
    expect(await slicesIn(sides.on)).toEqual([]);
  });

  test("are made of no copy whose name no Service can have", async () => {
    const tenant = await clusterWith({ controllers: ["*", "-endpointslice-mirroring-controller"] }, "shop");
    const on = await clusterWith({ controllers: ["*", "-endpointslice-mirroring-controller"] }, "vc", "shop-host");
    await fill(tenant, "shop", ["web"]);
    const subsets = [{ addresses: ips(1), ports: [{ port: 80 }] }];
    const metadata = { namespace: "shop", name: "a".repeat(64) };
    await tenant.client.create(ENDPOINTS, { apiVersion: "v1", kind: "Endpoints", metadata, subsets } as never);
    let refused = 0;
    const counting = (client: ClusterClient): ClusterClient =>
      new Proxy(client, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name);
          if (typeof value !== "function") return value;
          if (name !== "create") return value.bind(target) as unknown;
          return (...args: unknown[]) =>
            (value as (...args: unknown[]) => Promise<unknown>).apply(target, args).catch((error: unknown) => {
              refused += 1;
              throw error;
            });
        },
      });
    await start({ tenant, on, namespace: "vc", mapped: { shop: "shop-host" }, settings: AUTO, through: counting });
    await clock.advance(10_000);
    expect((await on.client.list(ENDPOINTS, { namespace: "shop-host" })).items).toHaveLength(2);
    expect(await slicesIn(on, "shop-host")).toHaveLength(1);
    expect(refused).toBe(0);
  });

  test("stay as they are through a restart, and cost no write at rest", async () => {
    const sides = await made([{ addresses: ips(150), ports: [{ port: 80 }] }]);
    const before = await slicesIn(sides.on);
    await stopAll();
    const views: (readonly string[])[] = [];
    await start({ ...sides, namespace: "vc", settings: AUTO, through: watching(sides.on, views) });
    await clock.advance(60_000);
    expect(views).toEqual([]);
    expect(await slicesIn(sides.on)).toEqual(before);
  });

  test("give way to a slice of the tenant that has their name", async () => {
    const tenant = await clusterWith({ controllers: ["*", "-endpointslice-mirroring-controller"] }, "shop");
    const on = await clusterWith({ controllers: ["*", "-endpointslice-mirroring-controller"] }, "vc", "shop-host");
    await fill(tenant, "shop", ["web"]);
    const mapped = { shop: "shop-host" };
    await start({ tenant, on, namespace: "vc", mapped, settings: AUTO });
    const [before] = await slicesIn(on, "shop-host");
    const views: (readonly string[])[] = [];
    await tenant.client.create(ENDPOINT_SLICES, { ...ownSlice(before!.metadata.name!, ["10.5.0.1"]) });
    for (let times = 0; times < 20; times += 1) {
      await clock.advance(500);
      views.push([...viewOfSlices(await slicesIn(on, "shop-host")).values()].map(({ address }) => address).sort());
    }
    expect(views.at(-1)).toEqual(["10.0.0.1", "10.5.0.1"]);
    for (const view of views) expect(view).toContain("10.0.0.1");
    expect(await slicesIn(on, "shop-host")).toHaveLength(2);
  });
});
