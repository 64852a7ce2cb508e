import { expect, test } from "vitest";
import { createMemoryStore } from "../../../src/apiserver/store/memory/memory-store.ts";
import { createRegistry } from "../../../src/apiserver/verbs/registry.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { createSeededChance } from "../seeded-chance.ts";
import { createLocks, LOCKS } from "../support/locks-kind.ts";

test("an apply is done in pieces, and who owned something before owns it afterwards", async () => {
  const clock = createFakeClock(0);
  const registry = createRegistry({ store: createMemoryStore(), definitions: [createLocks()], clock, chance: createSeededChance(1) });
  const annotations = Object.fromEntries(Array.from({ length: 100 }, (_none, index) => [`example.com/${index}`, "x"]));
  const at = { namespace: "shop", name: "front" };
  const apply = async (fieldManager: string) => {
    let pauses = 0;
    const pause = async () => void (pauses += 1);
    const body = { apiVersion: LOCKS.apiVersion, kind: LOCKS.kind, metadata: { name: "front", annotations } };
    const { object } = await registry.patch(LOCKS, at, "apply", body, { fieldManager, pause });
    return { pauses, managers: object.metadata.managedFields as unknown[] };
  };
  await apply("first");
  const second = await apply("second");
  const third = await apply("third");
  expect(third.pauses).toBeGreaterThanOrEqual(9);
  expect(third.managers.map((entry) => (entry as { manager: string }).manager)).toEqual(["first", "second", "third"]);
  for (const [index, entry] of second.managers.entries()) expect(third.managers[index]).toBe(entry);
});
