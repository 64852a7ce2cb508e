import { formatCoverage, mergeCoverage, percentagesOf, type Percentages } from "../../../workbench/coverage/report.ts";
import type { SuiteCoverage } from "../../../workbench/coverage/types.ts";
import type { SuiteResult, TestResult, Verdict } from "../../../workbench/asserts/results.ts";

/** A test file that was run, and how long that took, in milliseconds. */
export interface RanSuite {
  readonly suite: SuiteResult;
  readonly ms: number;
}

/** Totals of the laws among the results. */
export interface LawTotals {
  readonly held: number;
  readonly total: number;
  /** Inputs tried. */
  readonly runs: number;
  /** Each once, in the order of the files. */
  readonly seeds: readonly number[];
}

/** Coverage of the patches, and the parts that did not run, one line each. */
export interface CoverageTotals extends Percentages {
  readonly missed: readonly string[];
}

/** Totals of all results. */
export interface Totals extends Readonly<Record<Verdict, number>> {
  /** Files whose tests did not run, because the files or their configuration are invalid. */
  readonly unusable: number;
  /** Absent without laws. */
  readonly laws?: LawTotals;
  /** Absent when nothing was measured. */
  readonly coverage?: CoverageTotals;
  /** 95th percentile of the cost of tests, without laws and sequences; absent if nothing had a cost. */
  readonly fuelP95?: number;
}

/** Input of reporters. */
export interface TestReport {
  readonly suites: readonly RanSuite[];
  readonly totals: Totals;
}

/** Creates the report of a run. */
export function reportOf(suites: readonly RanSuite[]): TestReport {
  return { suites, totals: totalsOf(suites.map(({ suite }) => suite)) };
}

/** Reports whether a file has any failure. */
export function hasFailed(suite: SuiteResult): boolean {
  return isUnusable(suite) || suite.results.some(isFailure);
}

/** Reports whether a test failed or ended with an error. */
export function isFailure({ verdict }: TestResult): boolean {
  return verdict === "failed" || verdict === "error";
}

/** Reports whether a file has errors, so that none of its tests ran. */
export function isUnusable({ problems }: SuiteResult): boolean {
  return problems.some(({ severity }) => severity === "error");
}

/** The name of a test with that of its suite, for reports on several files: `rewrite-ips › moves pod IPs`. */
export function fullName(suite: SuiteResult, { name }: TestResult): string {
  return `${suite.name} › ${name}`;
}

function totalsOf(suites: readonly SuiteResult[]): Totals {
  const results = suites.flatMap((suite) => suite.results);
  const count = (verdict: Verdict) => results.filter((result) => result.verdict === verdict).length;
  const laws = results.filter(({ kind, verdict }) => kind === "law" && verdict !== "skipped");
  const coverages = suites.flatMap(({ coverage }) => coverage ?? []);
  const fuelP95 = p95(results.flatMap(({ kind, fuel }) => (kind === "test" && fuel > 0 ? [fuel] : [])));
  return {
    passed: count("passed"),
    failed: count("failed"),
    error: count("error"),
    skipped: count("skipped"),
    unusable: suites.filter(isUnusable).length,
    ...(laws.length > 0 && { laws: lawTotals(laws) }),
    ...(coverages.length > 0 && { coverage: coverageTotals(coverages) }),
    ...(fuelP95 !== undefined && { fuelP95 }),
  };
}

function lawTotals(laws: readonly TestResult[]): LawTotals {
  return {
    held: laws.filter(({ verdict }) => verdict === "passed").length,
    total: laws.length,
    runs: laws.reduce((sum, { runs = 0 }) => sum + runs, 0),
    seeds: [...new Set(laws.flatMap(({ seed }) => seed ?? []))],
  };
}

/** Totals the coverage of all files. Patches of one configuration count once, regardless of which files reach them. */
function coverageTotals(coverages: readonly SuiteCoverage[]): CoverageTotals {
  const all = mergeCoverage(coverages);
  return { ...percentagesOf(all), missed: formatCoverage(all) };
}

/** The nearest-rank percentile. */
function p95(numbers: readonly number[]): number | undefined {
  const sorted = [...numbers].sort((left, right) => left - right);
  return sorted[Math.ceil(sorted.length * 0.95) - 1];
}
