/**
 * `docs/internals/requirements.md`: every requirement has its row, and every file that a row names is there.
 */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const PAGE = readFileSync(join(ROOT, "docs/internals/requirements.md"), "utf8");

/** Requirements of the two documents, management API and configuration first. */
const REQUIREMENTS = 220;

const rows = PAGE.split("\n")
  .filter((line) => /^\| \d+ \|/.test(line))
  .map((line) => {
    const cells = line.slice(1, -1).split(/(?<!\\)\|/);
    const [number = "", requirement = "", specification = ""] = cells.map((cell) => cell.trim());
    const shownBy = (cells.at(-1) ?? "").trim().split("<br>");
    return { number: Number(number), requirement, specification, shownBy };
  });

test("has every requirement once, in order, with the place it is from", () => {
  expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: REQUIREMENTS }, (_item, index) => index + 1));
  expect(rows.filter(({ requirement, specification }) => requirement === "" || !/^[12] /.test(specification))).toEqual([]);
});

test("shows every requirement by a file that is there", () => {
  const missing = rows.flatMap(({ number, shownBy }) =>
    shownBy
      .filter((entry) => !/^`[^`]+`$/.test(entry) || !existsSync(join(ROOT, entry.slice(1, -1))))
      .map((entry) => `${number}: ${entry}`),
  );
  expect(missing).toEqual([]);
});
