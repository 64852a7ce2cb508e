/** With `backends: auto`, a copy of a slice is deleted only if readers have its backends elsewhere, whatever else is written meanwhile. */
import { expect, test } from "vitest";
import { finish } from "../../../../src/base/finish.ts";
import { MIRROR, SLICE_MANAGER } from "../../../../src/engine/kinds/slice-labels.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from "../../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../../src/kube/object/types.ts";
import { between, copied, COPY, deleted, labels, PORTS, SERVICE, SLICE, UNIT } from "./order-world.ts";
import { ips, ownSlice, SKIP } from "./seen-backends.ts";

test("a copy of a slice does not go in favor of the host's mirror while a reconcile of the Endpoints switches the mirror off", async () => {
  const world = await between();
  world.service("web");
  world.reconcile(SERVICE);
  world.shows(SERVICES);
  world.reconcile(COPY);
  world.shows(ENDPOINTS, "web");
  world.mirrors();
  world.reconcile(UNIT);
  // The Endpoints are over capacity: slices of Pods are the source.
  const over = { "endpoints.kubernetes.io/over-capacity": "truncated" };
  world.endpoints(1, "web", over);
  const addresses = ips(1).map(({ ip }) => ip);
  world.has(ENDPOINT_SLICES, {
    ...ownSlice("web-p", addresses, { [SLICE_MANAGER]: "endpointslice-controller.k8s.io" }),
    ports: PORTS,
  } as KubeObject);
  world.reconcile(UNIT);
  world.reconcile("endpointslices|shop/web-p");
  world.shows(ENDPOINT_SLICES, "web");
  world.reconcile(UNIT);
  world.writes.length = 0;
  // The Endpoints reconcile has read the copy of the slice live, and its write is under way.
  const sends = world.begin(COPY);
  while (sends.request.type === "get") world.step(sends);
  expect(sends.request).toMatchObject({
    type: "write",
    operation: { action: "update", object: { metadata: { labels: { [SKIP]: "true" } } } },
  });
  // Meanwhile, the Endpoints are within capacity again, and the slice is gone.
  world.endpoints(1, "web");
  world.lacks(ENDPOINT_SLICES, { namespace: "shop", name: "web-p" });
  world.reconcile("endpointslices|shop/web-p");
  const gone = deleted(world.writes);
  world.goOn(sends);
  // Either the copy stays, or the mirror does.
  expect(gone.length > 0 && labels(world.writes).includes("true")).toBe(false);
  world.close();
});

test.each(["nothing", "an event", "the unit begins"])(
  "time in which a process stood still after a failed write does not count for the replacement, then: %s",
  async (then) => {
    const world = copied(await between());
    const addresses = ips(1).map(({ ip }) => ip);
    // The tenant's mirror takes the slice over; the host has no mirror, so slices are made from the copy of the Endpoints.
    world.has(ENDPOINT_SLICES, { ...ownSlice("web-b", addresses, { [SLICE_MANAGER]: MIRROR }), ports: PORTS } as KubeObject);
    for (const id of [UNIT, SLICE]) world.reconcile(id);
    for (let round = 0; round < 3; round += 1) {
      await world.clock.advance(1_000);
      if (round < 2) for (const id of [UNIT, SLICE]) world.reconcile(id);
    }
    const run = world.begin(UNIT);
    expect(run.request).toMatchObject({ type: "write", operation: { action: "create" } });
    // The host does not answer, and then the process stands still.
    finish(run.answer({ type: "failed", error: new Error("away") }));
    world.reconcile(SLICE);
    expect(deleted(world.writes)).toEqual([]);
    await world.clock.advance(10_000);
    if (then === "an event") world.shows(SERVICES);
    // The slice is about to be made, but the host has not answered yet.
    if (then === "the unit begins") expect(world.begin(UNIT).request).toMatchObject({ type: "write", operation: { action: "create" } });
    world.reconcile(SLICE);
    expect(deleted(world.writes)).toEqual([]);
    world.close();
  },
);
