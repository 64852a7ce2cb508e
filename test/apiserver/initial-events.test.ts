import { describe, expect, test } from "vitest";
import type { ResourceType } from "../../src/kube/object/resource.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";
import { createMemoryStore } from "../../src/apiserver/store/memory/memory-store.ts";
import { dnsSubdomain } from "../../src/apiserver/types/objects/names.ts";
import { createRegistry } from "../../src/apiserver/verbs/registry.ts";
import { kindShape } from "../../src/kube/object/kind-shape.ts";
import { anything, optional } from "../../src/schema/builders.ts";
import type { WatchRequest } from "../../src/apiserver/verbs/watch/watch.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { createSeededChance } from "./seeded-chance.ts";

const NOTES: ResourceType = { apiVersion: "example.com/v1", kind: "Note", plural: "notes", namespaced: true };
const notes = { type: NOTES, singular: "note", shape: kindShape({ spec: optional(anything) }), strategy: { nameRule: dnsSubdomain } };

async function setup() {
  const registry = createRegistry({
    store: createMemoryStore(),
    definitions: [notes],
    clock: createFakeClock(),
    chance: createSeededChance(),
  });
  const create = (name: string) => registry.create(NOTES, "shop", { metadata: { name } });
  const watch = async (request: WatchRequest) => {
    const queue = await registry.watch(NOTES, request);
    return async () =>
      (await queue.take())?.map(({ type, object }) => {
        const { name, annotations } = (object as KubeObject).metadata;
        return `${type} ${name ?? Object.keys(annotations ?? {}).join()}`;
      });
  };
  for (const name of ["a", "b"]) await create(name);
  return { registry, create, watch };
}

const initial = { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" };

describe("a watch with initial events", () => {
  test("tells what is there, then that this was all, then what happens", async () => {
    const { create, watch, registry } = await setup();
    const next = await watch({ ...initial, allowWatchBookmarks: true });
    await create("c");
    await registry.delete(NOTES, { namespace: "shop", name: "a" });
    expect(await next()).toEqual(["ADDED a", "ADDED b", "BOOKMARK k8s.io/initial-events-end", "ADDED c", "DELETED a"]);
  });

  test("tells it from the present state, however old the state that is named", async () => {
    const { watch } = await setup();
    const next = await watch({ ...initial, resourceVersion: "2", allowWatchBookmarks: true });
    expect(await next()).toEqual(["ADDED a", "ADDED b", "BOOKMARK k8s.io/initial-events-end"]);
  });

  test("says nothing of its end to those who want no bookmarks", async () => {
    const { create, watch } = await setup();
    const next = await watch(initial);
    await create("c");
    expect(await next()).toEqual(["ADDED a", "ADDED b", "ADDED c"]);
  });

  test("switched off shows nothing of the past without a start, and all since a start", async () => {
    const { create, watch } = await setup();
    const off = { ...initial, sendInitialEvents: false, allowWatchBookmarks: true };
    const [now, since] = [await watch(off), await watch({ ...off, resourceVersion: "2" })];
    await create("c");
    expect([await now(), await since()]).toEqual([["ADDED c"], ["ADDED b", "ADDED c"]]);
  });
});
