/** The seeded bugs themselves; `npm run test:mutants` lets them loose. */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { readMutants, rotten } from "./suites/mutants/catalogue.ts";

const ROOT = join(import.meta.dirname, "..");
const mutants = readMutants();

describe("a seeded bug", () => {
  test("can still be made: each of its texts stands exactly once in its file", () => {
    expect(mutants.flatMap((mutant) => rotten(ROOT, mutant) ?? [])).toEqual([]);
  });

  test("changes something", () => {
    const idle = mutants.filter(({ changes }) => changes.some(({ find, replace }) => find === replace));
    expect(idle).toEqual([]);
  });

  test("names tests that exist, by a title or a scenario of their file", () => {
    const scenarios = readdirSync(join(ROOT, "fixtures/scenarios"), { recursive: true }).map((file) => basename(String(file), ".yaml"));
    const missing = mutants.flatMap(({ test }) => {
      if (test === undefined) return [];
      const source = readFileSync(join(ROOT, test.file), "utf8").replaceAll(/\\(["'])/g, "$1");
      const [fixed = ""] = test.title.split(":");
      return source.includes(fixed) || scenarios.includes(test.title) ? [] : [`${test.file} > ${test.title}`];
    });
    expect(missing).toEqual([]);
  });

  test("stands in the table of docs/internals/reliability.md with what kills it", () => {
    const page = readFileSync(join(ROOT, "docs/internals/reliability.md"), "utf8");
    const rows = [...page.matchAll(/^\| `([\w-]+)` \|.*\| (.*) \|$/gm)];
    expect(rows.map(([, id]) => id)).toEqual(mutants.map(({ id }) => id));
    expect(rows.filter(([, , killer]) => killer === "nothing")).toEqual([]);
  });
});
