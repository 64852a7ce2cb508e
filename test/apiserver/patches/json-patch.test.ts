import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  applyJsonPatch,
  parseJsonPatch,
  PatchApplyError,
  PatchGrowthError,
  PatchSyntaxError,
} from "../../../src/apiserver/patches/json-patch.ts";

const apply = (document: unknown, operations: unknown) => applyJsonPatch(document, parseJsonPatch(operations));

describe("a JSON patch", () => {
  test.each([
    { why: "nothing changes nothing", doc: { a: 1 }, ops: [], want: { a: 1 } },
    { why: "add sets a member", doc: {}, ops: [{ op: "add", path: "/a", value: 1 }], want: { a: 1 } },
    { why: "add overwrites a member", doc: { a: 1 }, ops: [{ op: "add", path: "/a", value: [2] }], want: { a: [2] } },
    { why: "add takes null for a value", doc: {}, ops: [{ op: "add", path: "/a", value: null }], want: { a: null } },
    { why: "add inserts before an element", doc: [1, 3], ops: [{ op: "add", path: "/1", value: 2 }], want: [1, 2, 3] },
    { why: "add inserts at the end by number", doc: [1], ops: [{ op: "add", path: "/1", value: 2 }], want: [1, 2] },
    { why: "add appends by a dash", doc: { a: [1] }, ops: [{ op: "add", path: "/a/-", value: 2 }], want: { a: [1, 2] } },
    { why: "a dash is a member's name in an object", doc: {}, ops: [{ op: "add", path: "/-", value: 1 }], want: { "-": 1 } },
    { why: "a number is a member's name in an object", doc: {}, ops: [{ op: "add", path: "/0", value: 1 }], want: { 0: 1 } },
    { why: "add replaces the whole document", doc: { a: 1 }, ops: [{ op: "add", path: "", value: [1] }], want: [1] },
    { why: "replace replaces the whole document", doc: { a: 1 }, ops: [{ op: "replace", path: "", value: 2 }], want: 2 },
    { why: "the empty name is a name", doc: { "": { "": 1 } }, ops: [{ op: "replace", path: "//", value: 2 }], want: { "": { "": 2 } } },
    { why: "escapes are undone, the tilde last", doc: {}, ops: [{ op: "add", path: "/a~1b~0c~01", value: 1 }], want: { "a/b~c~1": 1 } },
    { why: "remove takes a member", doc: { a: 1, b: 2 }, ops: [{ op: "remove", path: "/a" }], want: { b: 2 } },
    { why: "remove takes an element", doc: [1, 2, 3], ops: [{ op: "remove", path: "/1" }], want: [1, 3] },
    { why: "remove takes null", doc: { a: null }, ops: [{ op: "remove", path: "/a" }], want: {} },
    { why: "replace changes an element", doc: [1, 2], ops: [{ op: "replace", path: "/0", value: "x" }], want: ["x", 2] },
    { why: "move within a list counts after the removal", doc: [1, 2, 3], ops: [{ op: "move", from: "/0", path: "/2" }], want: [2, 3, 1] },
    { why: "move onto itself changes nothing", doc: { a: 1 }, ops: [{ op: "move", from: "/a", path: "/a" }], want: { a: 1 } },
    { why: "move out of its parent", doc: { a: { b: 1 } }, ops: [{ op: "move", from: "/a/b", path: "/a" }], want: { a: 1 } },
    { why: "copy is deep", doc: { a: { b: 1 } }, ops: [{ op: "copy", from: "/a", path: "/c" }, { op: "replace", path: "/c/b", value: 2 }], want: { a: { b: 1 }, c: { b: 2 } } }, // prettier-ignore
    { why: "test ignores the order of members", doc: { a: { x: 1, y: 2 } }, ops: [{ op: "test", path: "/a", value: { y: 2, x: 1 } }], want: { a: { x: 1, y: 2 } } }, // prettier-ignore
    { why: "test holds for the whole document", doc: [1], ops: [{ op: "test", path: "", value: [1] }], want: [1] },
    { why: "test for null holds for null", doc: { a: null }, ops: [{ op: "test", path: "/a", value: null }], want: { a: null } },
    { why: "test for null holds for what is absent, as in Kubernetes", doc: { a: {} }, ops: [{ op: "test", path: "/a/b", value: null }], want: { a: {} } }, // prettier-ignore
    { why: "test for null holds for what objects inherit", doc: {}, ops: [{ op: "test", path: "/toString", value: null }], want: {} },
    { why: "members that no operation has are ignored", doc: {}, ops: [{ op: "add", path: "/a", value: 1, note: "x" }], want: { a: 1 } },
  ])("$why", ({ doc, ops, want }) => {
    expect(apply(doc, ops)).toEqual(want);
  });

  test.each([
    { why: "test does not hold", doc: { a: 1 }, ops: [{ op: "test", path: "/a", value: 2 }] },
    { why: "test is strict about types", doc: { a: "1" }, ops: [{ op: "test", path: "/a", value: 1 }] },
    { why: "test of what is absent", doc: {}, ops: [{ op: "test", path: "/a", value: "" }] },
    { why: "test for null below what is absent", doc: {}, ops: [{ op: "test", path: "/a/b", value: null }] },
    { why: "test for null below a text", doc: { a: "" }, ops: [{ op: "test", path: "/a/b", value: null }] },
    { why: "test for null beyond the end", doc: [1], ops: [{ op: "test", path: "/1", value: null }] },
    { why: "test for null behind the end", doc: [1], ops: [{ op: "test", path: "/-", value: null }] },
    { why: "test for null of what is there", doc: { a: 0 }, ops: [{ op: "test", path: "/a", value: null }] },
    { why: "remove of what is absent", doc: {}, ops: [{ op: "remove", path: "/a" }] },
    { why: "replace of what is absent", doc: {}, ops: [{ op: "replace", path: "/a", value: 1 }] },
    { why: "add below what is absent", doc: {}, ops: [{ op: "add", path: "/a/b", value: 1 }] },
    { why: "add below a number", doc: { a: 1 }, ops: [{ op: "add", path: "/a/b", value: 1 }] },
    { why: "add beyond the end", doc: [], ops: [{ op: "add", path: "/1", value: 1 }] },
    { why: "an index with a zero in front", doc: [1, 2], ops: [{ op: "replace", path: "/01", value: 1 }] },
    { why: "an index that is not a number", doc: [1], ops: [{ op: "add", path: "/one", value: 1 }] },
    { why: "an index in exponents", doc: Array(20).fill(0), ops: [{ op: "remove", path: "/1e0" }] },
    { why: "a negative index", doc: [1], ops: [{ op: "remove", path: "/-1" }] },
    { why: "the place behind the end where something must be", doc: [1], ops: [{ op: "remove", path: "/-" }] },
    { why: "move into itself", doc: { a: { b: 1 } }, ops: [{ op: "move", from: "/a", path: "/a/c" }] },
    { why: "copy of what is absent", doc: {}, ops: [{ op: "copy", from: "/a", path: "/b" }] },
    { why: "what objects inherit", doc: {}, ops: [{ op: "test", path: "/toString", value: 1 }] },
    { why: "the prototype", doc: {}, ops: [{ op: "add", path: "/__proto__/polluted", value: true }] },
  ])("does not apply: $why", ({ doc, ops }) => {
    expect(() => apply(doc, ops)).toThrow(PatchApplyError);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test.each([
    { why: "no list", ops: {} },
    { why: "an operation that is not an object", ops: ["add"] },
    { why: "an unknown op", ops: [{ op: "spam", path: "/a" }] },
    { why: "no op", ops: [{ path: "/a" }] },
    { why: "no path", ops: [{ op: "remove" }] },
    { why: "a path that is null", ops: [{ op: "remove", path: null }] },
    { why: "a path without its slash", ops: [{ op: "remove", path: "a" }] },
    { why: "a tilde that escapes nothing", ops: [{ op: "remove", path: "/a~2" }] },
    { why: "no value", ops: [{ op: "add", path: "/a" }] },
    { why: "no from", ops: [{ op: "move", path: "/a" }] },
    { why: "a path of 201 steps", ops: [{ op: "remove", path: "/a".repeat(201) }] },
  ])("cannot be read: $why", ({ ops }) => {
    expect(() => parseJsonPatch(ops)).toThrow(PatchSyntaxError);
  });

  test("copies that double themselves are stopped", () => {
    const ops = Array.from({ length: 60 }, () => ({ op: "copy", from: "/a", path: "/a/-" }));
    expect(() => apply({ a: ["x".repeat(100)] }, ops)).toThrow(PatchGrowthError);
  });

  test("the name __proto__ is a name like any other", () => {
    const doc = apply({}, [{ op: "add", path: "/__proto__", value: { x: 1 } }]) as object;
    expect(Object.keys(doc)).toEqual(["__proto__"]);
    expect(Object.getPrototypeOf(doc)).toBe(Object.prototype);
  });

  test("the document and the patch are never modified, applied or not", () => {
    const value = fc.jsonValue({ maxDepth: 3 }).filter((json) => typeof json === "object" && json !== null);
    const path = fc.constantFrom("", "/a", "/a/b", "/0", "/0/a", "/-", "/a/-");
    const operation = fc.oneof(
      fc.record({ op: fc.constantFrom("add", "replace", "test"), path, value }),
      fc.record({ op: fc.constant("remove"), path }),
      fc.record({ op: fc.constantFrom("move", "copy"), path, from: path }),
    );
    fc.assert(
      fc.property(value, fc.array(operation, { maxLength: 6 }), (document, operations) => {
        const before = JSON.stringify([document, operations]);
        try {
          apply(document, operations);
        } catch (error) {
          expect(error).toBeInstanceOf(PatchApplyError);
        }
        expect(JSON.stringify([document, operations])).toBe(before);
      }),
      { numRuns: 500 },
    );
  });
});
