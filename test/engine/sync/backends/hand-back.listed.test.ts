/** With `backends: endpoints`, what was made of copies without a label is known by a list alone, until it is handed back. */
import { describe, expect, test } from "vitest";
import type { KubeObject } from "../../../../src/kube/object/types.ts";
import { namedService } from "../../../support/rules.ts";
import { copyOf, createWorld, LATE_MS, made, mirrored, pass } from "./hand-back-world.ts";

type World = ReturnType<typeof createWorld>;

const names = ({ state }: World) => state.slices.map(({ metadata }) => metadata.name);

test("it waits for a mirror that comes after minutes", async () => {
  const world = createWorld();
  const copy = copyOf(undefined, "20");
  world.state.copies = [copy];
  world.state.slices = made(copy);
  await pass(world, 5 * LATE_MS);
  expect(names(world)).toHaveLength(1);
  world.state.slices.push(...mirrored(copy));
  await pass(world, LATE_MS);
  expect(names(world)).toEqual(["web-m0"]);
});

/** A process before this one has made a slice, which reaches the host only now. */
async function late(copies: readonly KubeObject[]) {
  const world = createWorld();
  world.state.copies = [...copies];
  expect(await world.run()).toEqual({ requeueAfterMs: LATE_MS });
  await world.clock.advance(LATE_MS);
  world.state.slices.push(...made(copyOf(undefined, "20")));
  return world;
}

test("it is not forgotten when the host is down as it is to go", async () => {
  const copy = copyOf(undefined, "20");
  const world = await late([copy]);
  world.state.slices.push(...mirrored(copy));
  world.state.isDown = true;
  await expect(world.run()).rejects.toThrow("down");
  world.state.isDown = false;
  await pass(world, LATE_MS);
  expect(names(world)).toEqual(["web-m0"]);
});

test("it is not forgotten when the mirror shows it later than the list", async () => {
  const copy = copyOf(undefined, "20");
  const world = await late([copy]);
  expect((await world.run()).requeueAfterMs).toBe(1_000);
  world.state.slices.push(...mirrored(copy));
  await pass(world, LATE_MS);
  expect(names(world)).toEqual(["web-m0"]);
});

test("it goes with a copy that is gone", async () => {
  const world = await late([]);
  await pass(world, LATE_MS);
  expect(names(world)).toEqual([]);
});

describe("beside Endpoints that are no longer a copy", () => {
  /** The syncer has handed the copy over, or a user of the host has removed its markers. */
  const [unmarked] = [copyOf(undefined, "21")].map((copy) => ({ ...copy, metadata: { ...copy.metadata, annotations: {} } }));
  const standing = (selector: Record<string, string> | undefined) => {
    const world = createWorld();
    world.state.copies = [unmarked!];
    world.state.service = { ...namedService(), spec: { ...namedService().spec, selector } };
    world.state.slices = made(copyOf(undefined, "20"));
    return world;
  };

  test("it goes if the host Service has a selector: slices of Pods are added to it", async () => {
    const world = standing({ app: "web" });
    await pass(world, 2 * LATE_MS);
    expect(names(world)).toEqual([]);
  });

  test.each([undefined, {}])("it stays if the host Service has the selector %o", async (selector) => {
    const world = standing(selector);
    await pass(world, 2 * LATE_MS);
    expect(names(world)).toHaveLength(1);
  });

  test("it goes if the host Service gets a selector later", async () => {
    const world = standing(undefined);
    await pass(world, 2 * LATE_MS);
    world.state.service = { ...namedService(), spec: { ...namedService().spec, selector: { app: "web" } } };
    await pass(world, LATE_MS);
    expect(names(world)).toEqual([]);
  });

  test("it goes to the mirror once the copy has its markers again", async () => {
    const world = standing(undefined);
    await pass(world, 2 * LATE_MS);
    const copy = copyOf(undefined, "22");
    world.state.copies = [copy];
    world.state.slices.push(...mirrored(copy));
    await pass(world, LATE_MS);
    expect(names(world)).toEqual(["web-m0"]);
  });

  test("it stays if the copy has its markers again when it is read live", async () => {
    const world = standing({ app: "web" });
    world.state.standing = [copyOf(undefined, "22")];
    await pass(world, 2 * LATE_MS);
    expect(names(world)).toHaveLength(1);
  });
});

test("it goes too if a tenant cluster was adopted meanwhile", async () => {
  const world = createWorld();
  const copy = copyOf("false", "20");
  const former = {
    ...copy,
    metadata: { ...copy.metadata, annotations: { ...copy.metadata.annotations, "sync.platform/cluster-uid": "old" } },
  };
  world.state.copies = [copy];
  world.state.slices = [...made(former), ...mirrored(copy)];
  await pass(world, 2 * LATE_MS);
  expect(names(world)).toEqual(["web-m0"]);
});

test("it goes when another process has led meanwhile, also beside a copy that was done with", async () => {
  const world = createWorld();
  const copies = ["web", "db"].map((name) => copyOf("false", "20", { namespace: "shop", name }));
  world.state.copies = [...copies];
  await pass(world, 2 * LATE_MS);
  world.state.copies = copies.map((copy) => {
    const { "endpointslice.kubernetes.io/skip-mirror": _label, ...labels } = copy.metadata.labels!;
    return { ...copy, metadata: { ...copy.metadata, labels } };
  });
  for (const copy of world.state.copies) world.around(copy, undefined, { namespace: "shop", name: copy.metadata.name!.split("-")[0]! });
  // It makes slices of both, and labels one.
  world.state.slices = copies.flatMap((copy) => made(copy));
  world.state.copies[0] = copies[0]!;
  expect(world.around(copies[0])?.skipMirror).toBe("false");
  await pass(world, 1_000);
  world.state.slices.push(...copies.flatMap((copy, index) => mirrored(copy).map((slice) => named(slice, `m${index}`))));
  await pass(world, 2 * LATE_MS);
  expect(names(world)).toEqual(["m0", "m1"]);
});

test("it goes when another process has led meanwhile, also before its label is removed", async () => {
  const world = createWorld();
  const copy = copyOf("false", "20");
  world.state.copies = [copy];
  await pass(world, 2 * LATE_MS);
  world.standBy();
  world.state.slices = [...made(copy), ...mirrored(copy)];
  await world.run();
  // The last write of the other process reaches the host now.
  const [late] = made(copy);
  world.state.slices.push(named(late!, late!.metadata.name!.replace(/-0$/, "-1")));
  await pass(world, LATE_MS);
  expect(names(world)).toEqual(["web-m0"]);
});

function named<T extends KubeObject>(object: T, name: string): T {
  return { ...object, metadata: { ...object.metadata, name } };
}
