/** `backends: auto` beside slices of another syncer that come late, endpoints that move between slices, and edits of what was made. */
import { describe, expect, test } from "vitest";
import type { EmbeddedCluster } from "../../../../src/cluster/cluster.ts";
import { viewOfSlices } from "../../../../src/kube/object/endpoints/reader-view.ts";
import type { ClusterClient } from "../../../../src/kube/object/cluster-client.ts";
import { ENDPOINT_SLICES, ENDPOINTS, EVENTS, SERVICES } from "../../../../src/kube/object/resource.ts";
import type { EndpointSlice, KubeObject } from "../../../../src/kube/object/types.ts";
import { clock, fill, start, stopAll, useRunningSyncers } from "../running-syncers.ts";
import { AUTO, copyIn, MANAGER, NAME, OURS, ownSlice, seen, sidesWith, SKIP, slicesIn, watching, write } from "./seen-backends.ts";

useRunningSyncers();

describe("slices of another syncer", () => {
  /** As vCluster's own syncer marks them. */
  const theirs = (addresses: readonly string[]): EndpointSlice => ({
    ...ownSlice("web-theirs", addresses),
    metadata: {
      ...{ namespace: "vc", name: "web-theirs-x-shop-x-blue" },
      labels: { "kubernetes.io/service-name": NAME },
      annotations: { "vcluster.loft.sh/object-name": "web-theirs", "vcluster.loft.sh/object-namespace": "shop" },
    },
    ports: [{ name: "", port: 80, protocol: "TCP" }],
  });
  const names = async (on: EmbeddedCluster) => (await slicesIn(on)).map(({ metadata }) => metadata.name);
  const made = async () => {
    const sides = await sidesWith(true, false);
    await fill(sides.tenant, "shop", ["web"]);
    await write(sides.tenant, [{ addresses: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }], ports: [{ port: 80 }] }]);
    const views: (readonly string[])[] = [];
    await start({ ...sides, settings: AUTO, through: watching(sides.on, views) });
    expect((await seen(sides.on)).makers).toEqual([OURS]);
    views.length = 0;
    return { ...sides, views };
  };
  const put = ({ client }: EmbeddedCluster, slice: EndpointSlice) =>
    client.patch(ENDPOINT_SLICES, { namespace: "vc", name: slice.metadata.name! }, "merge", { endpoints: slice.endpoints });

  test.each([
    ["show the same, none are made", "10.0.0.1", 1],
    ["show less, and no mirror shows more, slices are made", "10.0.0.9", 2],
  ] as const)("where they %s", async (_what, address, count) => {
    const sides = await sidesWith(true, false);
    await fill(sides.tenant, "shop", ["web"]);
    await sides.on.client.create(ENDPOINT_SLICES, theirs([address]));
    await start({ ...sides, settings: AUTO });
    await clock.advance(20_000);
    expect(await slicesIn(sides.on)).toHaveLength(count);
    expect((await seen(sides.on)).addresses).toContain("10.0.0.1");
    expect((await copyIn(sides.on))?.metadata.labels?.[SKIP]).toBe(count === 1 ? undefined : "true");
  });

  test.each(["is deleted", "loses one"] as const)("that show less do not replace a slice of the tenant: one that %s", async (how) => {
    const { tenant, on } = await sidesWith(false, false);
    const [metadata, ports] = [{ namespace: "shop", name: "web" }, [{ name: "http", port: 80 }]];
    const own = ownSlice("web-own", ["10.0.0.1", "10.0.0.2"]);
    await tenant.client.create(SERVICES, { apiVersion: "v1", kind: "Service", metadata, spec: { ports } } as KubeObject);
    await tenant.client.create(ENDPOINT_SLICES, own);
    await on.client.create(ENDPOINT_SLICES, { ...theirs(["10.0.0.1"]), ports: own.ports! });
    await start({ tenant, on, namespace: "vc", settings: AUTO });
    const subsets = [{ addresses: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }], ports }];
    await tenant.client.create(ENDPOINTS, { apiVersion: "v1", kind: "Endpoints", metadata, subsets } as KubeObject);
    await clock.advance(500);
    const key = { namespace: "shop", name: "web-own" };
    if (how === "is deleted") await tenant.client.delete(ENDPOINT_SLICES, key);
    else await tenant.client.patch(ENDPOINT_SLICES, key, "merge", { endpoints: ownSlice("web-own", ["10.0.0.1"]).endpoints });
    for (let time = 0; time < 100; time += 1) {
      await clock.advance(100);
      expect((await seen(on)).addresses).toEqual(["10.0.0.1", "10.0.0.2"]);
    }
  });

  test("that come later take the place of ours once they show the same, without a gap", async () => {
    const { on, views } = await made();
    await on.client.create(ENDPOINT_SLICES, theirs(["10.0.0.1"]));
    await clock.advance(20_000);
    expect((await seen(on)).makers).toEqual([OURS, undefined]);
    await put(on, theirs(["10.0.0.1", "10.0.0.2"]));
    await clock.advance(2_000);
    expect(await names(on)).toEqual(["web-theirs-x-shop-x-blue"]);
    expect((await copyIn(on))?.metadata.labels?.[SKIP]).toBe("true");
    expect(views.length).toBeGreaterThan(0);
    for (const view of views) expect(view).toEqual(expect.arrayContaining(["10.0.0.1", "10.0.0.2"]));
  });

  test.each([
    ["was made of Endpoints", "v1/Endpoints"],
    ["has taken over the markers of a Service", "v1/Service"],
  ])("are not what %s, although it has lost the marker of its virtual cluster", async (_what, kind) => {
    const sides = await made();
    const { on } = sides;
    await stopAll();
    const { "sync.platform/vcluster": _lost, ...annotations } = (await copyIn(on))!.metadata.annotations!;
    await on.client.patch(ENDPOINTS, { namespace: "vc", name: NAME }, "merge", { metadata: { labels: { [SKIP]: null } } });
    for (const name of await names(on)) await on.client.delete(ENDPOINT_SLICES, { namespace: "vc", name: name! });
    const old = theirs(["10.0.0.1", "10.0.0.2"]);
    await on.client.create(ENDPOINT_SLICES, {
      ...old,
      metadata: { ...old.metadata, annotations: { ...annotations, "sync.platform/object-kind": kind } },
    });
    await start({ ...sides, namespace: "vc", settings: AUTO });
    await clock.advance(20_000);
    // They are left as they are, but ours do not rely on them.
    expect(await seen(on)).toEqual({ addresses: ["10.0.0.1", "10.0.0.2"], makers: [OURS, undefined] });
  });

  test("keep ours away through changes and a restart, and are taken over from when they go or lag", async () => {
    const sides = await made();
    const { tenant, on } = sides;
    await on.client.create(ENDPOINT_SLICES, theirs(["10.0.0.1", "10.0.0.2"]));
    await clock.advance(2_000);
    await stopAll();
    await start({ ...sides, namespace: "vc", settings: AUTO });
    expect(await names(on)).toEqual(["web-theirs-x-shop-x-blue"]);
    // Theirs follow a moment later than our copy of Endpoints.
    await write(tenant, [{ addresses: [{ ip: "10.0.0.3" }], ports: [{ port: 80 }] }]);
    await clock.advance(1_000);
    expect(await names(on)).toHaveLength(1);
    await put(on, theirs(["10.0.0.3"]));
    await clock.advance(20_000);
    expect(await names(on)).toHaveLength(1);
    // They stop, and after a while ours are made.
    await write(tenant, [{ addresses: [{ ip: "10.0.0.4" }], ports: [{ port: 80 }] }]);
    await clock.advance(20_000);
    expect((await seen(on)).addresses).toEqual(["10.0.0.3", "10.0.0.4"]);
    await on.client.delete(ENDPOINT_SLICES, { namespace: "vc", name: "web-theirs-x-shop-x-blue" });
    await clock.advance(2_000);
    expect(await seen(on)).toEqual({ addresses: ["10.0.0.4"], makers: [OURS] });
  });
});

