/**
 * The page of internals that names the user of every setting.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { SETTINGS_SCHEMA } from "../../src/engine/config/settings-schema.ts";
import type { Schema } from "../../src/schema/schema.ts";

const ROOT = resolve(import.meta.dirname, "../..");

/** What can be turned by itself: a field that is not a section. A selector is one thing. */
function turnedBy(schema: Schema, field = ""): string[] {
  if (schema.type !== "object" || schema.nullable === true) return [field];
  return Object.entries(schema.fields).flatMap(([name, member]) => turnedBy(member, field === "" ? name : `${field}.${name}`));
}

test("each setting has a row that names its user and the moment, in the order of the schema", () => {
  const page = readFileSync(join(ROOT, "docs/internals/settings.md"), "utf8");
  const rows = [...page.matchAll(/^\| `([^`]+)` \| ([^|]+) \| ([^|]+) \|$/gm)];
  const users = ["host operator", "tenant operator", "patch author"];
  expect(rows.map(([, setting]) => setting)).toEqual(turnedBy(SETTINGS_SCHEMA));
  expect(rows.filter(([, , user, moment]) => !users.includes(user!) || moment!.trim().length < 5)).toEqual([]);
});
