/** With `backends: auto`, the copy of Endpoints and what is made of it are written in an order in which no reader loses a backend. */
import { describe, expect, test } from "vitest";
import { finish } from "../../../../src/base/finish.ts";
import { silentLogger } from "../../../../src/base/logger.ts";
import { noMetrics } from "../../../../src/base/metrics.ts";
import { resolveConfig } from "../../../../src/engine/config/config.ts";
import { resolveSettings } from "../../../../src/engine/config/settings.ts";
import { createEngine } from "../../../../src/engine/engine.ts";
import { slicesOfCopy } from "../../../../src/engine/kinds/made-slices.ts";
import { MIRROR, SERVICE_NAME, SLICE_MANAGER } from "../../../../src/engine/kinds/slice-labels.ts";
import { digestPair } from "../../../../src/engine/reconcile/agreement/base.ts";
import type { Operation } from "../../../../src/engine/reconcile/plan-types.ts";
import type { Response } from "../../../../src/engine/reconcile/machine.ts";
import { createSyncCore } from "../../../../src/engine/sync/core.ts";
import type { ReconcileRun } from "../../../../src/engine/sync/run/reconcile.ts";
import { formatKey, keyOf, type ObjectKey } from "../../../../src/kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES, type ResourceType } from "../../../../src/kube/object/resource.ts";
import type { Endpoints, KubeObject } from "../../../../src/kube/object/types.ts";
import { createCacheByHand } from "../../../support/cache-by-hand.ts";
import { createFakeClock } from "../../../support/fake-clock.ts";
import { stored } from "../../../support/rules.ts";
import { ips, ownSlice, SKIP } from "./seen-backends.ts";

const SERVICE = "services|shop/web";
const COPY = "endpoints|shop/web";
const UNIT = "backends|shop/web";
const SLICE = "endpointslices|shop/web-b";
const PORTS = [{ port: 80 }];

function caches() {
  const all = new Map([SERVICES, ENDPOINTS, ENDPOINT_SLICES].map(({ plural }) => [plural, createCacheByHand()]));
  return { of: ({ plural }: ResourceType) => all.get(plural)!, source: ({ plural }: ResourceType) => all.get(plural)!.source };
}

