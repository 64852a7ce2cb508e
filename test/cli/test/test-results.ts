/**
 * Handmade results of a run of test files, for reporters.
 */
import { reportOf, type TestReport } from "../../../src/cli/test/reporters/report.ts";
import type { SuiteResult, TestResult } from "../../../src/workbench/asserts/results.ts";

const FILE = "patches/rewrite-ips.patch-test.yaml";

/** A result that passed, but for `changes`. */
export function result(name: string, changes: Partial<TestResult> = {}): TestResult {
  return { kind: "test", name, place: { file: FILE, line: 14, column: 5 }, verdict: "passed", failures: [], fuel: 131, ...changes };
}

/** A file in which nothing is wrong, but for `changes`. */
export function suite(results: readonly TestResult[], changes: Partial<SuiteResult> = {}): SuiteResult {
  return { file: FILE, name: "rewrite-ips", problems: [], results, writes: [], reads: [FILE], ...changes };
}

/** One file with a result of every verdict and kind, and one that cannot be run. */
export function mixedReport(): TestReport {
  const expression = 'value.startsWith("10.") ? "192.168." + value.slice(3) : value';
  const explanation = [expression, "|     |", "|     false", '"172.16.0.9"'].join("\n");
  const failed = result("moves pod IPs", {
    verdict: "failed",
    ms: 7.4,
    failures: [
      {
        message: 'Expected "192.168.0.9" at subsets[0].addresses[2].ip, found "172.16.0.9"',
        place: { file: FILE, line: 17, column: 9 },
        expected: "192.168.0.9",
        actual: "172.16.0.9",
        patch: { index: 0, path: "subsets[*].addresses[*].ip", at: "subsets[0].addresses[2].ip" },
        explanation,
      },
      {
        message: "The labels are others",
        place: { file: FILE, line: 18, column: 9 },
        expected: { tier: "web", zone: "a" },
        actual: { tier: "db", zone: "a" },
      },
    ],
  });
  const wrong = result("sets what cannot be set", {
    verdict: "error",
    fuel: 0,
    place: { file: FILE, line: 30, column: 5 },
    failures: [
      {
        message: "Cannot set metadata.name[0]: metadata.name is a string",
        place: { file: FILE, line: 31, column: 7 },
        code: "CONFIG_VALUE",
      },
    ],
  });
  const patch = { source: "vcluster.yaml", list: "endpoints", index: 0, path: "subsets[*].addresses[*].ip", direction: "toHost" } as const;
  const coverage = {
    patches: [
      { ...patch, hit: 3 },
      { ...patch, direction: "toTenant" as const, hit: 0 },
    ],
    branches: [
      { ...patch, text: expression, start: 25, end: 53, label: "condition true", hit: 0 },
      { ...patch, text: expression, start: 55, end: 60, label: "condition false", hit: 2 },
      { ...patch, text: "a || b", start: 5, end: 6, label: "right side", hit: 2 },
    ],
  };
  const law = result("roundTrip subsets[*].addresses[*].ip", { kind: "law", fuel: 0, runs: 2000, seed: 1 });
  const later = result("waits for IPv6", { verdict: "skipped", reason: "no IPv6 here", fuel: 0 });
  const unusable = suite([], {
    file: "patches/broken.patch-test.yaml",
    name: "broken",
    problems: [
      {
        code: "CONFIG_UNKNOWN_FIELD",
        severity: "error",
        message: 'Unknown field "test"',
        file: "patches/broken.patch-test.yaml",
        line: 3,
        column: 1,
        field: "",
        hint: 'Did you mean "tests"?',
      },
    ],
  });
  return reportOf([
    { suite: suite([result("leaves headless services alone"), failed, wrong, later, law], { coverage }), ms: 12.4 },
    { suite: unusable, ms: 1 },
  ]);
}

/** A report of one failed test with these texts everywhere. */
export function hostileReport(text: string): TestReport {
  const place = { file: `${text}.patch-test.yaml`, line: 2, column: 3 };
  const failures = [
    { message: text, place, expected: { [text]: text }, actual: text, explanation: text, patch: { index: 0, path: text, at: text } },
  ];
  return reportOf([
    {
      suite: suite([result(text, { place, verdict: "failed", failures }), result("b", { verdict: "skipped", reason: text })], {
        file: place.file,
        name: text,
      }),
      ms: 0,
    },
  ]);
}
