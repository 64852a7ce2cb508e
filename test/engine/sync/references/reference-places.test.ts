import { expect, test } from "vitest";
import { createReferencePlaces } from "../../../../src/engine/sync/references/reference-places.ts";

/** Takes places in this order; returns those held in the end, and those waiting. */
function take(placesMax: number, wishes: readonly string[], copied: readonly string[] = []) {
  const places = createReferencePlaces(placesMax, (id) => !copied.includes(id));
  const held = new Set<string>();
  for (const id of wishes) {
    const place = places.take(id, id.split("/")[0]!);
    if (place === "waits") continue;
    held.add(id);
    if (place.evicted !== undefined) held.delete(place.evicted);
  }
  return { places, held: [...held], waiting: wishes.filter((id) => places.isWaiting(id)) };
}

const many = (namespace: string, count: number) => Array.from({ length: count }, (_, index) => `${namespace}/${index}`);

test("one namespace has all places while no other wants one", () => {
  expect(take(100, many("a", 101))).toMatchObject({ held: many("a", 100), waiting: ["a/100"] });
});

test("whatever one namespace took, others get as many in the end, no matter who came first", () => {
  for (const wishes of [
    [...many("greedy", 200), ...many("alice", 5), ...many("bob", 60)],
    [...many("alice", 5), ...many("bob", 60), ...many("greedy", 200)],
  ]) {
    const { held, places } = take(100, wishes);
    expect(held.length).toBe(100);
    expect([places.count("alice"), places.count("greedy") + places.count("bob")]).toEqual([5, 95]);
    expect(Math.abs(places.count("greedy") - places.count("bob"))).toBeLessThanOrEqual(1);
    expect(many("alice", 5).every((id) => held.includes(id))).toBe(true);
  }
});

test("a place is taken from what was not copied yet, and from the newest first", () => {
  expect(take(3, [...many("a", 3), "b/0"]).waiting).toEqual(["a/2"]);
  expect(take(3, [...many("a", 3), "b/0"], ["a/2"]).waiting).toEqual(["a/1"]);
  expect(take(3, [...many("a", 3), "b/0"], many("a", 3)).waiting).toEqual(["a/2"]);
});

test("equals take nothing from each other", () => {
  expect(take(2, ["a/0", "b/0", "a/1", "b/1"])).toMatchObject({ held: ["a/0", "b/0"], waiting: ["a/1", "b/1"] });
});

test("a place that is free is offered to the namespace with fewest", () => {
  const { places } = take(3, ["a/0", "a/1", "b/0", "a/2", "c/0", "b/1"]);
  expect(["a", "b", "c"].map(places.count)).toEqual([1, 1, 1]);
  expect(places.release("c/0")).toBe("a/2");
  expect([places.take("a/2", "a"), places.release("a/9")]).toEqual([{}, undefined]);
  expect(places.release("b/0")).toBe("b/1");
});

test("the next object that waits is known as long as a place is free", () => {
  const { places } = take(2, many("a", 5));
  expect(places.next()).toBeUndefined();
  expect([places.release("a/0"), places.release("a/1")]).toEqual(["a/2", "a/2"]);
  places.take("a/2", "a");
  expect(places.next()).toBe("a/3");
  places.take("a/3", "a");
  expect(places.next()).toBeUndefined();
});
