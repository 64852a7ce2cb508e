/** `backends: auto` while Endpoints of another owner are in the place of a copy. */
import { describe, expect, test } from "vitest";
import type { EmbeddedCluster } from "../../../../src/cluster/cluster.ts";
import { ENDPOINT_SLICES, ENDPOINTS } from "../../../../src/kube/object/resource.ts";
import type { EndpointSubset } from "../../../../src/kube/object/types.ts";
import { clock, cluster, clusterWith, fill, start, stopAll, useRunningSyncers } from "../running-syncers.ts";
import {
  AUTO,
  copyIn,
  HTTP,
  ips,
  MANAGER,
  MIRROR,
  NAME,
  OURS,
  ownSlice,
  seen,
  sidesWith,
  slicesIn,
  watching,
  write,
} from "./seen-backends.ts";

useRunningSyncers();

const PLACE = { namespace: "vc", name: NAME };
const WEB = { namespace: "shop", name: "web" };

/** Endpoints of another owner in the place of the copy. */
function take({ client }: EmbeddedCluster, subsets: readonly EndpointSubset[] = []): Promise<unknown> {
  return client.create(ENDPOINTS, { apiVersion: "v1", kind: "Endpoints", metadata: PLACE, subsets } as never);
}

/** The addresses that take traffic, from the slices on the host. */
async function ready(on: EmbeddedCluster): Promise<(string | undefined)[]> {
  const endpoints = (await slicesIn(on)).flatMap((slice) => slice.endpoints ?? []);
  return endpoints.flatMap(({ addresses, conditions }) => (conditions?.ready === false ? [] : [addresses?.[0]])).sort();
}

/** Which of the tenant's objects the slices on the host were made from. */
async function sources(on: EmbeddedCluster) {
  return (await slicesIn(on)).map(({ metadata }) => metadata.annotations?.["sync.platform/object-kind"]).sort();
}

describe("on the way from both kinds, copies of the tenant's slices", () => {
  test.each([true, false])("stay and follow the tenant until there is a copy again; the host mirrors: %s", async (hostMirrors) => {
    const sides = await sidesWith(true, hostMirrors);
    await fill(sides.tenant, "shop", ["web"]);
    await take(sides.on);
    await start({ ...sides, settings: { backends: "both" } });
    expect((await seen(sides.on)).addresses).toEqual(["10.0.0.1"]);
    await stopAll();
    const views: (readonly string[])[] = [];
    await start({ ...sides, settings: AUTO, through: watching(sides.on, views) });
    await clock.advance(30_000);
    expect((await seen(sides.on)).addresses).toEqual(["10.0.0.1"]);
    // With other ports, the tenant's mirror makes another slice.
    await write(sides.tenant, [{ addresses: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }], ports: [{ port: 81 }] }]);
    await clock.advance(30_000);
    expect((await seen(sides.on)).addresses).toEqual(["10.0.0.1", "10.0.0.2"]);
    expect((await slicesIn(sides.on)).flatMap(({ ports }) => ports?.map(({ port }) => port))).toEqual([81]);
    await stopAll();
    await start({ ...sides, settings: AUTO, through: watching(sides.on, views) });
    await clock.advance(30_000);
    await sides.on.client.delete(ENDPOINTS, PLACE);
    await clock.advance(30_000);
    expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.1", "10.0.0.2"], makers: [hostMirrors ? MIRROR : OURS] });
    expect(await sources(sides.on)).toEqual(["v1/Endpoints"]);
    expect(views.length).toBeGreaterThan(0);
    for (const view of views) expect(view).toContain("10.0.0.1");
  });

  test.each([{ patches: undefined }, { patches: [{ path: "metadata.labels.team", expression: '"x"' }] }])(
    "stay also if they were made from Pods, with patches of endpoints: $patches",
    async ({ patches }) => {
      const tenant = await clusterWith({ controllers: ["*", "-endpointslice-controller", "-endpointslice-mirroring-controller"] }, "shop");
      const sides = { tenant, on: await cluster("vc"), namespace: "vc", toHost: patches && { endpoints: { patches } } };
      await fill(tenant, "shop", ["web"]);
      await tenant.client.create(ENDPOINT_SLICES, ownSlice("web-4", ["10.0.0.1"], { [MANAGER]: "endpointslice-controller.k8s.io" }));
      await take(sides.on);
      await start({ ...sides, settings: { backends: "both" } } as never);
      await stopAll();
      const views: (readonly string[])[] = [];
      await start({ ...sides, settings: AUTO, through: watching(sides.on, views) } as never);
      await clock.advance(30_000);
      expect((await seen(sides.on)).addresses).toEqual(["10.0.0.1"]);
      for (const view of views) expect(view).toContain("10.0.0.1");
    },
  );

  test("stay as they are while the Endpoints are paused", async () => {
    const sides = await sidesWith(true, true);
    await fill(sides.tenant, "shop", ["web"]);
    await take(sides.on);
    await start({ ...sides, settings: { backends: "both" } });
    // Slices of a mirror that works are paused too.
    await sides.tenant.controllers.stop("endpointslice-mirroring-controller");
    await sides.tenant.client.patch(ENDPOINTS, WEB, "merge", { metadata: { annotations: { "sync.platform/pause": "true" } } });
    await clock.advance(5_000);
    await stopAll();
    await start({ ...sides, settings: AUTO });
    await clock.advance(30_000);
    expect((await seen(sides.on)).addresses).toEqual(["10.0.0.1"]);
  });

  test("go with their Endpoints", async () => {
    const sides = await sidesWith(true, true);
    await fill(sides.tenant, "shop", ["web"]);
    await take(sides.on);
    await start({ ...sides, settings: { backends: "both" } });
    await stopAll();
    await start({ ...sides, settings: AUTO });
    await sides.tenant.client.delete(ENDPOINTS, WEB);
    await clock.advance(30_000);
    expect(await slicesIn(sides.on)).toEqual([]);
  });

  test("go where the host mirrors the same backends from the other Endpoints, and no others appear", async () => {
    const sides = await sidesWith(true, true);
    await fill(sides.tenant, "shop", ["web"]);
    await take(sides.on, [{ addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] }]);
    await start({ ...sides, settings: { backends: "both" } });
    expect((await seen(sides.on)).makers).toEqual([OURS, MIRROR]);
    await stopAll();
    const views: (readonly string[])[] = [];
    await start({ ...sides, settings: AUTO, through: watching(sides.on, views) });
    expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.1"], makers: [MIRROR] });
    await write(sides.tenant, [{ addresses: ips(3), ports: HTTP }]);
    await clock.advance(30_000);
    expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.1"], makers: [MIRROR] });
    expect(views).toEqual([["10.0.0.1"]]);
  });
});

