import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mergePatch } from "../../../src/apiserver/patches/merge-patch.ts";

describe("a merge patch", () => {
  test.each([
    { why: "sets a member", target: { a: "b" }, patch: { a: "c" }, want: { a: "c" } },
    { why: "adds a member", target: { a: "b" }, patch: { b: "c" }, want: { a: "b", b: "c" } },
    { why: "null removes", target: { a: "b", b: "c" }, patch: { a: null }, want: { b: "c" } },
    { why: "null for what is absent changes nothing", target: { a: 1 }, patch: { b: null }, want: { a: 1 } },
    { why: "lists are replaced whole", target: { a: [{ b: "c" }] }, patch: { a: [1] }, want: { a: [1] } },
    { why: "an object takes the place of a list", target: { a: [1] }, patch: { a: { b: 1 } }, want: { a: { b: 1 } } },
    { why: "nulls inside new objects are not kept", target: {}, patch: { a: { bb: { ccc: null } } }, want: { a: { bb: {} } } },
    { why: "a null inside a list is kept", target: {}, patch: { a: [null] }, want: { a: [null] } },
    { why: "anything but an object replaces all", target: { a: 1 }, patch: ["c"], want: ["c"] },
    { why: "an object starts over on a text", target: "x", patch: { a: 1 }, want: { a: 1 } },
  ])("$why", ({ target, patch, want }) => {
    expect(mergePatch(target, patch)).toEqual(want);
  });

  test("the name __proto__ is a name like any other", () => {
    const merged = mergePatch({}, JSON.parse('{"__proto__":{"polluted":true}}')) as object;
    expect([Object.keys(merged), ({} as Record<string, unknown>)["polluted"]]).toEqual([["__proto__"], undefined]);
  });

  test("applied twice it does what it does once, and modifies nothing", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), fc.jsonValue({ maxDepth: 3 }), (target, patch) => {
        const before = JSON.stringify([target, patch]);
        const once = mergePatch(target, patch);
        expect(mergePatch(once, patch)).toEqual(once);
        expect(JSON.stringify([target, patch])).toBe(before);
      }),
      { numRuns: 500 },
    );
  });
});
