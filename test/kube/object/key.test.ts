import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatKey, keyOf, parseKey, sameKey, type ObjectKey } from "../../../src/kube/object/key.ts";

const part = fc.string({ maxLength: 6 }).map((text) => text.replaceAll("/", ""));
const key: fc.Arbitrary<ObjectKey> = fc.record({ namespace: fc.oneof(fc.constant(""), part), name: part });

describe("a key", () => {
  test.each([
    { key: { namespace: "shop", name: "db" }, text: "shop/db" },
    { key: { namespace: "", name: "node-a" }, text: "node-a" },
    { key: { namespace: "shop", name: "" }, text: "shop/" },
    { key: { namespace: "", name: "" }, text: "" },
  ])("is written as $text and read back", ({ key: given, text }) => {
    expect(formatKey(given)).toBe(text);
    expect(parseKey(text)).toEqual(given);
  });

  test("survives its text, and a text its key", () => {
    fc.assert(
      fc.property(key, (given) => {
        expect(parseKey(formatKey(given))).toEqual(given);
      }),
    );
    fc.assert(
      fc.property(fc.string(), (text) => {
        // An empty namespace is written without its slash.
        expect(formatKey(parseKey(text))).toBe(text.replace(/^\//, ""));
      }),
    );
  });

  test("has a text of its own", () => {
    fc.assert(
      fc.property(key, key, (left, right) => {
        expect(formatKey(left) === formatKey(right)).toBe(sameKey(left, right));
        expect(sameKey(left, { ...left })).toBe(true);
      }),
    );
  });

  test("is taken from the metadata, with nothing for what is missing", () => {
    const object = (metadata: object) => ({ apiVersion: "v1", kind: "Endpoints", metadata });
    expect(keyOf(object({ namespace: "shop", name: "db" }))).toEqual({ namespace: "shop", name: "db" });
    expect(keyOf(object({ name: "node-a" }))).toEqual({ namespace: "", name: "node-a" });
    expect(keyOf(object({ generateName: "db-" }))).toEqual({ namespace: "", name: "" });
  });

  test("differs in either part", () => {
    const db = { namespace: "shop", name: "db" };
    expect(sameKey(db, { ...db, name: "web" })).toBe(false);
    expect(sameKey(db, { ...db, namespace: "test" })).toBe(false);
  });
});
