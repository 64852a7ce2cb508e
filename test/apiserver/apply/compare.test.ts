import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { compare } from "../../../src/apiserver/apply/compare.ts";
import type { FieldSet } from "../../../src/apiserver/types/fields/field-set.ts";
import { mergeConfig } from "../../../src/apiserver/apply/merge.ts";
import { prune } from "../../../src/apiserver/apply/prune.ts";
import { listOf, text, textMap } from "../../../src/schema/builders.ts";
import { widget, widgets } from "./support.ts";

const { shape } = widgets;
const object = (content: JsonObject) => widget(content) as unknown as KubeObject;

describe("a comparison", () => {
  test.each<{ why: string; before: JsonObject; after: JsonObject; modified: FieldSet }>([
    {
      why: "tells null from an empty list",
      before: { spec: { tags: null } },
      after: { spec: { tags: [] } },
      modified: { "f:spec": { "f:tags": {} } },
    },
    { why: "tells null from an empty map", before: { data: {} }, after: { data: null }, modified: { "f:data": {} } },
    {
      why: "takes undefined for absent",
      before: { data: { a: "1", b: undefined } },
      after: { data: { a: "1", c: undefined } },
      modified: {},
    },
    {
      why: "sees nothing in the identity",
      before: { metadata: { uid: "1" } },
      after: { metadata: { uid: "2" }, kind: "Other" },
      modified: {},
    },
  ])("$why", ({ before, after, modified }) => {
    expect(compare(shape, object(before), object(after))).toEqual({ removed: {}, modified, added: {} });
  });
});

describe("a merge", () => {
  test.each([
    { why: "of null into an empty map is null", of: textMap, live: {}, config: null, want: null },
    { why: "of null into a map leaves it", of: textMap, live: { a: "1" }, config: null, want: { a: "1" } },
    { why: "of null into an empty set is null", of: listOf(text, { as: "set" }), live: [], config: null, want: null },
    { why: "of null into a set leaves it", of: listOf(text, { as: "set" }), live: ["a"], config: null, want: ["a"] },
    { why: "of a text into a map is the text", of: textMap, live: { a: "1" }, config: "text", want: "text" },
    {
      why: "drops all but the first of equal items",
      of: listOf(text, { as: "set" }),
      live: ["a", "b", "a"],
      config: ["a"],
      want: ["a", "b"],
    },
    {
      why: "leaves items without identity where they are",
      of: listOf(text, { as: "set" }),
      live: [null, "a"],
      config: ["b", "a"],
      want: [null, "b", "a"],
    },
  ])("$why", ({ of, live, config, want }) => {
    expect(mergeConfig(of, live, config)).toEqual(want);
  });
});

describe("pruning", () => {
  const remove = { "f:data": { "f:x": {} }, "f:spec": { "f:tags": { 'v:"t"': {} } } };
  const full = object({ data: { x: "1" }, spec: { size: 1, tags: ["t"] } });

  test("removes a field without an owner with its last part", () => {
    expect(prune(shape, full, { remove, owned: {} })).toEqual(object({ spec: { size: 1 } }));
  });

  test("leaves an owned field empty", () => {
    const owned = { "f:data": {}, "f:spec": { "f:tags": {} } };
    expect(prune(shape, full, { remove, owned })).toEqual(object({ data: {}, spec: { size: 1, tags: [] } }));
  });
});