/** A syncer's core between caches that show only what they are told, and a host that answers only when it is told. */
async function between() {
  const vcluster = { name: "blue", namespace: "vc" };
  const settings = resolveSettings({ backends: "auto" });
  const config = settings.ok ? resolveConfig({}, { settings: settings.settings, vcluster }) : undefined;
  if (!settings.ok || config?.ok !== true) throw new Error("The configuration is refused");
  const engine = await createEngine({ config: config.config, settings: settings.settings, vcluster, services: "managed" });
  const [tenant, host, clock] = [caches(), caches(), createFakeClock()];
  const enqueued: string[] = [];
  const core = createSyncCore({
    ...{ tenant, host, rules: engine.rules, loopGuard: engine.settings.loopGuard, clock, logger: silentLogger, metrics: noMetrics },
    enqueue: (id) => void enqueued.push(id),
  });
  const standing = new Map<string, KubeObject>();
  const writes: Operation[] = [];
  let version = 100;
  const placeOf = (resource: ResourceType, key: ObjectKey) => `${resource.plural} ${formatKey(key)}`;

  function put(resource: ResourceType, object: KubeObject): KubeObject {
    const now = stored(object, String((version += 1)));
    standing.set(placeOf(resource, keyOf(object)), now);
    return now;
  }
  const found = (object: KubeObject | undefined): Response => (object === undefined ? { type: "absent" } : { type: "object", object });

  /** The response of a cluster to the pending request, after it has done that. Tenants have what their caches show. */
  function answerTo({ request, resource }: ReconcileRun): Response {
    if (request.type === "get") {
      const asked = request.resource ?? resource;
      return found(request.side === "tenant" ? tenant.source(asked).get(request.key) : standing.get(placeOf(asked, request.key)));
    }
    if (request.type !== "write") return { type: "absent" };
    writes.push(request.operation);
    if (request.operation.action === "delete") {
      standing.delete(placeOf(resource, request.operation.key));
      return { type: "absent" };
    }
    return found(put(resource, request.operation.object));
  }
  return {
    ...{ clock, enqueued, writes },
    begin: (id: string) => finish(core.begin(id)),
    goOn: (run: ReconcileRun) => {
      while (run.request.type !== "done") finish(run.answer(answerTo(run)));
    },
    reconcile(id: string) {
      const run = this.begin(id);
      this.goOn(run);
      return run;
    },
    /** Tenants have this object, and the cache shows it. */
    has: (resource: ResourceType, object: KubeObject) => tenant.of(resource).show(keyOf(object), stored(object, String((version += 1)))),
    lacks: (resource: ResourceType, key: ObjectKey) => tenant.of(resource).show(key, undefined),
    /** The cache shows all of this kind that the host has, of one Service or of all. */
    shows(resource: ResourceType, name = "") {
      const isAsked = (place: string) => place.startsWith(`${resource.plural} vc/${name}`);
      for (const [place, object] of standing) if (isAsked(place)) host.of(resource).show(keyOf(object), object);
    },
    /** Another process, which decides nothing, is about to hand the copy back, and a user of the host edits what was made; the caches show both. */
    handedBack() {
      for (const [place, object] of standing) {
        const { labels, annotations } = object.metadata;
        const [base, own] = ["sync.platform/base", { ...labels, [SKIP]: "false" }];
        const digest = (value: string) => digestPair(`labels/${SKIP}`, undefined, value);
        const noted = { ...annotations, [base]: annotations?.[base]?.replace(digest("true"), digest("false")) ?? "" };
        if (place.startsWith(`${ENDPOINTS.plural} vc/web`))
          put(ENDPOINTS, { ...object, metadata: { ...object.metadata, labels: own, annotations: noted } });
        if (place.startsWith(`${ENDPOINT_SLICES.plural} vc/web`)) put(ENDPOINT_SLICES, { ...object, endpoints: [] } as KubeObject);
      }
      for (const kind of [ENDPOINTS, ENDPOINT_SLICES]) this.shows(kind, "web");
    },
    /** Endpoints of others say that they are the copy, at another place, and the host's mirror has made a slice of them. */
    claims(name: string) {
      const copy = [...standing.values()].find(({ kind }) => kind === "Endpoints")!;
      const labels = { [SERVICE_NAME]: name, [SLICE_MANAGER]: MIRROR };
      const annotations = { ...copy.metadata.annotations, "sync.platform/object-host-name": name };
      put(ENDPOINT_SLICES, {
        ...ownSlice(`${name}-m0`, ["10.9.0.1"]),
        metadata: { namespace: "vc", name: `${name}-m0`, labels, annotations },
      });
      this.shows(ENDPOINT_SLICES, name);
    },
    /** The host's mirror has made what the copy says now. */
    mirrors() {
      const copy = standing.get("endpoints vc/web-x-shop-x-blue") as Endpoints;
      for (const slice of slicesOfCopy(engine.rules[0]!.translator.markerPrefix, copy, [])) {
        const labels = { ...slice.metadata.labels, [SLICE_MANAGER]: MIRROR };
        put(ENDPOINT_SLICES, { ...slice, metadata: { ...slice.metadata, name: "web-x-shop-x-blue-m0", labels } } as KubeObject);
      }
      this.shows(ENDPOINT_SLICES, "web");
    },
    service(name: string) {
      const metadata = { namespace: "shop", name };
      this.has(SERVICES, { apiVersion: "v1", kind: "Service", metadata, spec: { ports: PORTS } } as KubeObject);
      this.endpoints(1, name);
    },
    endpoints(count: number, name = "web", annotations = {}) {
      const subsets = [{ addresses: ips(count), ports: PORTS }];
      const metadata = { namespace: "shop", name, annotations };
      this.has(ENDPOINTS, { apiVersion: "v1", kind: "Endpoints", metadata, subsets } as KubeObject);
    },
    /** Another process is the first to write what this one is about to make, and makes slices of it. */
    rival(run: ReconcileRun) {
      if (run.request.type !== "write" || run.request.operation.action !== "create") throw new Error("Nothing is to be made");
      const copy = put(ENDPOINTS, run.request.operation.object);
      for (const slice of slicesOfCopy(engine.rules[0]!.translator.markerPrefix, copy as Endpoints, [])) put(ENDPOINT_SLICES, slice);
      finish(run.answer({ type: "outdated", reason: "it is there already" }));
    },
    close() {
      core.close();
      engine.dispose();
    },
  };
}