describe("an endpoint that moves between slices of the tenant", () => {
  const A = "10.5.0.1";
  const B = "10.5.0.2";
  const patchSlice = ({ client }: EmbeddedCluster, name: string, addresses: readonly string[]) =>
    client.patch(ENDPOINT_SLICES, { namespace: "shop", name }, "merge", { endpoints: ownSlice(name, addresses).endpoints });

  /** The host answers writes of this slice only when told to. */
  function holding(name: string, gate: { open: boolean }) {
    return (client: ClusterClient, side: string): ClusterClient =>
      side === "tenant"
        ? client
        : new Proxy(client, {
            get(target, property) {
              const value: unknown = Reflect.get(target, property);
              if (typeof value !== "function") return value;
              return async (...args: unknown[]) => {
                const object = args[1] as KubeObject | undefined;
                const isHeld = (property === "update" || property === "create") && object?.metadata?.name?.startsWith(name);
                while (isHeld === true && !gate.open) await new Promise<void>((resolve) => clock.schedule(100, resolve));
                return (value as (...rest: unknown[]) => unknown).apply(target, args);
              };
            },
          });
  }

  async function copied() {
    const sides = await sidesWith(false, false);
    await sides.tenant.client.create(SERVICES, {
      ...{ apiVersion: "v1", kind: "Service", metadata: { namespace: "shop", name: "web" } },
      spec: { ports: [{ port: 80 }] },
    } as never);
    await sides.tenant.client.create(ENDPOINT_SLICES, ownSlice("web-a", [A, B]));
    await sides.tenant.client.create(ENDPOINT_SLICES, ownSlice("web-b", ["10.5.0.9"]));
    const gate = { open: true };
    const views: (readonly string[])[] = [];
    const through = (client: ClusterClient, side: "tenant" | "host") =>
      holding("web-b-", gate)(watching(sides.on, views)(client, side), side);
    await start({ ...sides, settings: AUTO, through });
    expect((await seen(sides.on)).addresses).toEqual([A, B, "10.5.0.9"]);
    views.length = 0;
    return { ...sides, gate, views };
  }

  test.each(["changes", "goes"])(
    "is seen all the time where the slice that it leaves %s, however late the other is written",
    async (how) => {
      const { tenant, on, gate, views } = await copied();
      gate.open = false;
      await patchSlice(tenant, "web-b", ["10.5.0.9", A, B]);
      if (how === "goes") await tenant.client.delete(ENDPOINT_SLICES, { namespace: "shop", name: "web-a" });
      else await patchSlice(tenant, "web-a", [A]);
      await clock.advance(3_000);
      expect((await seen(on)).addresses).toEqual(expect.arrayContaining([A, B]));
      gate.open = true;
      await clock.advance(3_000);
      const slices = await slicesIn(on);
      const left = slices.filter(({ metadata }) => metadata.name?.startsWith("web-a-"));
      expect(left.flatMap(({ endpoints }) => endpoints?.flatMap(({ addresses }) => addresses))).toEqual(how === "goes" ? [] : [A]);
      expect([...viewOfSlices(slices).values()].map(({ address }) => address).sort()).toEqual([A, B, "10.5.0.9"]);
      expect(views.length).toBeGreaterThan(1);
      for (const view of views) expect(view).toEqual(expect.arrayContaining([A, B]));
    },
  );

  test("is waited for no longer than a moment", async () => {
    const { tenant, on, gate } = await copied();
    gate.open = false;
    await patchSlice(tenant, "web-b", ["10.5.0.9", A, B]);
    await patchSlice(tenant, "web-a", [A]);
    await clock.advance(7_000);
    expect((await seen(on)).addresses).toEqual([A, "10.5.0.9"]);
    gate.open = true;
    await clock.advance(2_000);
    expect((await seen(on)).addresses).toEqual([A, B, "10.5.0.9"]);
  });

  test("costs one write for each slice", async () => {
    const { tenant, views } = await copied();
    await patchSlice(tenant, "web-b", ["10.5.0.9", B]);
    await patchSlice(tenant, "web-a", [A]);
    await clock.advance(20_000);
    expect(views).toHaveLength(2);
  });
});

