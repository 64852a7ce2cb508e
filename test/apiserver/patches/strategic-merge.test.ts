/**
 * Strategic merge patch. What the orders come out to was tried with `kubectl patch --local`.
 */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { PatchApplyError, PatchSyntaxError } from "../../../src/apiserver/patches/json-patch.ts";
import { kindShape } from "../../../src/kube/object/kind-shape.ts";
import { always, anything, int32, listOf, objectOf, optional, text, textMap } from "../../../src/schema/builders.ts";
import { strategicMerge } from "../../../src/apiserver/patches/strategic-merge.ts";

const RULE = objectOf({ host: text, weight: int32 });
const PORT = objectOf({ name: text, port: always(int32), protocol: text, rules: listOf(RULE, { as: "map", keys: ["host"] }) });
const shape = kindShape({
  data: textMap,
  spec: optional(
    objectOf({
      ports: listOf(PORT, { as: "map", keys: ["port", "protocol"], defaults: { protocol: "TCP" } }),
      rows: listOf(objectOf({ a: text })),
      size: int32,
      free: optional(anything),
    }),
  ),
});

/** The document with these ports by number, and the numbers behind a patch of them. */
const ports = (...numbers: number[]) => ({ spec: { ports: numbers.map((port) => ({ port })) } });
const numbers = (document: JsonObject) => (document["spec"] as { ports: { port: number }[] }).ports.map(({ port }) => port);
const finalizers = (...names: string[]) => ({ metadata: { finalizers: names } });

interface Case {
  readonly why: string;
  readonly document: JsonObject;
  readonly patch: JsonObject;
  readonly want: JsonObject;
}

