import { describe, expect, test } from "vitest";
import { isInList, roleOf, placesOf } from "../../../src/engine/patch/place.ts";
import { compilePath } from "../../../src/engine/path/path.ts";

const PLACES = [
  { path: "$", want: { role: "protected" } },
  { path: "apiVersion", want: { role: "protected" } },
  { path: "kind", want: { role: "protected" } },
  { path: "metadata", want: { role: "metadata" } },
  { path: "metadata.uid", want: { role: "protected" } },
  { path: "metadata.finalizers[0]", want: { role: "protected" } },
  { path: "metadata.generateName", want: { role: "field" } },
  { path: "metadata.labels", want: { role: "map", field: "labels" } },
  { path: "metadata.annotations", want: { role: "map", field: "annotations" } },
  { path: 'metadata.annotations["a.b/c[0]"]', want: { role: "entry", field: "annotations", key: "a.b/c[0]" } },
  { path: 'metadata.annotations["a\\"b"]', want: { role: "entry", field: "annotations", key: 'a"b' } },
  { path: 'metadata.annotations["a\\\\b"]', want: { role: "entry", field: "annotations", key: "a\\b" } },
  { path: "metadata.labels.app/x:y-z_", want: { role: "entry", field: "labels", key: "app/x:y-z_" } },
  { path: 'metadata.labels["7"]', want: { role: "entry", field: "labels", key: "7" } },
  { path: "metadata.labels.app.deeper", want: { role: "field" } },
  { path: "metadatas.labels.app", want: { role: "field" } },
  { path: "spec.metadata.labels.app", want: { role: "field" } },
  { path: "subsets[0].addresses[1].ip", want: { role: "field" } },
];

describe("the role of a place", () => {
  test.each(PLACES)("$path: $want", ({ path, want }) => {
    expect(roleOf(path)).toEqual({ path, ...want });
  });

  test.each(PLACES)("$path: the same through the path that matched it", ({ path, want }) => {
    expect(placesOf(compilePath(path, { empty: "whole-object" }).segments)(path)).toEqual({ path, ...want });
  });

  test("a path that may match protected fields is looked at match by match", () => {
    const placeOfMatch = placesOf(compilePath("[*][*]").segments);
    expect(placeOfMatch("metadata.uid").role).toBe("protected");
    expect(placeOfMatch("subsets[0]").role).toBe("field");
  });

  test.each([
    { path: "subsets[0].ip", want: true },
    { path: "hosts[0]", want: true },
    { path: "spec.a", want: false },
    { path: 'spec["a[0]"]', want: false },
    { path: 'spec["0"]', want: false },
  ])("$path is in a list: $want", ({ path, want }) => {
    expect(isInList(path)).toBe(want);
  });
});
