/** What was made of copies of Endpoints goes back to the host's mirror, whatever the cache of copies shows when. */
import { expect, test } from "vitest";
import { SKIP_MIRROR } from "../../../../src/engine/kinds/slice-labels.ts";
import { plan } from "../../../../src/engine/reconcile/plan.ts";
import type { SliceCount } from "../../../../src/engine/reconcile/rules/rules.ts";
import { HAND_BACK } from "../../../../src/engine/sync/backends/hand-back.ts";
import type { Endpoints, EndpointSlice } from "../../../../src/kube/object/types.ts";
import { stored, tenantEndpoints } from "../../../support/rules.ts";
import { AROUND, copyOf, createWorld, KEY, LATE_MS, made, mirrored, pass, RULES } from "./hand-back-world.ts";

test("a label that the cache shows only later is looked after then", async () => {
  const { state, around, clock, run } = createWorld();
  state.copies = [copyOf(undefined, "20")];
  expect(await run()).toEqual({ requeueAfterMs: LATE_MS });
  expect([state.lists, state.asked]).toEqual([1, []]);
  const copy = copyOf("true", "21");
  state.copies = [copy];
  state.slices = made(copy);
  expect(around(copy)?.skipMirror).toBe("true");
  expect(state.asked).toEqual([HAND_BACK]);
  // Once is enough until it has been looked at.
  around(copy);
  expect(state.asked).toEqual([HAND_BACK]);
  expect((await run()).requeueAfterMs).toBeGreaterThan(0);
  expect(around(copy)?.skipMirror).toBe("false");
  state.slices.push(...mirrored(copy));
  // The host still has the label: a mirror that shows the same is about to take that away.
  expect((await run()).requeueAfterMs).toBeGreaterThan(0);
  expect(state.slices).toHaveLength(2);
  state.standing = [copyOf("false", "22")];
  await clock.advance(LATE_MS);
  expect(await run()).toEqual({});
  expect(state.slices.map(({ metadata }) => metadata.name)).toEqual(["web-m0"]);
  expect(around(copy)?.skipMirror).toBeUndefined();
});

test.each(["true", "false"])(
  "a copy with the label %s is looked at once more when no earlier process can write any more",
  async (label) => {
    const { state, around, clock, run } = createWorld();
    const copy = copyOf(label, "20");
    state.copies = [copy];
    await clock.advance(5_000);
    expect(await run()).toEqual({ requeueAfterMs: LATE_MS });
    // The mirror works meanwhile, and the next process finds the label should this one end.
    expect(around(copy)?.skipMirror).toBe("false");
    expect([state.lists, state.asked.filter((id) => id === HAND_BACK)]).toEqual([1, []]);
    state.copies = [copyOf("false", "21")];
    await clock.advance(LATE_MS - 1);
    expect(await run()).toEqual({ requeueAfterMs: 1 });
    // The write of a process that has ended reaches the host now.
    state.slices = [...made(copy), ...mirrored(copy)];
    expect(around(state.copies[0])?.skipMirror).toBe("false");
    await clock.advance(1);
    expect(await run()).toEqual({});
    expect(state.slices.map(({ metadata }) => metadata.name)).toEqual(["web-m0"]);
    expect(around(state.copies[0])?.skipMirror).toBeUndefined();
    expect([state.lists, await run(), state.lists]).toEqual([3, {}, 3]);
  },
);

test("what is removed at the first look can be followed by more, and needs no label to be found", async () => {
  const { state, around, clock, run } = createWorld();
  const copy = copyOf("false", "20");
  state.copies = [copy];
  state.slices = [...made(copy), ...mirrored(copy)];
  expect(await run()).toEqual({ requeueAfterMs: LATE_MS });
  expect(state.slices.map(({ metadata }) => metadata.name)).toEqual(["web-m0"]);
  expect(around(copy)?.skipMirror).toBe("false");
  // A user of the host has taken the label away.
  state.copies = [copyOf(undefined, "21")];
  state.slices.push(...made(copy));
  await clock.advance(LATE_MS);
  expect(await run()).toEqual({});
  expect(state.slices.map(({ metadata }) => metadata.name)).toEqual(["web-m0"]);
});

