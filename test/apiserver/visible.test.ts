import { describe, expect, test } from "vitest";
import type { KubeObject } from "../../src/kube/object/types.ts";
import { createMemoryStore } from "../../src/apiserver/store/memory/memory-store.ts";
import { createRegistry } from "../../src/apiserver/verbs/registry.ts";
import type { WatchRequest } from "../../src/apiserver/verbs/watch/watch.ts";
import { codeOf } from "../conformance/setting.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { createSeededChance } from "./seeded-chance.ts";
import { createLocks, LOCKS, specOf } from "./support/locks-kind.ts";

/** Locks of doors that are open to anyone who looks; the set can be changed meanwhile. */
function setup() {
  const store = createMemoryStore();
  const registry = createRegistry({ store, definitions: [createLocks()], clock: createFakeClock(0), chance: createSeededChance(1) });
  const doors = new Set(["own"]);
  const visible = (object: KubeObject) => doors.has(specOf(object).door ?? "");
  const create = (name: string, door: string, labels: Readonly<Record<string, string>> = {}) =>
    registry.create(LOCKS, "shop", { metadata: { name, labels }, spec: { door } });
  const move = (name: string, door: string) => registry.patch(LOCKS, { namespace: "shop", name }, "merge", { spec: { door } });
  const watch = async (request: WatchRequest = {}) => {
    const queue = await registry.watch(LOCKS, { visible, ...request });
    return async () => {
      const records = await queue.take();
      return records!.map(({ type, object }) => `${type} ${(object as KubeObject).metadata.name}`);
    };
  };
  return { store, registry, doors, visible, create, move, watch };
}

describe("a list for a user who may not see everything", () => {
  test("fills its pages with visible objects, and reveals nothing of the rest", async () => {
    const { registry, visible, create } = setup();
    for (const [index, door] of ["own", "other", "other", "own", "other", "own", "other"].entries()) await create(`l${index}`, door);
    const first = await registry.list(LOCKS, { visible, limit: 2 });
    expect(first.items.map(({ metadata }) => metadata.name)).toEqual(["l0", "l3"]);
    expect(first.remainingItemCount).toBeUndefined();
    expect(Buffer.from(first.continue!, "base64url").toString()).toContain("l3");
    const second = await registry.list(LOCKS, { visible, limit: 2, continue: first.continue! });
    expect([second.items.map(({ metadata }) => metadata.name), second.continue]).toEqual([["l5"], undefined]);
  });

  test("obeys selectors as well", async () => {
    const { registry, visible, create } = setup();
    await create("a", "own", { x: "1" });
    await create("b", "other", { x: "1" });
    await create("c", "own");
    const names = async (request: object) =>
      (await registry.list(LOCKS, { visible, ...request })).items.map(({ metadata }) => metadata.name);
    expect(await names({ labelSelector: "x=1" })).toEqual(["a"]);
    expect(await names({ fieldSelector: "metadata.name!=a" })).toEqual(["c"]);
  });

  test("bounds what the deletion of a collection deletes", async () => {
    const { registry, visible, create } = setup();
    await create("a", "own");
    await create("b", "other");
    const deleted = await registry.deleteCollection(LOCKS, { visible });
    expect(deleted.map(({ metadata }) => metadata.name)).toEqual(["a"]);
    expect((await registry.list(LOCKS)).items.map(({ metadata }) => metadata.name)).toEqual(["b"]);
  });
});

describe("a watch for a user who may not see everything", () => {
  test("begins with the visible objects, and marks their end", async () => {
    const { create, watch } = setup();
    await create("a", "own");
    await create("b", "other");
    const take = await watch({ sendInitialEvents: true, resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: true });
    expect(await take()).toEqual(["ADDED a", "BOOKMARK undefined"]);
  });

  test("shows objects that become visible as ADDED and those that stop being so as DELETED", async () => {
    const { create, move, watch, registry } = setup();
    await create("a", "own");
    await create("b", "other");
    const take = await watch();
    await take();
    await move("b", "own");
    await move("b", "other");
    await move("b", "third");
    await move("a", "other");
    await registry.delete(LOCKS, { namespace: "shop", name: "b" });
    await create("c", "own");
    await registry.delete(LOCKS, { namespace: "shop", name: "c" });
    expect(await take()).toEqual(["ADDED b", "DELETED b", "DELETED a", "ADDED c", "DELETED c"]);
  });

  test("that begins at a state knows what the user has seen of it", async () => {
    const { create, move, watch, registry } = setup();
    await create("a", "own");
    await create("b", "other");
    const { resourceVersion } = await registry.list(LOCKS);
    await create("later", "own");
    const take = await watch({ resourceVersion });
    await move("a", "own2");
    await move("b", "own");
    expect(await take()).toEqual(["ADDED later", "DELETED a", "ADDED b"]);
  });

  test("that begins before the history is told that it is too late", async () => {
    const { store, create, watch } = setup();
    await create("a", "own");
    await store.compact();
    expect(await codeOf(watch({ resourceVersion: "1" }))).toBe("API_EXPIRED");
  });

  test("follows visibility although the objects do not change with it", async () => {
    const { doors, create, move, watch, registry } = setup();
    await create("a", "own");
    await create("b", "other");
    const take = await watch();
    await take();
    const touch = (name: string) =>
      registry.patch(LOCKS, { namespace: "shop", name }, "merge", { metadata: { labels: { touched: name } } });
    doors.add("other");
    await touch("b");
    doors.delete("own");
    await touch("a");
    await touch("a");
    await move("b", "b");
    expect(await take()).toEqual(["ADDED b", "DELETED a", "DELETED b"]);
  });

  test("shows only the last metadata of objects that are no longer visible, and all of those no longer selected", async () => {
    const { doors, visible, registry, create } = setup();
    await create("a", "own", { x: "1" });
    await create("b", "own", { x: "1" });
    const queue = await registry.watch(LOCKS, { visible, labelSelector: "x=1" });
    await queue.take();
    const label = async (name: string, x: string) =>
      (await registry.patch(LOCKS, { namespace: "shop", name }, "merge", { metadata: { labels: { x } } })).object;
    const left = await label("a", "2");
    doors.clear();
    const gone = await label("b", "3");
    const [first, second] = (await queue.take())!.map(({ object }) => object as KubeObject);
    expect([first!.metadata.labels, first!.metadata.resourceVersion, specOf(first!)]).toMatchObject([
      { x: "1" },
      left.metadata.resourceVersion,
      { door: "own" },
    ]);
    expect([second!.metadata.labels, second!.metadata.resourceVersion, specOf(second!)]).toEqual([
      { x: "1" },
      gone.metadata.resourceVersion,
      {},
    ]);
  });
});