const cases: readonly Case[] = [
  {
    why: "maps merge, null removes, other values are replaced",
    document: { data: { a: "1", b: "2" }, spec: { size: 1 } },
    patch: { data: { a: null, c: "3" }, spec: { size: 2 } },
    want: { data: { b: "2", c: "3" }, spec: { size: 2 } },
  },
  {
    why: "nulls in what is new are left out",
    document: {},
    patch: { data: { a: "1", b: null }, spec: { free: { x: null, y: [{ z: null }] } } },
    want: { data: { a: "1" }, spec: { free: { y: [{}] } } },
  },
  {
    why: "items with the same key merge",
    document: { spec: { ports: [{ port: 1, name: "a" }, { port: 2 }] } },
    patch: { spec: { ports: [{ port: 1, protocol: "UDP" }] } },
    want: { spec: { ports: [{ port: 1, name: "a", protocol: "UDP" }, { port: 2 }] } },
  },
  {
    why: "of two items with one port the one with the protocol of the patch is meant",
    document: {
      spec: {
        ports: [
          { port: 53, protocol: "TCP" },
          { port: 53, protocol: "UDP" },
        ],
      },
    },
    patch: { spec: { ports: [{ port: 53, protocol: "UDP", name: "dns" }] } },
    want: {
      spec: {
        ports: [
          { port: 53, protocol: "TCP" },
          { port: 53, protocol: "UDP", name: "dns" },
        ],
      },
    },
  },
  {
    why: "lists in items merge as well",
    document: { spec: { ports: [{ port: 1, rules: [{ host: "a", weight: 1 }, { host: "b" }] }] } },
    patch: {
      spec: {
        ports: [
          {
            port: 1,
            rules: [
              { host: "b", $patch: "delete" },
              { host: "a", weight: 2 },
            ],
          },
        ],
      },
    },
    want: { spec: { ports: [{ port: 1, rules: [{ host: "a", weight: 2 }] }] } },
  },
  {
    why: "other lists are replaced",
    document: { spec: { rows: [{ a: "1" }, { a: "2" }], free: { l: [1, 2] } } },
    patch: { spec: { rows: [{ a: "3" }], free: { l: [3] } } },
    want: { spec: { rows: [{ a: "3" }], free: { l: [3] } } },
  },
  {
    why: "owner references merge by uid",
    document: { metadata: { ownerReferences: [{ uid: "1", name: "a" }] } },
    patch: {
      metadata: {
        ownerReferences: [
          { uid: "2", name: "b" },
          { uid: "1", $patch: "delete" },
        ],
      },
    },
    want: { metadata: { ownerReferences: [{ uid: "2", name: "b" }] } },
  },
  { why: "a set takes what is new, once", document: finalizers("a", "b"), patch: finalizers("c", "b"), want: finalizers("c", "a", "b") },
  {
    why: "$deleteFromPrimitiveList takes away from a set",
    document: finalizers("a", "b", "c"),
    patch: { metadata: { "$deleteFromPrimitiveList/finalizers": ["b", "x"] } },
    want: finalizers("a", "c"),
  },
  {
    why: "$deleteFromPrimitiveList of nothing takes nothing away",
    document: { metadata: {} },
    patch: { metadata: { "$deleteFromPrimitiveList/finalizers": ["b"] } },
    want: { metadata: {} },
  },
  {
    why: "$patch: replace replaces a map",
    document: { data: { a: "1" } },
    patch: { data: { $patch: "replace", b: "2", c: null } },
    want: { data: { b: "2" } },
  },
  {
    why: "$patch: delete empties a map",
    document: { data: { a: "1" } },
    patch: { data: { $patch: "delete", b: "2" } },
    want: { data: {} },
  },
  {
    why: "$patch: merge is what happens anyway",
    document: { data: { a: "1" } },
    patch: { data: { $patch: "merge", b: "2" } },
    want: { data: { a: "1", b: "2" } },
  },
  {
    why: "$patch in what is not there makes nothing",
    document: {},
    patch: { data: { $patch: "delete" }, spec: { free: { $patch: "replace", a: 1 } } },
    want: { spec: {} },
  },
  {
    why: "$patch: replace replaces a list",
    document: ports(1, 2),
    patch: { spec: { ports: [{ port: 3 }, { $patch: "replace" }, { port: 1, name: "x" }] } },
    want: { spec: { ports: [{ port: 3 }, { port: 1, name: "x" }] } },
  },
  {
    why: "$patch: replace does not ask for keys",
    document: ports(1),
    patch: { spec: { ports: [{ name: "x" }, { $patch: "replace" }] } },
    want: { spec: { ports: [{ name: "x" }] } },
  },
  {
    why: "$patch: delete removes every item with the key",
    document: { spec: { ports: [{ port: 53, protocol: "TCP" }, { port: 53, protocol: "UDP" }, { port: 80 }] } },
    patch: { spec: { ports: [{ port: 53, $patch: "delete" }] } },
    want: { spec: { ports: [{ port: 80 }] } },
  },
  {
    why: "$patch: delete removes only the items with all keys that it gives",
    document: {
      spec: {
        ports: [
          { port: 53, protocol: "TCP" },
          { port: 53, protocol: "UDP" },
        ],
      },
    },
    patch: { spec: { ports: [{ port: 53, protocol: "UDP", $patch: "delete" }] } },
    want: { spec: { ports: [{ port: 53, protocol: "TCP" }] } },
  },
  {
    why: "$patch: merge in an item is what happens anyway",
    document: ports(1),
    patch: { spec: { ports: [{ port: 1, name: "x", $patch: "merge" }] } },
    want: { spec: { ports: [{ port: 1, name: "x" }] } },
  },
  {
    why: "$retainKeys leaves only the members that it lists",
    document: { spec: { size: 1, free: 2, rows: [] } },
    patch: { spec: { $retainKeys: ["size", "rows"], size: 3, free: null } },
    want: { spec: { size: 3, rows: [] } },
  },
  {
    why: "directives in what is new leave no trace",
    document: {},
    patch: {
      metadata: { $retainKeys: ["finalizers"], "$setElementOrder/finalizers": ["a"], finalizers: ["a"] },
      spec: { ports: [{ port: 1 }, { port: 2, $patch: "delete" }], "$setElementOrder/ports": [{ port: 1 }] },
    },
    want: { metadata: { finalizers: ["a"] }, spec: { ports: [{ port: 1 }] } },
  },
  {
    why: "names like a prototype's are names like any other",
    document: JSON.parse('{"data":{"__proto__":"1"}}') as JsonObject,
    patch: JSON.parse('{"data":{"__proto__":"2","constructor":"3"}}') as JsonObject,
    want: JSON.parse('{"data":{"__proto__":"2","constructor":"3"}}') as JsonObject,
  },
];