test("what waits for the mirror is not forgotten when a user of the host takes the label away", async () => {
  const { state, clock, run } = createWorld();
  const copy = copyOf("false", "20");
  state.slices = made(copy);
  for (const label of ["false", "true", undefined]) {
    state.copies = [copyOf(label, "21")];
    expect((await run()).requeueAfterMs).toBeGreaterThan(0);
    await clock.advance(LATE_MS);
  }
  state.slices.push(...mirrored(copy));
  expect(await run()).toEqual({});
  expect(state.slices.map(({ metadata }) => metadata.name)).toEqual(["web-m0"]);
});

test("what was made of copies that have no label yet is found by a list at the start, and they get none for it", async () => {
  const { state, around, clock, run } = createWorld();
  const copy = copyOf(undefined, "20");
  state.copies = [copy];
  state.slices = [...made(copy), ...mirrored(copy)];
  expect(await run()).toEqual({ requeueAfterMs: LATE_MS });
  expect(state.slices.map(({ metadata }) => metadata.name)).toEqual(["web-m0"]);
  expect(around(copy)).toBeUndefined();
  state.slices.push(...made(copy));
  await clock.advance(LATE_MS);
  expect(await run()).toEqual({});
  expect(state.slices.map(({ metadata }) => metadata.name)).toEqual(["web-m0"]);
  expect(state.lists).toBe(2);
});

test("a label that comes back is looked after again: another process has led meanwhile, with another configuration", async () => {
  const { state, around, clock, run } = createWorld();
  const copy = copyOf("false", "20");
  state.copies = [copy];
  expect(await run()).toEqual({ requeueAfterMs: LATE_MS });
  await clock.advance(LATE_MS);
  expect(await run()).toEqual({});
  expect(around(copy)?.skipMirror).toBeUndefined();
  expect(around(copyOf(undefined, "21"))).toBeUndefined();
  expect(await run()).toEqual({});
  await clock.advance(LATE_MS);
  state.asked.length = 0;
  const labelled = copyOf("true", "22");
  state.copies = [labelled];
  state.slices = [...made(copy), ...mirrored(copy)];
  state.standing = [copyOf("false", "23")];
  expect([around(labelled)?.skipMirror, state.asked]).toEqual(["true", [HAND_BACK]]);
  expect(await run()).toEqual({ requeueAfterMs: LATE_MS });
  expect(around(labelled)?.skipMirror).toBe("false");
  // The last write of the other process reaches the host now.
  state.slices.push(...made(copy));
  await clock.advance(LATE_MS);
  expect(await run()).toEqual({});
  expect(state.slices.map(({ metadata }) => metadata.name)).toEqual(["web-m0"]);
});

test("a label on a copy that never had one is looked after until no late write can come: another process has led meanwhile", async () => {
  const world = createWorld();
  world.state.copies = [copyOf(undefined, "20")];
  await pass(world, 2 * LATE_MS);
  const labelled = copyOf("true", "21");
  Object.assign(world.state, { copies: [labelled], slices: mirrored(labelled), standing: [copyOf("false", "22")] });
  expect(world.around(labelled)?.skipMirror).toBe("true");
  await world.run();
  expect(world.around(labelled)?.skipMirror).toBe("false");
  // The last write of the other process reaches the host now.
  world.state.slices.push(...made(labelled));
  await pass(world, LATE_MS);
  expect(world.state.slices.map(({ metadata }) => metadata.name)).toEqual(["web-m0"]);
});

test.each([
  ["the copy", []],
  ["its label", [copyOf(undefined, "19")]],
])("a label is looked after once the cache shows %s, though it was looked for before", async (_what, shown) => {
  const { state, around, clock, run } = createWorld();
  const copy = copyOf("true", "20");
  // What the syncer itself has written last is known before the cache has it.
  expect(around(copy)?.skipMirror).toBe("true");
  state.copies = [...shown];
  expect(await run()).toEqual({ requeueAfterMs: LATE_MS });
  state.copies = [copy];
  expect(around(copy)?.skipMirror).toBe("true");
  expect(state.asked).toEqual([HAND_BACK, HAND_BACK]);
  await clock.advance(LATE_MS);
  expect(await run()).toEqual({});
  expect(around(copy)?.skipMirror).toBeUndefined();
});

