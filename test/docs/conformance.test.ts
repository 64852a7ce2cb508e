/**
 * The catalogue of API behaviours: it names each case of the conformance suites with the place where Kubernetes defines it.
 * Anyone who adds a case adds a line to `test/conformance/catalogue/`; anyone who takes one away, or words it again, changes that line.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { conformancePage, isApiBehaviour } from "../../docs/generate/conformance-page.ts";
import { CATALOGUE, titleOf } from "../conformance/catalogue.ts";
import type { CatalogueSection } from "../conformance/catalogue/citations.ts";

const ROOT = resolve(import.meta.dirname, "../..");

/** Who runs the whole of a suite. */
const RUNNERS: Readonly<Record<string, CatalogueSection["suite"]>> = {
  "test/cluster/cluster.test.ts": "http",
  "test/cluster/in-process-client.test.ts": "client",
};

const catalogued = CATALOGUE.flatMap((section) => Object.keys(section.cases).map((title) => titleOf(section, title)));

describe("the catalogue of API behaviours", () => {
  let registered: readonly string[];
  beforeAll(() => void (registered = registeredTitles()));

  test("cites where Kubernetes defines what a case checks, for every case of the suites", () => {
    const missing = registered.filter((title) => !catalogued.includes(title));
    expect(missing.map(lineToAdd), "Add these to test/conformance/catalogue/, then run `npm run docs`").toEqual([]);
  });

  test("has no case that the suites do not have", () => {
    const left = catalogued.filter((title) => !registered.includes(title));
    expect(left, "Take these out of test/conformance/catalogue/, then run `npm run docs`").toEqual([]);
  });

  test("names each case once", () => {
    expect(catalogued.filter((title, at) => catalogued.indexOf(title) !== at)).toEqual([]);
    expect(registered.filter((title, at) => registered.indexOf(title) !== at)).toEqual([]);
  });

  test("names a place in each document that it cites", () => {
    const places = CATALOGUE.flatMap(({ cases }) => Object.values(cases)).map(([, place]) => place);
    expect(places.filter((place) => place.trim() === "")).toEqual([]);
  });

  test("counts what is the client's own apart, and lists at least 150 behaviours of the API", () => {
    const behaviours = CATALOGUE.filter(isApiBehaviour).flatMap(({ cases }) => Object.entries(cases));
    expect(behaviours.filter(([, [document]]) => document === "this client")).toEqual([]);
    expect(behaviours.length).toBeGreaterThanOrEqual(150);
    expect(conformancePage()).toContain(`${behaviours.length} behaviours`);
  });
});

/** Every title that the suites register, as the catalogue spells it. Collecting runs no case. */
function registeredTitles(): string[] {
  const folder = mkdtempSync(join(tmpdir(), "conformance-"));
  const output = join(folder, "titles.json");
  try {
    const vitest = [join(ROOT, "node_modules/vitest/vitest.mjs"), "list", "--config", ".config/vitest.config.ts", "--root", "."];
    const how = ["--no-static-parse", `--json=${output}`, ...Object.keys(RUNNERS)];
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(VITEST|TESTS$)/.test(name)));
    execFileSync(process.execPath, [...vitest, ...how], { cwd: ROOT, env, stdio: "pipe" });
    const listed = JSON.parse(readFileSync(output, "utf8")) as { name: string; file: string }[];
    // A runner may run its suite twice, against clusters that are set up differently.
    return [...new Set(listed.map(({ name, file }) => withoutCluster(name, suiteOf(file))))];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function suiteOf(file: string): CatalogueSection["suite"] {
  const runner = Object.keys(RUNNERS).find((path) => file.endsWith(path));
  if (runner === undefined) throw new Error(`No suite is known for "${file}"`);
  return RUNNERS[runner]!;
}

/** `embedded cluster > lists > a case` → `http › lists › a case`. Titles may hold the separator themselves. */
function withoutCluster(name: string, suite: CatalogueSection["suite"]): string {
  const [, second = "", ...rest] = name.split(" > ");
  if (rest.length === 0) return titleOf({ suite, group: "" }, second);
  return titleOf({ suite, group: second }, rest.join(" > "));
}

function lineToAdd(title: string): string {
  const [suite, ...rest] = title.split(" › ");
  const [group, name] = rest.length > 1 ? [rest[0], rest.slice(1).join(" › ")] : ["", rest[0]];
  return `suite "${suite}", group "${group}": ${JSON.stringify(name)}: ["API concepts", "<section of the document>"],`;
}
