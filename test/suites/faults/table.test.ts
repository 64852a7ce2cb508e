import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../../..");
const PAGE = readFileSync(join(ROOT, "docs/internals/faults.md"), "utf8");
const TESTS = ["test/suites/faults", "test/kube/runtime"]
  .flatMap((folder) => readdirSync(join(ROOT, folder)).map((file) => join(ROOT, folder, file)))
  .filter((file) => file.endsWith(".test.ts") && file !== import.meta.filename)
  .map((file) => readFileSync(file, "utf8"))
  .join("\n");
/** Texts that begin a title. */
const TITLES = [...TESTS.matchAll(/["`]((?:F\d+ |there are never)[^"`]*)["`]/g)].map((match) => match[1]!);
const ROWS = [...PAGE.matchAll(/^\| (F\d+) .*\| `([^`]+)` \|$/gm)].map(([, fault = "", title = ""]) => ({ fault, title }));

test("every row of docs/internals/faults.md names a test that exists", () => {
  expect(ROWS.length).toBeGreaterThanOrEqual(23);
  expect(ROWS.filter(({ title }) => !TITLES.some((one) => one.startsWith(title)))).toEqual([]);
});

test("every fault that a test names has a row in docs/internals/faults.md", () => {
  const faults = TITLES.flatMap((title) => /^F\d+/.exec(title)?.[0] ?? []);
  expect([...new Set(faults)].filter((fault) => !ROWS.some((row) => row.fault === fault))).toEqual([]);
});