describe("strategic merge", () => {
  test.each(cases)("$why", ({ document, patch, want }) => {
    expect(JSON.stringify(strategicMerge(shape, document, patch))).toBe(JSON.stringify(want));
  });

  test.each([
    { why: "what is new comes first", before: [1, 2], patch: [3], want: [3, 1, 2] },
    { why: "what is named comes in the patch's order", before: [1, 2, 3], patch: [3, 1], want: [2, 3, 1] },
    { why: "what is not named stays before what followed it", before: [1, 2, 3, 4], patch: [2, 4], want: [1, 2, 3, 4] },
    { why: "an empty patch changes no order", before: [3, 1, 2], patch: [], want: [3, 1, 2] },
  ])("orders: $why", ({ before, patch, want }) => {
    expect(numbers(strategicMerge(shape, ports(...before), ports(...patch)))).toEqual(want);
    const asText = (items: readonly number[]) => finalizers(...items.map(String));
    expect(strategicMerge(shape, asText(before), asText(patch))).toEqual(asText(want));
  });

  test.each([
    { why: "all of it", before: [1, 2, 3], order: [3, 1, 2], patch: undefined, want: [3, 1, 2] },
    { why: "with what the server alone has in its place", before: [1, 9, 2], order: [2, 1], patch: undefined, want: [9, 2, 1] },
    { why: "with what is new", before: [1, 2], order: [1, 3, 2], patch: [3], want: [1, 3, 2] },
    { why: "of items that are not there", before: [1], order: [5, 1, 6], patch: undefined, want: [1] },
  ])("the order is set: $why", ({ before, order, patch, want }) => {
    const spec = { "$setElementOrder/ports": order.map((port) => ({ port })), ...(patch && { ports: patch.map((port) => ({ port })) }) };
    expect(numbers(strategicMerge(shape, ports(...before), { spec }))).toEqual(want);
    const metadata = { "$setElementOrder/finalizers": order.map(String), ...(patch && { finalizers: patch.map(String) }) };
    expect(strategicMerge(shape, finalizers(...before.map(String)), { metadata })).toEqual(finalizers(...want.map(String)));
  });

  test("$setElementOrder of a list that is not merged changes nothing", () => {
    const document = { spec: { rows: [{ a: "1" }, { a: "2" }] } };
    expect(strategicMerge(shape, document, { spec: { "$setElementOrder/rows": [{ a: "2" }, { a: "1" }] } })).toEqual(document);
  });

  const data = fc.dictionary(fc.string(), fc.string(), { maxKeys: 3 });
  const port = fc.record({ port: fc.constantFrom(1, 2, 3), name: fc.string() });
  const document = fc.record({
    data,
    metadata: fc.record({ finalizers: fc.uniqueArray(fc.constantFrom("a", "b", "c")) }),
    spec: fc.record({
      ports: fc.uniqueArray(port, { selector: (item) => item.port }),
      rows: fc.array(fc.record({ a: fc.string() })),
      free: fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.array(fc.integer()), data), { maxKeys: 3 }),
    }),
  });

  test("of nothing is nothing, of itself nothing new", () => {
    fc.assert(
      fc.property(document, (one) => {
        expect(strategicMerge(shape, one, {})).toEqual(one);
        // A key that looks like a directive is one.
        fc.pre(!JSON.stringify(one).includes("$"));
        expect(strategicMerge(shape, one, one)).toEqual(one);
      }),
    );
  });

  test("done twice is done once, and modifies nothing that it is given", () => {
    fc.assert(
      fc.property(document, document, (one, patch) => {
        const texts = JSON.stringify([one, patch]);
        const once = strategicMerge(shape, one, patch);
        expect(strategicMerge(shape, once, patch)).toEqual(once);
        expect(JSON.stringify([one, patch])).toBe(texts);
      }),
    );
  });
});