test("a copy whose markers others took away is looked after once it has them back", async () => {
  const { state, around, clock, run } = createWorld();
  const copy = copyOf("true", "20");
  expect(around(copy)?.skipMirror).toBe("true");
  const { annotations: _markers, ...metadata } = copy.metadata;
  state.copies = [{ ...copy, metadata }];
  expect(await run()).toEqual({ requeueAfterMs: LATE_MS });
  state.copies = [copy];
  expect(around(copy)?.skipMirror).toBe("true");
  expect(state.asked).toEqual([HAND_BACK, HAND_BACK]);
  await clock.advance(LATE_MS);
  expect(await run()).toEqual({});
  expect(around(copy)?.skipMirror).toBeUndefined();
});

test("the same if they are taken away while what was made waits for the mirror, where slices are synced", async () => {
  const { state, around, run } = createWorld(true);
  const copy = copyOf("false", "20");
  state.copies = [copy];
  state.slices = made(copy);
  expect((await run()).requeueAfterMs).toBeGreaterThan(0);
  state.copies = [{ ...copy, metadata: { ...copy.metadata, annotations: {} } }];
  expect(await run()).toEqual({});
  state.copies = [copy];
  state.asked.length = 0;
  around(copy);
  expect(state.asked).toContain(HAND_BACK);
});

test("a copy that comes back without its label is looked after, where slices are synced", async () => {
  const { state, around, run } = createWorld(true);
  const copy = copyOf(undefined, "20");
  const { annotations: _markers, ...metadata } = copy.metadata;
  state.copies = [{ ...copy, metadata }];
  state.slices = [...made(copy), ...mirrored(copy)];
  expect(await run()).toEqual({});
  state.copies = [copy];
  expect(around(copy)).toBeUndefined();
  expect(state.asked).toEqual([HAND_BACK]);
  expect(await run()).toEqual({});
  expect(state.slices.map(({ metadata: { name } }) => name)).toEqual(["web-m0"]);
  around(copy);
  expect(state.asked.filter((id) => id === HAND_BACK)).toHaveLength(1);
});

test.each([false, true])("what was made of a copy that is gone for good goes too, and not before (both kinds: %s)", async (bothKinds) => {
  const { state, clock, run } = createWorld(bothKinds);
  const copy = copyOf("true", "20");
  state.copies = [copy];
  state.slices = made(copy);
  expect((await run()).requeueAfterMs).toBeGreaterThan(0);
  // A user of the host has deleted it: it is made again.
  state.copies = [];
  expect((await run()).requeueAfterMs).toBeGreaterThan(0);
  expect(state.slices).toHaveLength(1);
  state.copies = [copyOf("false", "25")];
  expect((await run()).requeueAfterMs).toBeGreaterThan(0);
  expect(state.slices).toHaveLength(1);
  state.copies = [];
  // A list has left it out.
  state.standing = [copyOf("false", "25")];
  for (let times = 0; times < 3; times += 1) expect((await run()).requeueAfterMs).toBeGreaterThan(0);
  expect(state.slices).toHaveLength(1);
  state.standing = undefined;
  expect(await run()).toEqual(bothKinds ? {} : { requeueAfterMs: LATE_MS });
  expect(state.slices).toEqual([]);
  if (bothKinds) return;
  // The write of a process that has ended reaches the host now.
  state.slices = made(copy);
  await clock.advance(LATE_MS);
  expect(await run()).toEqual({});
  expect(state.slices).toEqual([]);
  expect([state.lists, await run(), state.lists]).toEqual([8, {}, 8]);
});

test("each slice is looked at equally often, however many copies there are", async () => {
  const looks = async (count: number) => {
    const { state, run } = createWorld();
    const copies = Array.from({ length: count }, (_, index) => copyOf("true", "20", { namespace: "shop", name: `web-${index}` }));
    let times = 0;
    const counted = (slice: EndpointSlice) =>
      Object.defineProperty({ ...slice }, "metadata", { get: () => ((times += 1), slice.metadata) });
    state.copies = copies;
    state.slices = copies.flatMap((copy) => [...made(copy), ...mirrored(copy)].map(counted));
    await run();
    return times / state.slices.length;
  };
  expect(await looks(20)).toBe(await looks(5));
});

test.each([false, true])("what an earlier process made of a copy that went with it goes as well (both kinds: %s)", async (bothKinds) => {
  const { state, run } = createWorld(bothKinds);
  state.slices = made(copyOf("true", "20"));
  expect((await run()).requeueAfterMs).toBeGreaterThan(0);
  expect(await run()).toEqual(bothKinds ? {} : { requeueAfterMs: LATE_MS });
  expect(state.slices).toEqual([]);
});

