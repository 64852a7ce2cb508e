/** The table of what attacks and newcomers have found: each row names tests that exist, and no row of the first day is left out. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: Record<string, string> };
const HEAD = "| finding | what was wrong | what holds now | test |";
const page = readFileSync(join(ROOT, "docs/internals/findings.md"), "utf8");
const rows = page
  .split("\n")
  .filter((line) => line.startsWith("| ") && line !== HEAD)
  .map((line) => line.slice(1, -1).split(/(?<!\\)\|/).map((cell) => cell.trim())); // prettier-ignore

/** A file, a pattern of files, or a script of the package. */
function isThere(named: string): boolean {
  const script = /^npm run ([\w:-]+)/.exec(named)?.[1];
  if (script !== undefined) return Object.hasOwn(scripts, script);
  return named.includes("*") ? globSync(named, { cwd: ROOT }).length > 0 : existsSync(join(ROOT, named));
}

test("each row says what was wrong, what holds now, and which tests that exist show it", () => {
  expect(rows.length).toBeGreaterThan(150);
  const bad = rows.filter((cells) => {
    const named = [...(cells[3] ?? "").matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
    return cells.length !== 4 || cells.includes("") || named.length === 0 || !named.every(isThere);
  });
  expect(bad).toEqual([]);
});

describe("of the first day", () => {
  const day = rows.map(([finding = ""]) => /^First day (.*)$/.exec(finding)?.[1] ?? "");
  const numbered = (letter: string, last: number) => Array.from({ length: last }, (_, index) => `${letter}${index + 1}`);

  test.each([...numbered("A", 17), ...numbered("B", 12)])("%s has a row", (name) => {
    expect(day.some((found) => found.split(/[, ]+/).includes(name))).toBe(true);
  });
});