test("copies of the tenant's slices do not appear where none were", async () => {
  const sides = await sidesWith(true, true);
  await fill(sides.tenant, "shop", ["web"]);
  await take(sides.on);
  await start({ ...sides, settings: AUTO });
  await clock.advance(30_000);
  expect(await slicesIn(sides.on)).toEqual([]);
});

describe("slices that were made from a copy", () => {
  test("stay while it has lost its markers, without backends that the tenant no longer has", async () => {
    const sides = await sidesWith(true, false);
    await fill(sides.tenant, "shop", ["web"]);
    await write(sides.tenant, [{ addresses: ips(3), ports: [{ port: 80 }] }]);
    const views: (readonly string[])[] = [];
    await start({ ...sides, settings: AUTO, through: watching(sides.on, views) });
    views.length = 0;
    const mark = (uid: string | null) =>
      sides.on.client.patch(ENDPOINTS, PLACE, "merge", { metadata: { annotations: { "sync.platform/object-uid": uid } } });
    const uid = (await copyIn(sides.on))!.metadata.annotations!["sync.platform/object-uid"]!;
    await mark(null);
    await clock.advance(30_000);
    expect(await seen(sides.on)).toEqual({ addresses: ips(3).map(({ ip }) => ip), makers: [OURS] });
    const [first, second] = ips(2);
    await write(sides.tenant, [{ addresses: [first!], notReadyAddresses: [second!, { ip: "10.9.9.9" }], ports: [{ port: 80 }] }]);
    await clock.advance(30_000);
    expect(await ready(sides.on)).toEqual([first!.ip]);
    // A backend that is ready again is used again.
    await write(sides.tenant, [{ addresses: [first!, second!], ports: [{ port: 80 }] }]);
    await clock.advance(30_000);
    expect(await ready(sides.on)).toEqual([first!.ip, second!.ip]);
    await mark(uid);
    await clock.advance(30_000);
    expect(await ready(sides.on)).toEqual([first!.ip, second!.ip]);
    expect(views.length).toBeGreaterThan(0);
    for (const view of views) expect(view).toContain(first!.ip);
  });

  test.each([
    {
      what: "addresses, with a patch of metadata",
      patches: [{ path: "metadata.labels.team", expression: '"x"' }],
      ip: "10.8.8.8",
      port: 80,
    },
    { what: "ports", patches: undefined, ip: ips(1)[0]!.ip, port: 81 },
  ])("show nothing that is gone once the tenant changes $what", async ({ patches, ip, port }) => {
    const sides = { ...(await sidesWith(true, false)), toHost: patches && { endpoints: { patches } } };
    await fill(sides.tenant, "shop", ["web"]);
    await write(sides.tenant, [{ addresses: ips(1), ports: [{ port: 80 }] }]);
    await start({ ...sides, settings: AUTO } as never);
    expect(await ready(sides.on)).toEqual([ips(1)[0]!.ip]);
    await sides.on.client.patch(ENDPOINTS, PLACE, "merge", { metadata: { annotations: { "sync.platform/object-uid": null } } });
    await clock.advance(30_000);
    await write(sides.tenant, [{ addresses: [{ ip }], ports: [{ port }] }]);
    await clock.advance(30_000);
    expect(await ready(sides.on)).toEqual([]);
  });

  test("go with a copy that is deleted, because the host's garbage collector removes what it owns", async () => {
    const sides = await sidesWith(true, false);
    await fill(sides.tenant, "shop", ["web"]);
    await write(sides.tenant, [{ addresses: ips(3), ports: [{ port: 80 }] }]);
    await start({ ...sides, settings: AUTO });
    expect(await ready(sides.on)).toHaveLength(3);
    await stopAll();
    await sides.on.client.delete(ENDPOINTS, PLACE);
    await take(sides.on);
    await start({ ...sides, settings: AUTO });
    await clock.advance(30_000);
    expect(await slicesIn(sides.on)).toEqual([]);
  });
});