/** The host's mirror does not work, so that a slice is made of the copy, which the cache does not show yet. */
async function madeUnseen(known?: Awaited<ReturnType<typeof between>>) {
  const world = copied(known ?? (await between()));
  world.reconcile(UNIT);
  await world.clock.advance(3_000);
  world.reconcile(UNIT);
  world.enqueued.length = 0;
  world.writes.length = 0;
  return world;
}

/** Copies of Endpoints and of a slice of the Service, which the caches show. */
function copied(world: Awaited<ReturnType<typeof between>>) {
  world.service("web");
  world.has(ENDPOINT_SLICES, ownSlice("web-b", ["10.9.0.1"]));
  world.reconcile(SERVICE);
  world.shows(SERVICES);
  for (const [id, kind] of [
    [COPY, ENDPOINTS],
    [SLICE, ENDPOINT_SLICES],
  ] as const) {
    world.reconcile(id);
    world.shows(kind, "web");
  }
  return world;
}

/** Labels that keep the mirror away, of each write of the copy. */
const labels = (writes: readonly Operation[]) =>
  writes.flatMap((operation) =>
    "object" in operation && operation.object.kind === "Endpoints" ? [operation.object.metadata.labels?.[SKIP]] : [],
  );

const deleted = (writes: readonly Operation[]) =>
  writes.flatMap((operation) => (operation.action === "delete" ? [operation.key.name] : []));

test("beside paused Endpoints, the copy of a slice of Pods that this process has just made stays when the other one goes", async () => {
  const world = copied(await between());
  const [first, second] = ["web-p4", "web-p6"].map((name) => `endpointslices|shop/${name}`);
  // The Endpoints lack a family, so the slices are the source.
  for (const [name, address] of Object.entries({ "web-p4": "10.1.0.0", "web-p6": "fd00::1" }))
    world.has(ENDPOINT_SLICES, ownSlice(name, [address], { [SLICE_MANAGER]: "endpointslice-controller.k8s.io" }));
  for (const id of [UNIT, first!]) world.reconcile(id);
  world.shows(ENDPOINT_SLICES);
  world.endpoints(1, "web", { "sync.platform/pause": "true" });
  world.reconcile(second!);
  world.lacks(ENDPOINT_SLICES, { namespace: "shop", name: "web-p4" });
  for (const id of [UNIT, second!]) world.reconcile(id);
  expect(world.writes.flatMap(({ action }) => (action === "update" ? [] : [action]))).toEqual(Array(5).fill("create"));
  world.close();
});

