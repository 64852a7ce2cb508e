import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { PAGES } from "../../../docs/generate.ts";
import { fieldPaths } from "../../../docs/generate/schema-tables.ts";
import { MANAGEMENT_SCHEMA } from "../../../src/management/config/schema/config-schema.ts";
import { errors } from "./parsed.ts";

const PATH = "reference/management-config.md";
const page = readFileSync(join(import.meta.dirname, "../../../docs", PATH), "utf8");

describe("the page of the platform's configuration", () => {
  test("matches the source", async () => {
    expect(page).toBe(await PAGES[PATH]!());
  });

  test("says for every setting whether it has an effect", () => {
    const told = new Set([...page.matchAll(/^\| `([^`]+)` \| (?:yes|shown only) \| [^|]+ \|$/gm)].map((match) => match[1]!));
    const fields = fieldPaths(MANAGEMENT_SCHEMA).map((field) => field.replace(/^auth\.connectors\[\]\.(?!id$|displayName$)/, "auth."));
    const isWhole = (field: string) =>
      [...told].some((leaf) => leaf === field || leaf.startsWith(`${field}.`) || leaf.startsWith(`${field}[]`));
    expect(fields.filter((field) => !isWhole(field))).toEqual([]);
  });

  test("has a row for every field, at its place or in the table of what it is part of", () => {
    const names = new Set([...page.matchAll(/^\| `([^`]+)` /gm)].map((match) => match[1]!.replace(/.*[.]/, "")));
    const missing = fieldPaths(MANAGEMENT_SCHEMA).filter((field) => !names.has(field.replace(/.*[.]/, "")));
    expect(missing).toEqual([]);
  });

  test("shows an example that is valid", () => {
    expect(errors(/```yaml\n([^]*?)```/.exec(page)![1]!)).toEqual([]);
  });
});
