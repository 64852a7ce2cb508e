/** Made slices are deleted as everything else is written: shown to the embedder, counted and logged, and tried again when it is allowed. */
import { describe, expect, test, vi } from "vitest";
import { silentLogger } from "../../../../src/base/logger.ts";
import type { Operation } from "../../../../src/engine/reconcile/plan-types.ts";
import { HAND_BACK } from "../../../../src/engine/sync/backends/hand-back.ts";
import { copyOf, createWorld, LATE_MS, made, mirrored, pass } from "./hand-back-world.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const WRITES = "endpoint_sync_writes_total";

test.each([
  ["that goes to the mirror", (copy: ReturnType<typeof copyOf>) => ({ copies: [copy], more: mirrored(copy) })],
  ["whose copy is gone", () => ({ copies: [], more: [] })],
])("the embedder receives the deletion of a slice %s, and it is counted and logged", async (_what, around) => {
  const seen: Operation[] = [];
  const beforeWrite = (operation: Operation) => (seen.push(operation), operation);
  const debug = vi.fn<(message: string, details?: Record<string, unknown>) => void>();
  const world = createWorld(false, { hooks: { beforeWrite }, logger: { ...silentLogger, debug } });
  const copy = copyOf("false", "20");
  const { copies, more } = around(copy);
  const [slice] = made(copy);
  Object.assign(world.state, { copies, slices: [slice!, ...more] });
  await pass(world, LATE_MS);
  const { namespace, name, uid, resourceVersion } = slice!.metadata;
  expect(seen).toMatchObject([{ action: "delete", side: "host", key: { namespace, name }, preconditions: { uid, resourceVersion } }]);
  expect(world.metrics.value(WRITES, { cluster: "host", action: "delete", result: "deleted" })).toBe(1);
  const { name: place } = copy.metadata;
  const line = { id: `${HAND_BACK}|${namespace}/${place}`, action: "delete", side: "host", reason: seen[0]!.reason, result: "deleted" };
  expect(debug.mock.calls).toEqual([["Applied", line]]);
});

test("a slice that the embedder refuses to delete stays, and the label shows the next process that it is left", async () => {
  const world = createWorld(false, { hooks: { beforeWrite: () => "refuse" } });
  const copy = copyOf("false", "20");
  Object.assign(world.state, { copies: [copy], slices: [...made(copy), ...mirrored(copy)] });
  expect(await world.run()).toEqual({ requeueAfterMs: MINUTE_MS });
  await pass(world, 2 * LATE_MS);
  expect(world.state.slices).toHaveLength(2);
  expect(world.around(copy)?.skipMirror).toBe("false");
  expect(world.metrics.value(WRITES, { cluster: "host", action: "delete", result: "deleted" })).toBe(0);
});

describe("without a permission", () => {
  test.each([
    ["list", "isForbidden", "true"],
    ["list", "isForbidden", undefined],
    ["delete", "isReadOnly", "false"],
  ] as const)("to %s slices, they go once it is granted (%s, label: %s)", async (_verb, denied, label) => {
    const world = createWorld();
    const copy = copyOf(label, "20");
    Object.assign(world.state, { copies: [copy], slices: [...made(copy), ...mirrored(copy)], standing: [copyOf("false", "20")] });
    world.state[denied] = true;
    await pass(world, 10 * MINUTE_MS);
    expect(world.state.slices).toHaveLength(2);
    world.state[denied] = false;
    await pass(world, 10 * MINUTE_MS);
    expect(world.state.slices.map(({ metadata }) => metadata.name)).toEqual(["web-m0"]);
    expect(world.around(copy)?.skipMirror).toBeUndefined();
    const { lists } = world.state;
    expect([await world.run(), world.state.lists]).toEqual([{}, lists]);
  });

  test("to delete a slice whose copy is gone, it goes once it is granted", async () => {
    const world = createWorld();
    Object.assign(world.state, { slices: made(copyOf("true", "20")), isReadOnly: true });
    await pass(world, 10 * MINUTE_MS);
    expect(world.state.slices).toHaveLength(1);
    world.state.isReadOnly = false;
    await pass(world, 10 * MINUTE_MS);
    expect(world.state.slices).toEqual([]);
  });

  test("to list slices, a few requests are made in the first hour, and then none if no slices are known", async () => {
    const world = createWorld();
    Object.assign(world.state, { copies: [copyOf(undefined, "20")], isForbidden: true });
    await pass(world, 24 * HOUR_MS);
    expect(world.state.lists).toBe(10);
  });

  test("to list slices, there is one request an hour in the end if a label shows that slices were made", async () => {
    const world = createWorld();
    const copy = copyOf("true", "20");
    Object.assign(world.state, { copies: [copy], isForbidden: true });
    await pass(world, 24 * HOUR_MS);
    expect(world.around(copy)?.skipMirror).toBe("false");
    const { lists } = world.state;
    await pass(world, 24 * HOUR_MS);
    // One of them is made at once.
    expect(world.state.lists - lists).toBe(24 + 1);
    expect(world.state.asked.filter((id) => id === HAND_BACK)).toEqual([]);
  });
});

test("a made slice that appears while others are removed goes, too", async () => {
  const world = createWorld(true);
  const copy = copyOf(undefined, "20");
  const [first] = made(copy);
  const late = { ...first!, metadata: { ...first!.metadata, name: first!.metadata.name!.replace(/-0$/, "-1") } };
  Object.assign(world.state, { copies: [copy], slices: [...made(copy), ...mirrored(copy)] });
  world.around(copy);
  const running = world.run();
  // The list was read, and the slice reaches the host before the deletions are answered.
  await Promise.resolve();
  world.state.slices = [...world.state.slices, late];
  world.saw(late);
  expect((await running).requeueAfterMs).toBe(1_000);
  await pass(world, 10_000);
  expect(world.state.slices.map(({ metadata }) => metadata.name)).toEqual(["web-m0"]);
});

test("a made slice that appears while others of a missing copy are removed goes, too", async () => {
  const world = createWorld(true);
  const [first] = made(copyOf(undefined, "20"));
  const late = { ...first!, metadata: { ...first!.metadata, name: first!.metadata.name!.replace(/-0$/, "-1") } };
  world.state.slices = [first!];
  await world.run();
  const running = world.run();
  await Promise.resolve();
  world.state.slices = [...world.state.slices, late];
  world.saw(late);
  expect((await running).requeueAfterMs).toBe(1_000);
  await pass(world, 10_000);
  expect(world.state.slices).toEqual([]);
});
