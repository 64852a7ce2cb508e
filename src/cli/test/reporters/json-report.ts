import type { TestReport } from "./report.ts";

/** The report as JSON, for programs: the totals, and the results of every file. Written golden files are listed by name only. */
export function jsonReport({ suites, totals }: TestReport): string {
  const files = suites.map(({ suite: { writes, ...suite }, ms }) => ({
    ...suite,
    results: suite.results.map((result) => (result.ms === undefined ? result : { ...result, ms: Math.round(result.ms) })),
    writes: writes.map(({ file }) => file),
    ms: Math.round(ms),
  }));
  return `${JSON.stringify({ totals, files }, null, 2)}\n`;
}
