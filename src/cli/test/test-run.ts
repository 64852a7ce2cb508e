import { EngineError } from "../../base/errors.ts";
import { createEngineCache } from "../../workbench/patch-tests/engines.ts";
import type { CommandContext } from "../process/command.ts";
import { EXIT_FAILED, EXIT_USAGE } from "../process/exit-codes.ts";
import { discoverTests, TEST_FILE_SUFFIX } from "./files/discover.ts";
import type { NameFilter } from "./name-filter.ts";
import { percent } from "./reporters/pretty.ts";
import { createReporting, isDocumentPrinted, type ChosenReporter } from "./reporters/reporters.ts";
import { reportOf, type TestReport } from "./reporters/report.ts";
import { runTests } from "./run-tests.ts";
import { watchTests } from "./watch-tests.ts";

/** The options of `test`, as commander parses them. */
export interface TestFlags {
  readonly filter?: NameFilter;
  readonly failFast?: boolean;
  readonly update?: boolean;
  readonly coverage?: boolean;
  readonly threshold?: number;
  /** Default: pretty. */
  readonly reporter?: readonly ChosenReporter[];
  readonly passWithNoTests?: boolean;
  readonly watch?: boolean;
}

/** Runs patch tests once, or until stopped. */
export async function runTestCommand({ terminal, exit, kinds }: CommandContext, named: readonly string[], flags: TestFlags): Promise<void> {
  const { reporter = [{ name: "pretty" }] } = flags;
  const reporting = createReporting(terminal, reporter);
  const run = { ...flags, coverage: flags.coverage === true || flags.threshold !== undefined };
  if (flags.watch === true) {
    refuseWatchedDocument(reporter);
    return watchTests({ terminal, named, run, reporting, ...(kinds && { kinds }) });
  }
  const { files } = await discoverTests(named);
  if (files.length === 0 && flags.passWithNoTests !== true) throw noTests(named);
  const engines = createEngineCache(kinds && { kinds });
  try {
    const ran = await runTests(files, run, { terminal, engines }, (suite) => reporting.suite(suite));
    const report = reportOf(ran);
    await reporting.end(report);
    if (files.length > 0 && isEmpty(report) && flags.passWithNoTests !== true) throw noneRan(flags);
    const low = lowCoverage(report, flags.threshold);
    if (low !== undefined) terminal.err(low);
    exit(low === undefined ? exitCodeOf(report) : Math.max(exitCodeOf(report), EXIT_FAILED));
  } finally {
    engines.dispose();
  }
}

/** Returns the exit code. An invalid file takes precedence over a failed test, because it may hide further failures. */
function exitCodeOf({ totals }: TestReport): number {
  if (totals.unusable > 0) return EXIT_USAGE;
  return totals.failed + totals.error > 0 ? EXIT_FAILED : 0;
}

/** Message for coverage below the threshold. */
function lowCoverage({ totals: { coverage } }: TestReport, threshold: number | undefined): string | undefined {
  if (coverage === undefined || threshold === undefined || Math.min(coverage.patches, coverage.branches) >= threshold) return undefined;
  return `Coverage is below ${threshold}%: ${percent(coverage.patches)} of the patches and ${percent(coverage.branches)} of their branches ran`;
}

function noTests(named: readonly string[]): EngineError {
  const where = named.length === 0 ? "below the working directory" : `in ${named.map((name) => `"${name}"`).join(", ")}`;
  const hint = `Names of test files end with ${TEST_FILE_SUFFIX}; endpoint-sync test init creates the first one. Use --pass-with-no-tests to succeed without tests`;
  return new EngineError("USAGE", `Found no test files ${where}`, { details: { hint } });
}

function isEmpty({ totals: { passed, failed, error, skipped, unusable } }: TestReport): boolean {
  return passed + failed + error + skipped + unusable === 0;
}

function noneRan({ filter }: TestFlags): EngineError {
  const next = filter === undefined ? "Add tests, laws or sequences to the files" : "Omit --filter to see the names of all tests";
  const message = filter === undefined ? "The test files contain no tests" : "No test name matches --filter";
  return new EngineError("USAGE", message, { details: { hint: `${next}. Use --pass-with-no-tests to succeed without tests` } });
}

function refuseWatchedDocument(chosen: readonly ChosenReporter[]): void {
  if (!isDocumentPrinted(chosen)) return;
  throw new EngineError("USAGE", "Cannot print a JSON or JUnit report to standard output while watching: every run would add a document", {
    details: { hint: "Send the report to a file, as in --reporter junit=report.xml" },
  });
}
