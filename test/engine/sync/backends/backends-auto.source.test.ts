/** What is copied with `backends: auto`: the tenant's slices, its Endpoints, or both. */
import { describe, expect, test } from "vitest";
import { PODS } from "../../../../src/cluster/kinds/pods.ts";
import { EngineError } from "../../../../src/base/errors.ts";
import type { ClusterClient } from "../../../../src/kube/object/cluster-client.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from "../../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../../src/kube/object/types.ts";
import { clock, clusterWith, fill, start, stopAll, useRunningSyncers } from "../running-syncers.ts";
import {
  AUTO,
  copyIn,
  HTTP,
  ips,
  MANAGER,
  MIRROR,
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

describe("the source", () => {
  test("are the tenant's own slices beside its Endpoints", async () => {
    const sides = await sidesWith(true, true);
    await fill(sides.tenant, "shop", ["web"]);
    await sides.tenant.client.create(ENDPOINT_SLICES, ownSlice("web-own", ["10.5.0.1"]));
    await start({ ...sides, settings: AUTO });
    await clock.advance(10_000);
    expect((await seen(sides.on)).addresses).toEqual(["10.0.0.1", "10.5.0.1"]);
  });

  test("are slices alone, and Endpoints with no addresses do not hide them", async () => {
    const sides = await sidesWith(true, false);
    await fill(sides.tenant, "shop", ["web"]);
    await write(sides.tenant, []);
    await sides.tenant.client.create(ENDPOINT_SLICES, ownSlice("web-own", ["10.5.0.1"]));
    await start({ ...sides, settings: AUTO });
    await clock.advance(10_000);
    expect(await seen(sides.on)).toEqual({ addresses: ["10.5.0.1"], makers: [OURS] });
  });

  test("are Endpoints although there is no host Service yet at a start, so that each object is written once", async () => {
    const sides = {
      ...(await sidesWith(true, true)),
      tenant: await clusterWith({ controllers: ["*", "-endpointslice-controller", "-endpointslice-mirroring-controller"] }, "shop"),
    };
    await fill(sides.tenant, "shop", ["web"]);
    const derived = { [MANAGER]: "endpointslice-controller.k8s.io" };
    await sides.tenant.client.create(ENDPOINT_SLICES, ownSlice("web-4", ["10.0.0.1"], derived));
    const views: (readonly string[])[] = [];
    const written: string[] = [];
    const watched = watching(sides.on, views);
    await start({
      ...sides,
      settings: AUTO,
      through: (client, side) => {
        const inner = watched(client, side);
        if (side === "tenant") return inner;
        const note = (verb: string, { plural }: { readonly plural: string }) => void written.push(`${verb} ${plural}`);
        return new Proxy(inner, {
          get(target, name) {
            const value: unknown = Reflect.get(target, name);
            if (typeof value !== "function") return value;
            return (...args: unknown[]) => {
              if (["create", "update", "delete"].includes(String(name))) note(String(name), args[0] as { plural: string });
              return (value as (...args: unknown[]) => unknown).apply(target, args);
            };
          },
        });
      },
    });
    await clock.advance(10_000);
    expect(written.filter((text) => !text.endsWith("reviews"))).toEqual(["create services", "create endpoints"]);
    expect((await seen(sides.on)).addresses).toEqual(["10.0.0.1"]);
  });

  test("are slices of Pods where Endpoints lack a family, also after each change", async () => {
    const sides = {
      ...(await sidesWith(true, true)),
      tenant: await clusterWith({ controllers: ["*", "-endpointslice-controller"] }, "shop"),
    };
    await fill(sides.tenant, "shop", ["web"]);
    const derived = { [MANAGER]: "endpointslice-controller.k8s.io" };
    await sides.tenant.client.patch(ENDPOINTS, { namespace: "shop", name: "web" }, "merge", { metadata: { labels: { [SKIP]: "true" } } });
    await start({ ...sides, settings: AUTO });
    await clock.advance(10_000);
    await sides.tenant.client.create(ENDPOINT_SLICES, ownSlice("web-4", ["10.0.0.1"], derived));
    await sides.tenant.client.create(ENDPOINT_SLICES, ownSlice("web-6", ["fd00::1"], derived));
    const views: (readonly string[])[] = [];
    await clock.advance(10_000);
    expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.1", "fd00::1"], makers: [OURS] });
    await stopAll();
    await start({ ...sides, settings: AUTO, through: watching(sides.on, views) });
    await write(sides.tenant, [{ addresses: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }], ports: [{ port: 80 }] }]);
    await clock.advance(2_000);
    await sides.tenant.client.patch(ENDPOINT_SLICES, { namespace: "shop", name: "web-4" }, "merge", {
      endpoints: ["10.0.0.1", "10.0.0.2"].map((address) => ({ addresses: [address], conditions: { ready: true } })),
    });
    await clock.advance(10_000);
    expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.1", "10.0.0.2", "fd00::1"], makers: [OURS] });
    for (const view of views) expect(view).toEqual(expect.arrayContaining(["10.0.0.1", "fd00::1"]));
  });

  test("are Endpoints as well as slices of Pods where the tenant's readers see both", async () => {
    for (const hostMirrors of [true, false]) {
      const sides = {
        ...(await sidesWith(true, hostMirrors)),
        tenant: await clusterWith({ controllers: ["*", "-endpointslice-controller"] }, "shop"),
      };
      await fill(sides.tenant, "shop", ["web"]);
      const derived = { [MANAGER]: "endpointslice-controller.k8s.io" };
      await sides.tenant.client.create(ENDPOINT_SLICES, ownSlice("web-4", ["10.0.0.1"], derived));
      await sides.tenant.client.create(ENDPOINT_SLICES, ownSlice("web-6", ["fd00::1"], derived));
      await write(sides.tenant, [{ addresses: [{ ip: "10.0.0.9" }], ports: [{ port: 80 }] }]);
      await sides.tenant.settled();
      await start({ ...sides, settings: AUTO });
      await clock.advance(10_000);
      expect((await seen(sides.on)).addresses).toEqual(["10.0.0.1", "10.0.0.9", "fd00::1"]);
      await stopAll();
    }
  });

  test("are slices of Pods where Endpoints are marked over capacity", async () => {
    for (const hostMirrors of [true, false]) {
      const sides = {
        ...(await sidesWith(true, hostMirrors)),
        tenant: await clusterWith({ controllers: ["*", "-endpointslice-controller"] }, "shop"),
      };
      await fill(sides.tenant, "shop", ["web"]);
      const derived = { [MANAGER]: "endpointslice-controller.k8s.io" };
      const mark = (value: string | null) =>
        sides.tenant.client.patch(ENDPOINTS, { namespace: "shop", name: "web" }, "merge", {
          metadata: { labels: { [SKIP]: "true" }, annotations: { "endpoints.kubernetes.io/over-capacity": value } },
        });
      await mark("truncated");
      await start({ ...sides, settings: AUTO });
      await clock.advance(10_000);
      await sides.tenant.client.create(ENDPOINT_SLICES, ownSlice("web-1", ["10.0.0.1", "10.0.0.2"], derived));
      await sides.tenant.client.create(ENDPOINT_SLICES, ownSlice("web-2", ["10.0.0.3"], derived));
      await clock.advance(10_000);
      expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.1", "10.0.0.2", "10.0.0.3"], makers: [OURS] });
      await stopAll();
      const views: (readonly string[])[] = [];
      await start({ ...sides, settings: AUTO, through: watching(sides.on, views) });
      await write(sides.tenant, [{ addresses: ["10.0.0.1", "10.0.0.2", "10.0.0.3"].map((ip) => ({ ip })), ports: HTTP }]);
      await mark(null);
      await clock.advance(10_000);
      expect((await seen(sides.on)).addresses).toEqual(["10.0.0.1", "10.0.0.2", "10.0.0.3"]);
      for (const view of views) expect(view).toEqual(["10.0.0.1", "10.0.0.2", "10.0.0.3"]);
    }
  });

  test("are slices of 1,002 Pods, of which their Endpoints contain 1,000", async () => {
    const sides = await sidesWith(true, true);
    const { client } = sides.tenant;
    for (const [index, { ip: podIP }] of ips(1_002).entries()) {
      const metadata = { namespace: "shop", name: `web-${index}`, labels: { app: "web" } };
      const status = { phase: "Running", podIP, conditions: [{ type: "Ready", status: "True" }] };
      const pod = await client.create(PODS, {
        apiVersion: "v1",
        kind: "Pod",
        metadata,
        spec: { containers: [{ name: "main", image: "x" }] },
      });
      await sides.tenant.registry.update(PODS, metadata, { ...pod, status }, { subresource: "status" });
    }
    const metadata = { namespace: "shop", name: "web" };
    const spec = { selector: { app: "web" }, ports: [{ port: 80 }] };
    await client.create(SERVICES, { apiVersion: "v1", kind: "Service", metadata, spec });
    await sides.tenant.settled();
    await start({ ...sides, settings: AUTO });
    await clock.advance(10_000);
    const { addresses, makers } = await seen(sides.on);
    expect([addresses.length, makers]).toEqual([1_002, [OURS]]);
  });

  test("do not wait for a slice that is paused", async () => {
    const sides = {
      ...(await sidesWith(false, false)),
      tenant: await clusterWith({ controllers: ["*", "-endpointslice-controller"] }, "shop"),
    };
    await fill(sides.tenant, "shop", ["web"]);
    const paused = ownSlice("web-own", ["10.5.0.1"]);
    const annotations = { "sync.platform/pause": "true" };
    await sides.tenant.client.create(ENDPOINT_SLICES, { ...paused, metadata: { ...paused.metadata, annotations } });
    const label = { metadata: { labels: { [SKIP]: "true" } } };
    await sides.tenant.client.patch(ENDPOINTS, { namespace: "shop", name: "web" }, "merge", label);
    await start({ ...sides, settings: AUTO });
    expect((await seen(sides.on)).addresses).toEqual(["10.0.0.1"]);
    const derived = { [MANAGER]: "endpointslice-controller.k8s.io" };
    await sides.tenant.client.create(ENDPOINT_SLICES, ownSlice("web-4", ["10.0.0.2"], derived));
    await sides.tenant.client.create(ENDPOINT_SLICES, ownSlice("web-6", ["fd00::1"], derived));
    await clock.advance(10_000);
    expect((await seen(sides.on)).addresses).toEqual(["10.0.0.2", "fd00::1"]);
  });

  test("are Endpoints of a leader election, which the tenant never mirrors", async () => {
    const sides = await sidesWith(true, false);
    await fill(sides.tenant, "shop", ["web"]);
    const annotations = { "control-plane.alpha.kubernetes.io/leader": "{}" };
    await sides.tenant.client.patch(ENDPOINTS, { namespace: "shop", name: "web" }, "merge", { metadata: { annotations } });
    await sides.tenant.settled();
    await start({ ...sides, settings: AUTO });
    expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.1"], makers: [OURS] });
  });

  test("changes from Endpoints to slices and back without a gap", async () => {
    for (const hostMirrors of [true, false]) {
      const sides = await sidesWith(false, hostMirrors);
      await fill(sides.tenant, "shop", ["web"]);
      const views: (readonly string[])[] = [];
      await start({ ...sides, settings: AUTO, through: watching(sides.on, views) });
      await clock.advance(5_000);
      views.length = 0;
      await sides.tenant.client.create(ENDPOINT_SLICES, ownSlice("web-own", ["10.0.0.1"]));
      await sides.tenant.client.delete(ENDPOINTS, { namespace: "shop", name: "web" });
      await clock.advance(10_000);
      expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.1"], makers: [OURS] });
      const metadata = { namespace: "shop", name: "web" };
      await sides.tenant.client.create(ENDPOINTS, {
        apiVersion: "v1",
        kind: "Endpoints",
        metadata,
        subsets: [{ addresses: [{ ip: "10.0.0.1" }], ports: [{ name: "http", port: 80 }] }],
      } as never);
      await sides.tenant.client.delete(ENDPOINT_SLICES, { namespace: "shop", name: "web-own" });
      await clock.advance(20_000);
      expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.1"], makers: [hostMirrors ? MIRROR : OURS] });
      for (const view of views) expect(view).toContain("10.0.0.1");
      await stopAll();
    }
  });

  test("changes without a gap also where the copy of the slice comes late", async () => {
    const sides = await sidesWith(false, false);
    await fill(sides.tenant, "shop", ["web"]);
    const views: (readonly string[])[] = [];
    let refuses = 0;
    const watched = watching(sides.on, views);
    const through = (client: ClusterClient, side: "tenant" | "host"): ClusterClient =>
      new Proxy(watched(client, side), {
        get(target, name) {
          const value: unknown = Reflect.get(target, name);
          if (typeof value !== "function") return value;
          if (side === "tenant" || name !== "create") return value.bind(target) as unknown;
          return async (...args: unknown[]) => {
            if ((args[0] as { plural: string }).plural === "endpointslices" && refuses > 0) {
              refuses -= 1;
              throw new EngineError("API_UNAVAILABLE", "The host does not answer");
            }
            return (value as (...args: unknown[]) => unknown).apply(target, args);
          };
        },
      });
    await start({ ...sides, settings: AUTO, through });
    expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.1"], makers: [OURS] });
    views.length = 0;
    refuses = 2;
    await sides.tenant.client.create(ENDPOINT_SLICES, ownSlice("web-own", ["10.0.0.1"]));
    await sides.tenant.client.delete(ENDPOINTS, { namespace: "shop", name: "web" });
    await clock.advance(20_000);
    expect(refuses).toBe(0);
    expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.1"], makers: [OURS] });
    expect(await copyIn(sides.on)).toBeUndefined();
    for (const view of views) expect(view).toContain("10.0.0.1");
  });

  test("changes without a gap also where the copy of Endpoints comes late", async () => {
    const sides = await sidesWith(false, false);
    await fill(sides.tenant, "shop", ["web"]);
    await sides.tenant.client.delete(ENDPOINTS, { namespace: "shop", name: "web" });
    await sides.tenant.client.create(ENDPOINT_SLICES, ownSlice("web-b", ["10.0.0.1"]));
    const views: (readonly string[])[] = [];
    const watched = watching(sides.on, views);
    let answers: (() => void) | undefined;
    const through = (client: ClusterClient, side: "tenant" | "host"): ClusterClient => {
      const inner = watched(client, side);
      if (side === "tenant") return inner;
      return new Proxy(inner, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name);
          if (typeof value !== "function" || name !== "create")
            return typeof value === "function" ? (value.bind(target) as unknown) : value;
          return async (...args: unknown[]) => {
            if ((args[0] as { plural: string }).plural === "endpoints") await new Promise<void>((resolve) => (answers = resolve));
            return (value as (...args: unknown[]) => unknown).apply(target, args);
          };
        },
      });
    };
    await start({ ...sides, settings: AUTO, through });
    expect((await seen(sides.on)).addresses).toEqual(["10.0.0.1"]);
    views.length = 0;
    const subsets = [{ addresses: [{ ip: "10.0.0.1" }], ports: HTTP }];
    await sides.tenant.client.create(ENDPOINTS, {
      ...{ apiVersion: "v1", kind: "Endpoints", metadata: { namespace: "shop", name: "web" }, subsets },
    } as KubeObject);
    await sides.tenant.client.delete(ENDPOINT_SLICES, { namespace: "shop", name: "web-b" });
    await sides.tenant.client.create(ENDPOINT_SLICES, ownSlice("web-b", ["10.0.0.1"], { [MANAGER]: MIRROR }));
    await clock.advance(4_900);
    answers!();
    await clock.advance(20_000);
    expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.1"], makers: [OURS] });
    for (const view of views) expect(view).toContain("10.0.0.1");
  });

  test("is not a copy of what a mirror of the tenant has made: it goes when something else is seen", async () => {
    const sides = await sidesWith(true, false);
    await fill(sides.tenant, "shop", ["web"]);
    await sides.tenant.settled();
    await start({ ...sides, settings: { backends: "both" } });
    expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.1"], makers: [OURS] });
    await stopAll();
    const views: (readonly string[])[] = [];
    await start({ ...sides, settings: AUTO, through: watching(sides.on, views) });
    await clock.advance(10_000);
    const slices = await slicesIn(sides.on);
    expect(slices.map(({ metadata }) => metadata.annotations?.["sync.platform/object-kind"])).toEqual(["v1/Endpoints"]);
    for (const view of views) expect(view).toEqual(["10.0.0.1"]);
  });
});
