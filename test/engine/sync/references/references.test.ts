import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createReferences } from "../../../../src/engine/sync/references/references.ts";

describe("who refers to what", () => {
  test("tells what is referred to newly and no more", () => {
    const references = createReferences();
    expect(references.refer("endpoints|shop/web", ["a", "b", "b"])).toEqual(["a", "b"]);
    expect(references.refer("endpoints|shop/web", ["b", "c"])).toEqual(["a", "c"]);
    expect(references.refer("endpoints|shop/web", ["c", "b"])).toEqual([]);
    expect(references.refer("endpoints|shop/web", [])).toEqual(["c", "b"]);
  });

  test("knows each user of an object once", () => {
    const references = createReferences();
    references.refer("one", ["a"]);
    references.refer("two", ["a", "b"]);
    references.refer("two", ["a"]);
    expect([references.users("a"), references.users("b"), references.users("c")]).toEqual([["one", "two"], [], []]);
  });

  test("is the same as a list of all pairs, for every history", () => {
    const name = fc.constantFrom("a", "b", "c", "d");
    const history = fc.array(fc.tuple(fc.constantFrom("one", "two", "three"), fc.array(name, { maxLength: 4 })), { maxLength: 12 });
    fc.assert(
      fc.property(history, (steps) => {
        const references = createReferences();
        const model = new Map<string, readonly string[]>();
        for (const [user, names] of steps) {
          const before: readonly string[] = model.get(user) ?? [];
          model.set(user, names);
          const changed = (["a", "b", "c", "d"] as const).filter(
            (one) => before.includes(one) !== (names as readonly string[]).includes(one),
          );
          expect([...references.refer(user, names)].sort()).toEqual(changed);
        }
        for (const wanted of ["a", "b", "c", "d"]) {
          const users = [...model].filter(([, names]) => names.includes(wanted)).map(([user]) => user);
          expect([...references.users(wanted)].sort()).toEqual(users.sort());
        }
      }),
    );
  });
});
