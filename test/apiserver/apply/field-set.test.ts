import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  decodeFieldsV1,
  difference,
  fieldAt,
  intersection,
  isEmptySet,
  leavesOf,
  NO_FIELDS,
  pathsOf,
  union,
  unionAll,
  type FieldSet,
} from "../../../src/apiserver/types/fields/field-set.ts";
import { canonicalStep, fieldStep, formatPath, keyStep, valueStep } from "../../../src/apiserver/types/fields/step.ts";
import { JSON_DEPTH_MAX } from "../../../src/apiserver/types/objects/json-data.ts";

const step = fc.oneof(
  fc.constantFrom("a", "b", "constructor", "__proto__", "x.y/z", "").map(fieldStep),
  fc.constantFrom("TCP", 'q"', 7, true).map(valueStep),
  fc.constantFrom(80, 81).map((port) => keyStep({ protocol: "TCP", port })),
  fc.constantFrom("i:0", "i:1"),
);
const path = fc.array(step, { minLength: 1, maxLength: 4 });
const paths = fc.array(path, { maxLength: 8 });

const setOf = (list: readonly (readonly string[])[]): FieldSet => list.reduce<FieldSet>((set, one) => union(set, fieldAt(one)), NO_FIELDS);
/** The same set as a plain set of texts. */
const model = (list: readonly (readonly string[])[]) => new Set(list.map((one) => JSON.stringify(one)));

describe("a set of fields", () => {
  test("does what a set of its paths does", () => {
    fc.assert(
      fc.property(paths, paths, (left, right) => {
        const [a, b] = [setOf(left), setOf(right)];
        const [wantA, wantB] = [model(left), model(right)];
        const same = (set: FieldSet, want: ReadonlySet<string>) => expect([...model(pathsOf(set))].sort()).toEqual([...want].sort());
        same(a, wantA);
        expect(unionAll([a, NO_FIELDS, b])).toEqual(union(a, b));
        same(union(a, b), new Set([...wantA, ...wantB]));
        same(difference(a, b), new Set([...wantA].filter((one) => !wantB.has(one))));
        same(intersection(a, b), new Set([...wantA].filter((one) => wantB.has(one))));
        expect(isEmptySet(a)).toBe(left.length === 0);
      }),
      { numRuns: 500 },
    );
  });

  test("is written in one way, whatever it was made of, and reads back as itself", () => {
    fc.assert(
      fc.property(paths, paths, (left, right) => {
        const text = JSON.stringify(union(setOf(left), setOf(right)));
        expect(JSON.stringify(setOf([...left, ...right].reverse()))).toBe(text);
        expect(JSON.stringify(decodeFieldsV1(JSON.parse(text)))).toBe(text);
      }),
      { numRuns: 500 },
    );
  });

  test("shares what an operation leaves as it is", () => {
    fc.assert(
      fc.property(paths, paths, (left, right) => {
        const set = setOf([...left, ...right]);
        const part = setOf(right);
        expect(union(set, part)).toBe(set);
        expect(difference(set, NO_FIELDS)).toBe(set);
        const rest = difference(set, part);
        expect(difference(rest, part)).toBe(rest);
      }),
    );
  });

  test("has as leaves the fields without fields below them", () => {
    const set = setOf([["f:a"], ["f:a", "f:b"], ["f:c"]]);
    expect(leavesOf(set)).toEqual([["f:a", "f:b"], ["f:c"]]);
    expect(pathsOf(set)).toEqual([["f:a"], ["f:c"], ["f:a", "f:b"]]);
  });
});

describe("FieldsV1", () => {
  test.each<{ why: string; text: unknown; want: FieldSet | undefined }>([
    { why: "nothing", text: {}, want: {} },
    { why: "a field with fields below it", text: { "f:a": { "f:b": {}, ".": {} } }, want: { "f:a": { ".": {}, "f:b": {} } } },
    { why: "a dot alone is the field alone", text: { "f:a": { ".": {} } }, want: { "f:a": {} } },
    {
      why: "keys in another order and spelling",
      text: { 'k:{"protocol": "TCP", "port": 80.0}': {}, 'v: "x"': {} },
      want: { 'k:{"port":80,"protocol":"TCP"}': {}, 'v:"x"': {} },
    },
    {
      why: "the same item in two spellings is not a set",
      text: { 'k:{"b":1,"a":2}': { "f:x": {} }, 'k:{"a":2,"b":1}': { "f:y": {} } },
      want: undefined,
    },
    {
      why: "steps of a kind to come are left out, with what is only there for them",
      text: { "x:new": {}, "f:a": { "x:new": {} } },
      want: {},
    },
    {
      why: "keys that are not JSON are left out",
      text: { "k:{": {}, "v:{": {}, "k:1": {}, "v:[1]": {}, 'k:{"a":{}}': {}, "i:x": {}, "k:{}": {} },
      want: {},
    },
    { why: "a field named like a prototype", text: { "f:__proto__": {} }, want: { "f:__proto__": {} } },
    { why: "a text is not a set", text: "f:a", want: undefined },
    { why: "a list is not a set", text: { "f:a": [] }, want: undefined },
    { why: "null is not a set", text: { "f:a": null }, want: undefined },
  ])("$why", ({ text, want }) => {
    expect(JSON.stringify(decodeFieldsV1(text))).toBe(JSON.stringify(want));
  });

  test("may be as deep as any data, and no deeper", () => {
    const deep = (depth: number): unknown => (depth === 1 ? {} : { "f:a": deep(depth - 1) });
    expect(decodeFieldsV1(deep(JSON_DEPTH_MAX))).toBeDefined();
    expect(decodeFieldsV1(deep(JSON_DEPTH_MAX + 1))).toBeUndefined();
  });
});

test("messages name fields, items and values", () => {
  expect(formatPath(["f:spec", "f:ports", keyStep({ protocol: "TCP", port: 80 }), "i:3", valueStep('a"b'), "f:x/y"])).toBe(
    '.spec.ports[port=80,protocol="TCP"][3][="a\\"b"].x/y',
  );
  expect(canonicalStep("q:x")).toBeUndefined();
});
