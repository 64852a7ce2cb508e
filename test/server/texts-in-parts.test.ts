import { expect, test } from "vitest";
import { indentedParts, jsonParts } from "../../src/server/presentation/json-text.ts";
import { formatYaml, yamlParts } from "../../src/server/presentation/yaml-text.ts";

const head = { kind: "List", apiVersion: "v1", metadata: { resourceVersion: "7" } };
const items = [{ kind: "A", data: { "a b": "x\n  y", list: [1, { b: [] }] } }, { kind: "B", metadata: {} }, {}];

test.each([
  ["a list", { ...head, items }],
  ["a list of one", { ...head, items: items.slice(0, 1) }],
  ["an empty list", { ...head, items: [] }],
  ["a table", { ...head, columnDefinitions: [{ name: "Name" }], rows: [{ cells: ["a", 1], object: null }, { cells: [] }] }],
  ["an object", { ...head, data: { items: "none" } }],
])("%s is the same text in parts as in one", (_what, object) => {
  const whole = (parts: Iterable<string>) => [...parts].join("");
  expect(whole(jsonParts(object))).toBe(JSON.stringify(object));
  expect(whole(indentedParts(object))).toBe(`${JSON.stringify(object, null, 2)}\n`);
  expect(whole(yamlParts(object))).toBe(formatYaml(object));
});
