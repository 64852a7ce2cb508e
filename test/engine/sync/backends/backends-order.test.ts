/** With `backends: auto`, the copy of Endpoints and what is made of it are written in an order in which no reader loses a backend. */
import { describe, expect, test } from "vitest";
import { MIRROR, SLICE_MANAGER } from "../../../../src/engine/kinds/slice-labels.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from "../../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../../src/kube/object/types.ts";
import { ips, ownSlice } from "./seen-backends.ts";
import { COPY, UNIT, SLICE, PORTS, between, madeUnseen, copied, labels, deleted } from "./order-world.ts";

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