describe("an edit of a slice that the syncer made", () => {
  const told = async ({ client }: EmbeddedCluster) =>
    (await client.list(EVENTS, { namespace: "shop" })).items.map((event) => {
      const { kind, name } = event["involvedObject"] as { kind: string; name: string };
      return `${kind} ${name}: ${String(event["reason"])}: ${String(event["message"])}`;
    });
  const edit = ({ client }: EmbeddedCluster, name: string, body: object) =>
    client.patch(ENDPOINT_SLICES, { namespace: "vc", name }, "merge", body);

  test("is undone with one Event on the tenant's Service, however often it comes", async () => {
    const sides = await sidesWith(true, false);
    await fill(sides.tenant, "shop", ["web"]);
    await start({ ...sides, settings: AUTO });
    const [slice] = await slicesIn(sides.on);
    const name = slice!.metadata.name!;
    expect(await told(sides.tenant)).toEqual([]);
    const edits = [{ endpoints: [] }, { metadata: { labels: { [MANAGER]: "mine" } } }, { metadata: { labels: { extra: "yes" } } }];
    for (const body of edits) {
      await edit(sides.on, name, body);
      await clock.advance(2_000);
      expect((await slicesIn(sides.on))[0]).toMatchObject({ endpoints: slice!.endpoints, metadata: { labels: slice!.metadata.labels } });
    }
    await sides.on.client.delete(ENDPOINT_SLICES, { namespace: "vc", name });
    await clock.advance(2_000);
    expect(await told(sides.tenant)).toEqual([
      "Service web: SliceEditUndone: An edit of a slice on the host was undone: the syncer makes slices of this Service from the copy of its Endpoints. Change the Endpoints in the tenant cluster",
    ]);
  });

  test.each([
    { left: "nothing", labels: {}, restarts: false },
    { left: "nothing", labels: {}, restarts: true },
    { left: "its Service", labels: { "kubernetes.io/service-name": NAME }, restarts: true },
  ])("is undone where it leaves $left of all marks, with a restart: $restarts", async ({ labels, restarts }) => {
    const sides = await sidesWith(true, false);
    await fill(sides.tenant, "shop", ["web"]);
    await start(sides);
    const [slice] = await slicesIn(sides.on);
    if (restarts) await stopAll();
    const { name, namespace, uid, resourceVersion } = slice!.metadata;
    const bare = { name: name!, namespace: namespace!, uid: uid!, resourceVersion: resourceVersion!, labels };
    await sides.on.client.update(ENDPOINT_SLICES, { ...slice!, metadata: bare });
    expect((await slicesIn(sides.on)).map(({ metadata }) => [metadata.annotations, metadata.ownerReferences])).toEqual([
      [undefined, undefined],
    ]);
    if (restarts) await start(sides);
    await clock.advance(5_000);
    const [after, ...more] = await slicesIn(sides.on);
    expect(more).toEqual([]);
    const said = ({ metadata, endpoints }: EndpointSlice) => [
      metadata.name,
      metadata.labels,
      metadata.annotations,
      metadata.ownerReferences,
      endpoints,
    ];
    expect(said(after!)).toEqual(said(slice!));
    // A change is still one write of the very slice.
    await write(sides.tenant, [{ addresses: [{ ip: "10.0.0.7" }], ports: [{ port: 80 }] }]);
    await clock.advance(5_000);
    expect(await seen(sides.on)).toEqual({ addresses: ["10.0.0.7"], makers: [OURS] });
    expect((await slicesIn(sides.on)).map(({ metadata }) => metadata.name)).toEqual([name]);
  });

  test("is none where the copy of Endpoints changed, or went", async () => {
    const sides = await sidesWith(true, false);
    await fill(sides.tenant, "shop", ["web"]);
    await start({ ...sides, settings: AUTO });
    for (const ip of ["10.0.0.2", "10.0.0.3"]) {
      await write(sides.tenant, [{ addresses: [{ ip }], ports: [{ port: 80 }] }]);
      await clock.advance(2_000);
    }
    await stopAll();
    await write(sides.tenant, [{ addresses: [{ ip: "10.0.0.4" }], ports: [{ port: 81 }] }]);
    await start({ ...sides, settings: AUTO });
    await clock.advance(10_000);
    expect((await seen(sides.on)).addresses).toEqual(["10.0.0.4"]);
    expect(await told(sides.tenant)).toEqual([]);
  });
});