describe("a huge patch", () => {
  const COUNT = 30_000;
  const many = <T>(make: (index: number) => T) => Array.from({ length: COUNT }, (_, index) => make(index));
  const document = { spec: { ports: many((port) => ({ port, protocol: "TCP" })) } };

  test.each<{ why: string; spec: JsonObject; want: number }>([
    { why: "of other items", spec: { ports: many((index) => ({ port: COUNT + index })) }, want: 2 * COUNT },
    { why: "of the same items", spec: { ports: many((port) => ({ port, name: "x" })) }, want: COUNT },
    { why: "of one item", spec: { ports: many((index) => ({ port: 1, protocol: `P${index}` })) }, want: 2 * COUNT - 1 },
    { why: "that deletes one item", spec: { ports: many((index) => ({ port: 1, protocol: `P${index}`, $patch: "delete" })) }, want: COUNT },
    { why: "of the order", spec: { "$setElementOrder/ports": many((index) => ({ port: COUNT - index })) }, want: COUNT },
  ])("$why costs little more than its items", ({ spec, want }) => {
    expect(numbers(strategicMerge(shape, document, { spec }))).toHaveLength(want);
  });
});

describe("a patch that cannot be", () => {
  test.each([
    { why: "$retainKeys that is not a list", patch: { data: { $retainKeys: "a" } }, error: PatchSyntaxError },
    { why: "a member that is not in $retainKeys", patch: { data: { $retainKeys: ["a"], b: "1" } }, error: PatchSyntaxError },
    { why: "$setElementOrder that is not a list", patch: { metadata: { "$setElementOrder/finalizers": {} } }, error: PatchSyntaxError },
    {
      why: "$deleteFromPrimitiveList that is not a list",
      patch: { metadata: { "$deleteFromPrimitiveList/finalizers": "a" } },
      error: PatchSyntaxError,
    },
    {
      why: "$deleteFromPrimitiveList with objects",
      patch: { metadata: { "$deleteFromPrimitiveList/finalizers": [{}] } },
      error: PatchSyntaxError,
    },
    { why: "an unknown $patch", patch: { data: { $patch: "add" } }, error: PatchApplyError },
    { why: "an unknown $patch in an item", patch: { spec: { ports: [{ port: 1, $patch: "add" }] } }, error: PatchApplyError },
    { why: "an item without its key", patch: { spec: { ports: [{ name: "a" }] } }, error: PatchApplyError },
    { why: "a deletion without its key", patch: { spec: { ports: [{ $patch: "delete" }] } }, error: PatchApplyError },
    { why: "an item that is not an object", patch: { spec: { ports: [80] } }, error: PatchApplyError },
    {
      why: "items in another order than $setElementOrder",
      patch: { spec: { "$setElementOrder/ports": [{ port: 1 }, { port: 2 }], ports: [{ port: 2 }, { port: 1 }] } },
      error: PatchApplyError,
    },
    {
      why: "an item that $setElementOrder does not have",
      patch: { metadata: { "$setElementOrder/finalizers": ["a"], finalizers: ["b"] } },
      error: PatchApplyError,
    },
  ])("is refused: $why", ({ patch, error }) => {
    const document = { data: {}, metadata: { finalizers: ["a"] }, spec: { ports: [{ port: 1 }, { port: 2 }] } };
    expect(() => strategicMerge(shape, document, patch)).toThrow(error);
  });
});
