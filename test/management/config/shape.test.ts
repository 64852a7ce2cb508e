import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { MANAGEMENT_SCHEMA } from "../../../src/management/config/schema/config-schema.ts";
import { decodeObject } from "../../../src/apiserver/types/objects/decode.ts";
import type { ObjectSchema, Schema } from "../../../src/schema/schema.ts";
import { config } from "./parsed.ts";

function decoded(status: unknown) {
  return decodeObject(MANAGEMENT_SCHEMA, status, {
    root: "ConfigStatus",
    onUnknownField: (path) => {
      throw new Error(`Unknown field ${path}`);
    },
    refuse: (why) => {
      throw new Error(why);
    },
  });
}

/** Every object of a shape, with the path to it. */
function objectsOf(shape: Schema, path = "status"): [string, ObjectSchema][] {
  if (shape.type === "list") return objectsOf(shape.items, `${path}[]`);
  if (shape.type === "map") return objectsOf(shape.values, `${path}[]`);
  if (shape.type !== "object") return [];
  const inner = Object.entries(shape.fields).flatMap(([name, field]) => objectsOf(field, `${path}.${name}`));
  return [[path, shape], ...inner];
}

describe("the published shape of status", () => {
  test("accepts every effective configuration unchanged, except nulls", () => {
    const every = config(readFileSync(join(import.meta.dirname, "../../../fixtures/management/config/good/every-field.yaml"), "utf8"));
    expect(decoded(every)).toEqual(every);
    const { platformDB: _platformDB, costControl: _costControl, ...others } = config("");
    expect(decoded(config(""))).toMatchObject(others);
  });

  test("keeps an empty storage class apart from none", () => {
    expect(decoded(config('platformDB: {storageClass: ""}'))["platformDB"]).toEqual({ storageClass: "" });
    expect(decoded(config("platformDB: {storageClass: null}"))["platformDB"]).toEqual({});
  });

  test("has the fields of the specification in their order", () => {
    expect(Object.keys(MANAGEMENT_SCHEMA.fields).slice(0, 9)).toEqual([
      "auth",
      "oidc",
      "apps",
      "audit",
      "platformHost",
      "projectNamespacePrefix",
      "devWorkspaceSubDomain",
      "uiSettings",
      "vault",
    ]);
  });

  test("describes every field, and gives no name to two types", () => {
    const objects = objectsOf(MANAGEMENT_SCHEMA);
    const bare = objects.flatMap(([path, { fields }]) =>
      Object.keys(fields)
        .filter((name) => !fields[name]?.description)
        .map((name) => `${path}.${name}`),
    );
    expect(bare).toEqual([]);
    const named = new Map<string, string>();
    for (const [path, { name, fields }] of objects) {
      if (name === undefined) continue;
      const text = JSON.stringify(fields);
      expect(named.get(name) ?? text, path).toBe(text);
      named.set(name, text);
    }
    expect(objects.filter(([, { name }]) => name === "ConfigOIDC")).toHaveLength(2);
  });
});