test("what is shown only later is looked after then, where slices are synced, also of a copy that was done with", async () => {
  const { state, run, saw } = createWorld(true);
  const copy = copyOf(undefined, "20");
  state.copies = [copy];
  expect(await run()).toEqual({});
  const [slice] = made(copy);
  for (const round of [1, 2]) {
    state.slices = [slice!, ...mirrored(copy)];
    saw(slice!);
    saw(slice!);
    saw(mirrored(copy)[0]!);
    expect(state.asked.filter((id) => id === HAND_BACK)).toHaveLength(round);
    expect(await run()).toEqual({});
    expect(state.slices.map(({ metadata }) => metadata.name)).toEqual(["web-m0"]);
  }
});

test("what was made beside some copies of slices goes to the mirror, which comes back until all of them have one", async () => {
  const { state, around, run } = createWorld(true);
  let copy = copyOf("true", "20");
  state.copies = [copy];
  state.slices = made(copy);
  const labelAfterwards = (slices: SliceCount) => {
    const input = { key: KEY, tenant: tenantEndpoints(), host: copy, slices, backends: around(copy, slices), ...AROUND };
    const [operation] = plan(RULES, input).operations;
    if (operation?.action === "update") copy = stored(operation.object, `${Number(copy.metadata.resourceVersion) + 1}`) as Endpoints;
    state.copies = [copy];
    return copy.metadata.labels?.[SKIP_MIRROR];
  };
  // The name of the other one is taken on the host, so it never has a copy.
  const some = { total: 2, copied: 1 };
  expect(labelAfterwards(some)).toBe("true");
  expect((await run()).requeueAfterMs).toBeGreaterThan(0);
  expect(labelAfterwards(some)).toBe("false");
  expect((await run()).requeueAfterMs).toBeGreaterThan(0);
  state.slices.push(...mirrored(copy));
  expect(await run()).toEqual({});
  expect(state.slices.map(({ metadata }) => metadata.name)).toEqual(["web-m0"]);
  expect(labelAfterwards(some)).toBeUndefined();
  expect(labelAfterwards({ total: 2, copied: 2 })).toBe("true");
});

/** Copies of slices of the tenant beside the copy of Endpoints. */
function copiesBeside(copy: Endpoints, names: readonly string[]): EndpointSlice[] {
  const annotations = { ...copy.metadata.annotations, "sync.platform/object-kind": "discovery.k8s.io/v1/EndpointSlice" };
  return names.map((name) => {
    const [slice] = made(copy);
    const own = { ...annotations, "sync.platform/object-name": name, "sync.platform/object-host-name": `${name}-copy` };
    return { ...slice!, metadata: { ...slice!.metadata, name: `${name}-copy`, annotations: own } };
  });
}

test("what was made goes once all slices have copies, and the host itself shows them", async () => {
  const { state, around, run } = createWorld(true);
  const copy = copyOf("true", "20");
  const [one, two] = copiesBeside(copy, ["web-a", "web-b"]);
  state.copies = [copy];
  state.slices = [...made(copy), one!];
  // By its answers the second one is there, too.
  around(copy, { total: 2, copied: 2 });
  // Other Endpoints that translate to the same place have no say.
  expect(around(copy, { total: 0, copied: 0 }, { namespace: "other", name: "web" })).toBeUndefined();
  expect((await run()).requeueAfterMs).toBeGreaterThan(0);
  expect(state.slices).toHaveLength(2);
  state.slices.push(two!);
  expect(await run()).toEqual({});
  expect(state.slices.map(({ metadata }) => metadata.name)).toEqual(["web-a-copy", "web-b-copy"]);
});

test("it is the copy on the host that a mirror must show, whatever the cache has of it", async () => {
  const { state, clock, run } = createWorld();
  const copy = copyOf("false", "20");
  // The edit of a host user, which the syncer has undone already.
  state.copies = [{ ...copy, subsets: [] }];
  state.standing = [copy];
  state.slices = made(copy);
  expect((await run()).requeueAfterMs).toBeGreaterThan(0);
  expect(state.slices).toHaveLength(1);
  state.slices.push(...mirrored(copy));
  await clock.advance(LATE_MS);
  expect(await run()).toEqual({});
  expect(state.slices.map(({ metadata }) => metadata.name)).toEqual(["web-m0"]);
});
