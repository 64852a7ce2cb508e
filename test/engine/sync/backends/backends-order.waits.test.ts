/** With `backends: auto`, what does not count as the time that a replacement has, and decisions that are made again. */
import { expect, test } from "vitest";
import { finish } from "../../../../src/base/finish.ts";
import { MIRROR, SLICE_MANAGER } from "../../../../src/engine/kinds/slice-labels.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from "../../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../../src/kube/object/types.ts";
import { between, COPY, deleted, PORTS, SERVICE, SLICE, UNIT } from "./order-world.ts";
import { ips, ownSlice } from "./seen-backends.ts";

const WEB = { namespace: "shop", name: "web" };
const ADDRESSES = ips(1).map(({ ip }) => ip);
const PODS = "endpointslices|shop/web-p4";
const sliceOf = (name: string, manager?: string) =>
  ({ ...ownSlice(name, ADDRESSES, manager === undefined ? {} : { [SLICE_MANAGER]: manager }), ports: PORTS }) as KubeObject;

/** A Service with a copy of its Endpoints, and a slice of the tenant that its mirror takes over; the slice has a copy. */
async function takenOver(annotations: Record<string, string> = {}) {
  const world = await between();
  world.service("web");
  world.reconcile(SERVICE);
  world.shows(SERVICES);
  world.reconcile(COPY);
  world.shows(ENDPOINTS);
  world.has(ENDPOINT_SLICES, sliceOf("web-b"));
  world.reconcile(SLICE);
  world.shows(ENDPOINT_SLICES);
  world.endpoints(1, "web", annotations);
  world.has(ENDPOINT_SLICES, sliceOf("web-b", MIRROR));
  for (const id of [UNIT, COPY, SLICE]) world.reconcile(id);
  world.writes.length = 0;
  return world;
}

test("a copied slice does not go for a made slice that was only falsely reported", async () => {
  const world = await takenOver();
  await world.clock.advance(3_000);
  const run = world.begin(UNIT);
  if (run.request.type !== "write" || run.request.operation.action !== "create") throw new Error("No slice is made");
  const { object } = run.request.operation;
  finish(run.answer({ type: "object", object: { ...object, metadata: { ...object.metadata, uid: "never", resourceVersion: "9999" } } }));
  world.reconcile(SLICE);
  await world.clock.advance(5_000);
  for (const id of [UNIT, SLICE]) world.reconcile(id);
  expect(deleted(world.writes)).toEqual([]);
  world.close();
});

test("beside paused Endpoints, time in which nothing was made does not count for the copy of a slice of Pods that is gone", async () => {
  const world = await between();
  world.service("web");
  world.lacks(ENDPOINTS, WEB);
  world.reconcile(SERVICE);
  world.shows(SERVICES);
  world.has(ENDPOINT_SLICES, sliceOf("web-p4", "endpointslice-controller.k8s.io"));
  world.reconcile(UNIT);
  world.reconcile(PODS);
  world.shows(ENDPOINT_SLICES);
  world.endpoints(1);
  for (let round = 0; round < 2; round += 1) {
    world.reconcile(UNIT);
    world.reconcile(COPY);
    world.shows(ENDPOINTS);
  }
  world.reconcile(UNIT);
  world.endpoints(1, "web", { "sync.platform/pause": "true" });
  for (const id of [UNIT, COPY, PODS]) world.reconcile(id);
  world.writes.length = 0;
  world.lacks(ENDPOINT_SLICES, { namespace: "shop", name: "web-p4" });
  world.reconcile(PODS);
  await world.clock.advance(6_000);
  const run = world.begin(UNIT);
  expect(run.request).toMatchObject({ type: "write", operation: { action: "create" } });
  world.reconcile(PODS);
  expect(deleted(world.writes)).toEqual([]);
  world.goOn(run);
  world.shows(ENDPOINT_SLICES);
  for (const id of [UNIT, PODS]) world.reconcile(id);
  expect(deleted(world.writes)).toEqual(["web-p4-x-shop-x-blue"]);
  world.close();
});

test("the copy of a slice of the tenant's mirror goes if the paused Endpoints and their copy vanish at once", async () => {
  const world = await takenOver({ "sync.platform/pause": "true" });
  world.enqueued.length = 0;
  world.lacks(ENDPOINTS, WEB);
  world.hostLacks(ENDPOINTS, { namespace: "vc", name: "web-x-shop-x-blue" });
  for (const id of [COPY, UNIT]) world.reconcile(id);
  expect(world.enqueued).toContain(SLICE);
  world.reconcile(SLICE);
  expect(deleted(world.writes)).toEqual(["web-b-x-shop-x-blue"]);
  world.close();
});

test("a held copy does not go in its time if the Endpoints change before its turn", async () => {
  const world = await takenOver();
  // A slice without a copy prevents a release by what readers see.
  world.has(ENDPOINT_SLICES, sliceOf("web-c"));
  await world.clock.advance(3_000);
  world.reconcile(UNIT);
  world.shows(ENDPOINT_SLICES);
  for (const id of [UNIT, SLICE]) world.reconcile(id);
  await world.clock.advance(5_000);
  world.enqueued.length = 0;
  world.reconcile(UNIT);
  expect(world.enqueued).toContain(SLICE);
  world.endpoints(2);
  for (const id of [COPY, SLICE]) world.reconcile(id);
  expect(deleted(world.writes)).toEqual([]);
  world.shows(ENDPOINTS);
  world.reconcile(UNIT);
  world.shows(ENDPOINT_SLICES);
  for (const id of [UNIT, SLICE]) world.reconcile(id);
  expect(deleted(world.writes)).toEqual(["web-b-x-shop-x-blue"]);
  world.close();
});

test("a held copy that was free to go for a moment only goes when its time is over", async () => {
  const world = await takenOver();
  const other = { namespace: "shop", name: "web-c" };
  world.has(ENDPOINT_SLICES, sliceOf("web-c"));
  await world.clock.advance(3_000);
  world.reconcile(UNIT);
  world.shows(ENDPOINT_SLICES);
  for (const id of [UNIT, SLICE]) world.reconcile(id);
  world.lacks(ENDPOINT_SLICES, other);
  world.enqueued.length = 0;
  world.reconcile(UNIT);
  expect(world.enqueued).toContain(SLICE);
  world.has(ENDPOINT_SLICES, sliceOf("web-c"));
  for (const id of [SLICE, UNIT]) world.reconcile(id);
  expect(deleted(world.writes)).toEqual([]);
  await world.clock.advance(5_000);
  for (const id of [UNIT, SLICE]) world.reconcile(id);
  expect(deleted(world.writes)).toEqual(["web-b-x-shop-x-blue"]);
  world.close();
});
