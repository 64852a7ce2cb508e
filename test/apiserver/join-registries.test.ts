import { describe, expect, test } from "vitest";
import type { ResourceType } from "../../src/kube/object/resource.ts";
import { createMemoryStore } from "../../src/apiserver/store/memory/memory-store.ts";
import { createRegistry, joinRegistries } from "../../src/apiserver/verbs/registry.ts";
import type { ResourceDefinition } from "../../src/apiserver/types/resource-definition.ts";
import { codeOf } from "../conformance/setting.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { createSeededChance } from "./seeded-chance.ts";
import { createLocks, LOCKS } from "./support/locks-kind.ts";

const BOLTS: ResourceType = { ...LOCKS, kind: "Bolt", plural: "bolts" };
const locks = createLocks();
const restored: string[] = [];
const bolts: ResourceDefinition = {
  ...locks,
  type: BOLTS,
  singular: "bolt",
  strategy: { ...locks.strategy, restored: ({ metadata }) => void restored.push(metadata.name!) },
  computed: { fit: { definition: { ...locks, verbs: ["create"] }, respond: async ({ about }) => ({ ...about, ...{ kind: "Lock" } }) } },
};

function registryOf(definition: ResourceDefinition) {
  const store = createMemoryStore();
  const registry = createRegistry({ store, definitions: [definition], clock: createFakeClock(0), chance: createSeededChance(1) });
  return { store, registry };
}

describe("joined registries", () => {
  test("each do what is asked of their own kinds, in their own stores", async () => {
    const [left, right] = [registryOf(locks), registryOf(bolts)];
    const joined = joinRegistries(left.registry, right.registry);
    expect(joined.definitions.map(({ type }) => type.plural)).toEqual(["locks", "bolts"]);
    expect([joined.find("example.com/v1", "bolts"), joined.find("example.com/v1", "hinges")]).toEqual([bolts, undefined]);
    const key = { namespace: "shop", name: "a" };
    await joined.create(BOLTS, "shop", { metadata: { name: "a" } });
    const watching = await joined.watch(BOLTS);
    await joined.update(BOLTS, key, { metadata: { name: "a" }, spec: { door: "x" } });
    await joined.patch(BOLTS, key, "merge", { spec: { door: "y" } });
    expect(await joined.get(BOLTS, key)).toMatchObject({ kind: "Bolt", spec: { door: "y" } });
    expect((await joined.compute(BOLTS, { key, part: "fit", body: {} })).metadata.name).toBe("a");
    await joined.restore();
    expect(restored).toEqual(["a"]);
    expect((await joined.list(LOCKS)).items).toEqual([]);
    await joined.delete(BOLTS, key);
    expect((await watching.take())!.map(({ type }) => type)).toEqual(["ADDED", "MODIFIED", "MODIFIED", "DELETED"]);
    await joined.create(LOCKS, "shop", { metadata: { name: "b" } });
    expect(await joined.deleteCollection(LOCKS, {})).toHaveLength(1);
    expect([await left.store.revision(), await right.store.revision()]).toEqual([3, 5]);
  });

  test("know no kind that none of them has, and none that two have", async () => {
    const joined = joinRegistries(registryOf(locks).registry);
    expect(await codeOf(joined.list(BOLTS))).toBe("API_NOT_FOUND");
    expect(() => joinRegistries(registryOf(locks).registry, registryOf(locks).registry)).toThrow("a registry contains each kind once");
  });
});
