import { load } from "js-yaml";
import { describe, expect, test } from "vitest";
import { rowOf, tableWith } from "../../src/apiserver/http/answer/table.ts";
import { indentedParts, jsonParts, listBytes } from "../../src/apiserver/http/answer/json-text.ts";
import { yamlParts } from "../../src/apiserver/http/answer/yaml-text.ts";

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
  expect(load(whole(yamlParts(object)))).toEqual(object);
  const each = (element: object) => ({ ...element });
  for (const parts of [jsonParts, indentedParts, yamlParts]) expect(whole(parts(object, each))).toBe(whole(parts(object)));
});

test.each([
  ["json", jsonParts],
  ["json for people", indentedParts],
  ["yaml", yamlParts],
])("a table as %s makes its rows one by one, and no part is longer than what it tells", (_format, parts) => {
  const columns = [{ name: "Name", type: "string", description: "", cell: () => ((made += 1), "x") }] as const;
  const setting = { definition: { columns }, include: "None", now: 0, metadata: {} } as const;
  let made = 0;
  const objects = Array.from({ length: 100 }, () => ({ apiVersion: "v1", kind: "A", metadata: {} }));
  const rest = parts(tableWith(objects, setting), (object) => rowOf(object as (typeof objects)[number], setting))[Symbol.iterator]();
  let most = 0;
  for (let before = 0, part = rest.next(); part.done !== true; before = made, part = rest.next()) most = Math.max(most, made - before);
  expect([made, most]).toEqual([100, 1]);
});

test("a large object in YAML comes line by line", () => {
  const data = Object.fromEntries(Array.from({ length: 1_000 }, (_none, index) => [`key-${index}`, "x".repeat(100)]));
  const parts = [...yamlParts({ ...head, items: [{ data }] }, (element) => element)];
  expect(parts.length).toBeGreaterThan(1_000);
  expect(Math.max(...parts.map(({ length }) => length))).toBeLessThan(200);
});

describe("a short list of stored objects", () => {
  const stored = (text: string) => Object.freeze({ kind: "A", data: text });
  const list = (...elements: object[]) => ({ ...head, items: elements });
  const whole = (object: object) => listBytes(object)?.join("");
  const [a, b, c] = [stored("a"), stored("ü"), stored("c")] as const;

  test("is encoded as it is, whatever of it was encoded before", () => {
    for (const object of [list(a, b), list(a, b), list(a, c), list(a, b, c), list(a, b), { ...list(a, b), kind: "Other" }]) {
      expect(whole(object)).toBe(JSON.stringify(object));
    }
  });

  test("is encoded once while it stays the same, though it is another list", () => {
    expect(listBytes(list(a, b, c))![1]).toBe(listBytes({ ...list(a, b, c), metadata: { resourceVersion: "8" } })![1]);
    expect(listBytes(list(a, b, c))![1]).not.toBe(listBytes(list(a, b, stored("c")))![1]);
  });

  test("is not taken for one when it is none, has an object that may change, or is long", () => {
    expect(listBytes(a)).toBeUndefined();
    expect(listBytes(list(a, { kind: "A" }))).toBeUndefined();
    expect(listBytes(list(...Array.from({ length: 70 }, () => stored("x".repeat(1_000)))))).toBeUndefined();
  });

  test("is forgotten when others take its place", () => {
    const kept = listBytes(list(a, b))![1];
    for (let n = 0; n < 200; n += 1) listBytes(list(stored(`${n}`.repeat(20_000)), stored("")));
    expect(listBytes(list(a, b))![1]).not.toBe(kept);
  });
});
