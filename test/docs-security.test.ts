/**
 * `docs/security.md`: every test that a promise names is there, and the figures that can be counted are the counted ones.
 */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../src/sandbox/limits.ts";
import { CATEGORIES, readAttacks } from "./sandbox/attack.ts";

const ROOT = resolve(import.meta.dirname, "..");
const PAGE = readFileSync(join(ROOT, "docs/security.md"), "utf8");

const named = [...PAGE.matchAll(/`((?:test|fixtures)\/[^`]+)` › (.+?) \|$/gm)].map(([, file, title]) => ({ file: file!, title: title! }));

describe("a promise", () => {
  test("has a test in every row", () => {
    expect(named.length).toBeGreaterThan(20);
  });

  test.each(named)("names what is there: $file › $title", ({ file, title }) => {
    expect(existsSync(join(ROOT, file)), file).toBe(true);
    expect(readFileSync(join(ROOT, file), "utf8")).toContain(title);
  });
});

test("every limit is promised by its name", () => {
  const settings = [...PAGE.matchAll(/\| `limits\.(\w+)` \|/g)].map(([, name]) => name!);
  expect(settings.sort()).toEqual(Object.keys(DEFAULT_LIMITS).sort());
});

test.each(CATEGORIES)("the number of attacks on %s is the counted one", (category) => {
  const count = readAttacks(category).filter(({ mechanism }) => mechanism !== undefined).length;
  expect(PAGE).toMatch(new RegExp(`^\\| ${category}: .*\\| ${count} \\|$`, "m"));
});