describe("the copy and what is made of it", () => {
  test.each([
    [COPY, UNIT],
    [UNIT, COPY],
  ])("exclude each other: while a write of %s is under way, %s waits", async (first, second) => {
    const world = await madeUnseen();
    world.shows(ENDPOINT_SLICES);
    world.reconcile(UNIT);
    world.reconcile(COPY);
    world.shows(ENDPOINTS);
    world.endpoints(2);
    if (first === UNIT) {
      world.reconcile(COPY);
      world.shows(ENDPOINTS);
    }
    const run = world.begin(first);
    expect(run.request).not.toMatchObject({ type: "done" });
    world.enqueued.length = 0;
    expect(world.begin(second)).toMatchObject({ waits: true, request: { type: "done" } });
    expect(world.enqueued).toEqual([]);
    world.goOn(run);
    expect(world.enqueued).toContain(second);
    expect(world.begin(second).waits).toBeUndefined();
    world.close();
  });

  test("wait for no other Service, and for no slice of the tenant", async () => {
    const world = await madeUnseen();
    world.endpoints(2);
    expect(world.begin(COPY).request.type).toBe("write");
    for (const id of ["endpoints|shop/db", "backends|shop/db", SLICE]) expect(world.begin(id).waits).toBeUndefined();
    world.close();
  });
});

test("what was decided before an own write of the copy sends no mirror away, though the cache does not show the write yet", async () => {
  const world = await madeUnseen();
  // The copy is about to say more than the slice that was made of it.
  world.endpoints(2);
  const update = world.begin(COPY);
  expect(update.request.type).toBe("write");
  // A slice of the tenant goes meanwhile. What is decided for it is right: slice and copy say the same.
  world.shows(ENDPOINT_SLICES);
  world.lacks(ENDPOINT_SLICES, { namespace: "shop", name: "web-b" });
  world.begin(SLICE);
  world.goOn(update);
  world.reconcile(COPY);
  expect(labels(world.writes)).toEqual([undefined]);
  for (const kind of [ENDPOINTS, ENDPOINT_SLICES]) {
    world.shows(kind);
    world.reconcile(UNIT);
  }
  world.reconcile(COPY);
  expect(labels(world.writes)).toEqual([undefined, "true"]);
  world.close();
});

test("a copy and slices that another process has made of it send the mirror away, though that was decided before there was a copy", async () => {
  const world = await between();
  world.service("db");
  world.reconcile("services|shop/db");
  world.shows(SERVICES);
  world.rival(world.begin("endpoints|shop/db"));
  // By a copy of another Service it is known that no mirror works.
  await madeUnseen(world);
  world.reconcile("backends|shop/db");
  world.shows(ENDPOINTS);
  world.reconcile("endpoints|shop/db");
  world.shows(ENDPOINT_SLICES);
  world.enqueued.length = 0;
  expect(labels(world.writes)).toEqual([]);
  world.reconcile("backends|shop/db");
  expect(world.enqueued).toContain("endpoints|shop/db");
  world.reconcile("endpoints|shop/db");
  expect(labels(world.writes)).toEqual(["true"]);
  world.close();
});

test("a label that tells the next process of what was made stays while that is there", async () => {
  const world = await madeUnseen();
  world.shows(ENDPOINT_SLICES);
  world.reconcile(UNIT);
  world.reconcile(COPY);
  expect(labels(world.writes)).toEqual(["true"]);
  world.handedBack();
  world.reconcile(COPY);
  expect(labels(world.writes)).toEqual(["true"]);
  world.close();
});

test.each([
  ["of others that say they are the copy stay", "other", []],
  ["of the copy go when the mirror had its time", "web-x-shop-x-blue", ["web-x-shop-x-blue-m0"]],
])("slices of a mirror %s", async (_what, name, gone) => {
  const world = await madeUnseen();
  world.shows(ENDPOINT_SLICES);
  world.reconcile(UNIT);
  world.reconcile(COPY);
  world.shows(ENDPOINTS);
  world.claims(name);
  world.reconcile(UNIT);
  await world.clock.advance(3_000);
  world.reconcile(UNIT);
  expect(deleted(world.writes)).toEqual(gone);
  world.close();
});

