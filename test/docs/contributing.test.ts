/**
 * `docs/internals/contributing.md`: its commands exist and are all of them, and what it says to write is where it says.
 */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { tablesOf } from "../support/markdown.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const PAGE = readFileSync(join(ROOT, "docs/internals/contributing.md"), "utf8");
const { scripts, engines } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
  scripts: Record<string, string>;
  engines: { node: string };
};
const rowsOf = (name: string) =>
  tablesOf(PAGE)
    .filter((table) => table.name === name)
    .flatMap(({ rows }) => rows);

test("names scripts that exist", () => {
  const named = [...PAGE.matchAll(/\bnpm run (?:--silent )?([\w:-]+)/g)].map((match) => match[1]!);
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
});

test("has a row for every suite, and for what .ci/run and .ci/long run", () => {
  const listed = rowsOf("suites").map(({ command = "" }) => command.replace(/^npm (run )?/, ""));
  const suites = Object.keys(scripts).filter((name) => /^test(:|$)/.test(name));
  expect(suites.filter((name) => !listed.includes(name))).toEqual([]);
  const ci = readFileSync(join(ROOT, ".ci/run"), "utf8");
  const run = [...ci.matchAll(/^(?:KILLS=\d+ )?run ([\w:-]+)/gm)].map((match) => match[1]!);
  expect(run.length).toBeGreaterThan(10);
  const long = [...readFileSync(join(ROOT, ".ci/long"), "utf8").matchAll(/^long ([\w:-]+)/gm)].map((match) => match[1]!);
  expect(long.length).toBeGreaterThan(10);
  expect(long.filter((name) => !listed.includes(name))).toEqual([]);
  expect(run.filter((name) => !["docs", "build", "bench:syncer"].includes(name) && !listed.includes(name))).toEqual([]);
});

/** Suites that neither `.ci/run` nor `.ci/long` runs, and why. */
const ASIDE: Record<string, string> = {
  "test:all": "npm test and npm run test:long, one after the other",
  "test:image": "needs npm's registry, and is a step of its own in each release",
};

test("runs every suite in .ci/run or .ci/long, but for those with a reason", () => {
  const commands = [".ci/run", ".ci/long"].flatMap((file) =>
    [...readFileSync(join(ROOT, file), "utf8").matchAll(/^(?:[A-Z]+=\S+ )?(?:long|run|npm) ([\w:-]+)/gm)].map((match) => match[1]!),
  );
  const suites = Object.keys(scripts).filter((name) => /^test(:|$)/.test(name));
  expect(suites.filter((name) => !commands.includes(name)).sort()).toEqual(Object.keys(ASIDE).sort());
});

test.each(rowsOf("additions"))("to add $to-add, there is what it names", (row) => {
  const cells = [row["write"], row["then"]].join(" ");
  const paths = cells.match(/\b(?:src|test|docs|fixtures)\/[\w./-]+\w/g) ?? [];
  const missing = paths.filter((path) => !path.includes("NNNN") && !path.includes("CATEGORY") && !existsSync(join(ROOT, path)));
  expect(missing).toEqual([]);
});

test("has a row for each thing that people ask to add", () => {
  const named = rowsOf("additions").map((row) => row["to add"]);
  for (const what of ["an error code", "a setting", "a kind that is synced", "a mutant", "a scenario", "a decision"]) {
    expect(named).toContain(what);
  }
});

test("asks for the Node of the package, and tells the limit of the house", () => {
  expect(PAGE).toContain(`Node ${engines.node.replace(">=", "")} or newer`);
  const limit = /LINES_MAX = (\d+)/.exec(readFileSync(join(ROOT, "test/tidy.test.ts"), "utf8"))![1]!;
  expect(PAGE).toContain(`at most ${limit} lines`);
});