describe("an edit of the copy of Endpoints", () => {
  test.each([{ subsets: null }, { subsets: [{ addresses: [{ ip: "10.9.0.9" }], ports: [{ name: "other", port: 9 }] }] }])(
    "that is undone takes nothing away of what was made of it: %j",
    async (body) => {
      const sides = await sidesWith(true, false);
      await fill(sides.tenant, "shop", ["web"]);
      const views: (readonly string[])[] = [];
      // There is no way back for addresses: edits of them are undone.
      const patches = [{ path: "subsets[*].addresses[*].ip", expression: 'value.replace("10.0.", "10.9.")' }];
      await start({ ...sides, settings: AUTO, toHost: { endpoints: { patches } }, through: watching(sides.on, views) });
      const [slice] = await slicesIn(sides.on);
      const { addresses } = await seen(sides.on);
      expect(addresses.length).toBeGreaterThan(0);
      views.length = 0;
      await sides.on.client.patch(ENDPOINTS, { namespace: "vc", name: NAME }, "merge", body);
      await clock.advance(10_000);
      expect(views.filter((view) => addresses.some((address) => !view.includes(address)))).toEqual([]);
      expect(await seen(sides.on)).toMatchObject({ addresses });
      expect((await slicesIn(sides.on)).map(({ metadata }) => metadata.uid)).toEqual([slice!.metadata.uid]);
    },
  );
});