test("a copy of a slice goes though the mirror lags a little after each change, while another slice has no copy", async () => {
  const world = copied(await between());
  world.mirrors();
  world.has(ENDPOINT_SLICES, ownSlice("web-c", ["10.9.0.7"]));
  for (const id of [UNIT, COPY, SLICE]) world.reconcile(id);
  world.lacks(ENDPOINT_SLICES, { namespace: "shop", name: "web-b" });
  world.reconcile(SLICE);
  for (let round = 0; round < 10; round += 1) {
    world.endpoints(1 + (round % 2));
    for (const id of [COPY, UNIT, SLICE]) world.reconcile(id);
    world.shows(ENDPOINTS, "web");
    for (const ms of [300, 1_700]) {
      for (const id of [UNIT, SLICE]) world.reconcile(id);
      await world.clock.advance(ms);
      world.mirrors();
    }
  }
  expect(deleted(world.writes)).toEqual(["web-b-x-shop-x-blue"]);
  world.close();
});

test("a copy of a slice stays while the mirror has its time for what takes the place of it, however long it has waited before", async () => {
  const world = copied(await between());
  // The tenant's mirror takes the slice over, and the Endpoints that it mirrors are gone for some seconds.
  const addresses = ips(1).map(({ ip }) => ip);
  world.has(ENDPOINT_SLICES, { ...ownSlice("web-b", addresses, { [SLICE_MANAGER]: MIRROR }), ports: PORTS } as KubeObject);
  world.lacks(ENDPOINTS, { namespace: "shop", name: "web" });
  for (const id of [UNIT, SLICE]) world.reconcile(id);
  await world.clock.advance(3_500);
  world.endpoints(1);
  world.reconcile(UNIT);
  await world.clock.advance(2_000);
  for (const id of [UNIT, SLICE, UNIT]) world.reconcile(id);
  expect(deleted(world.writes)).toEqual([]);
  // No mirror works, so that slices are made.
  for (let round = 0; round < 4; round += 1) {
    await world.clock.advance(1_000);
    for (const id of [UNIT, COPY, SLICE]) {
      world.reconcile(id);
      for (const kind of [ENDPOINTS, ENDPOINT_SLICES]) world.shows(kind, "web");
    }
  }
  expect(deleted(world.writes)).toEqual(["web-b-x-shop-x-blue"]);
  world.close();
});

test("a copied slice of the tenant's mirror that a user takes over keeps its backends until slices of the copy of Endpoints show them", async () => {
  const world = copied(await between());
  // The host's copy contains the only backend of the Endpoints, which no other slice shows.
  world.has(ENDPOINT_SLICES, {
    ...ownSlice(
      "web-b",
      ips(1).map(({ ip }) => ip),
    ),
    ports: PORTS,
  } as KubeObject);
  world.reconcile(SLICE);
  world.shows(ENDPOINT_SLICES, "web-b");
  world.writes.length = 0;
  world.has(ENDPOINT_SLICES, ownSlice("web-b", ["10.9.0.1"]));
  for (const id of [SLICE, UNIT, SLICE]) world.reconcile(id);
  expect(world.writes).toEqual([]);
  world.enqueued.length = 0;
  world.mirrors();
  world.reconcile(UNIT);
  expect(world.enqueued).toContain(SLICE);
  world.reconcile(SLICE);
  expect(world.writes.map(({ action }) => action)).toEqual(["update"]);
  world.close();
});

test("a copied slice that loses a backend of the copy of Endpoints does not wait for slices of it that never come", async () => {
  const world = copied(await between());
  world.has(ENDPOINT_SLICES, {
    ...ownSlice(
      "web-b",
      ips(1).map(({ ip }) => ip),
    ),
    ports: PORTS,
  } as KubeObject);
  world.reconcile(SLICE);
  world.shows(ENDPOINT_SLICES, "web-b");
  world.writes.length = 0;
  world.has(ENDPOINT_SLICES, ownSlice("web-b", ["10.9.0.1"]));
  world.reconcile(SLICE);
  await world.clock.advance(5_000);
  // The host refuses what would be made.
  world.begin(UNIT);
  world.reconcile(SLICE);
  expect(world.writes.map(({ action }) => action)).toEqual(["update"]);
  world.close();
});
