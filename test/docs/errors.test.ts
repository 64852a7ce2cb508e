/**
 * The page of error codes: every code stands below the group of its prefix, and in the table on top.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ERROR_GROUPS, groupedCodes } from "../../docs/generate/errors-page.ts";
import { CODES } from "../../src/base/codes.ts";

const PAGE = readFileSync(join(import.meta.dirname, "../../docs/reference/errors.md"), "utf8");

/** The headings of the page with what stands below each, up to the next one of the same level. */
function sections(level: string): Map<string, string> {
  const parts = PAGE.split(new RegExp(`^${level} `, "m")).slice(1);
  return new Map(parts.map((part) => [part.slice(0, part.indexOf("\n")), part]));
}

describe("the page of error codes", () => {
  test.each(Object.entries(CODES))("explains %s once and lists it in the table", (name, { meaning }) => {
    expect(PAGE.split(`### ${name}\n`)).toHaveLength(2);
    const row = sections("##")
      .get("At a glance")!
      .split("\n")
      .filter((line) => line.startsWith(`| [\`${name}\`](#${name.toLowerCase()}) | `));
    expect(row).toHaveLength(1);
    expect(row[0]!.length).toBeGreaterThan(meaning.length);
  });

  test("claims each prefix once, and none in vain", () => {
    const prefixes = ERROR_GROUPS.flatMap((group) => group.prefixes);
    expect(new Set(prefixes).size).toBe(prefixes.length);
    expect(prefixes.filter((prefix) => !Object.keys(CODES).some((name) => name.startsWith(`${prefix}_`)))).toEqual([]);
  });

  test.each(groupedCodes())("keeps $group.title together", ({ group, codes }) => {
    const names = [
      ...sections("##")
        .get(group.title)!
        .matchAll(/^### (\w+)$/gm),
    ].map((match) => match[1]);
    expect(names).toEqual(codes);
  });
});
