import { formatProblem, type Problem } from "../../../schema/problem.ts";
import type { SuiteResult, TestResult } from "../../../workbench/asserts/results.ts";
import { visible } from "../../output/output.ts";
import { failureLines } from "./result-text.ts";
import { isUnusable, type RanSuite, type TestReport } from "./report.ts";

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\t": "&#9;" };

/** The report as JUnit's XML, which most CI systems read. A file in which nothing ran is reported as one test with an error. */
export function junitReport({ suites, totals }: TestReport): string {
  const { passed, failed, error, skipped, unusable } = totals;
  const counts = { tests: passed + failed + error + skipped + unusable, failures: failed, errors: error + unusable, skipped };
  const ms = suites.reduce((sum, suite) => sum + suite.ms, 0);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attributes({ name: "endpoint-sync test", ...counts, time: seconds(ms) })}>`,
    ...suites.flatMap(suiteLines),
    "</testsuites>\n",
  ].join("\n");
}

function suiteLines({ suite, ms }: RanSuite): string[] {
  const count = (verdict: TestResult["verdict"]) => suite.results.filter((result) => result.verdict === verdict).length;
  const unusable = isUnusable(suite) ? 1 : 0;
  const counts = {
    tests: suite.results.length + unusable,
    failures: count("failed"),
    errors: count("error") + unusable,
    skipped: count("skipped"),
  };
  return [
    `  <testsuite${attributes({ name: suite.name, file: suite.file, ...counts, time: seconds(ms) })}>`,
    ...(unusable > 0 ? unusableLines(suite) : []),
    ...suite.results.flatMap((result) => caseLines(suite, result)),
    "  </testsuite>",
  ];
}

function unusableLines({ file, name, problems }: SuiteResult): string[] {
  const [first] = problems.filter(({ severity }) => severity === "error") as [Problem];
  const text = problems.map((problem) => formatProblem(problem)).join("\n");
  return [
    `    <testcase${attributes({ name: "can be run", classname: name, file, line: first.line })}>`,
    `      <error${attributes({ message: first.message, type: first.code })}>${escaped(text)}</error>`,
    "    </testcase>",
  ];
}

function caseLines(suite: SuiteResult, { name, place, verdict, reason, failures, ms }: TestResult): string[] {
  const time = ms === undefined ? {} : { time: seconds(ms) };
  const head = `    <testcase${attributes({ name, classname: suite.name, file: place.file, line: place.line, ...time })}`;
  if (verdict === "passed") return [`${head}/>`];
  if (verdict === "skipped") return [`${head}>`, `      <skipped${attributes({ message: reason ?? "" })}/>`, "    </testcase>"];
  const element = verdict === "failed" ? "failure" : "error";
  // One element per test: readers take the first one.
  const [first] = failures;
  const about = attributes({ message: first?.message ?? "", type: first?.code ?? verdict });
  const text = failures.map((failure) => failureLines(failure).join("\n")).join("\n\n");
  return [`${head}>`, `      <${element}${about}>${escaped(text)}</${element}>`, "    </testcase>"];
}

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escaped(String(value)).replace(/["\n\t]/g, (character) => ESCAPES[character]!)}"`)
    .join("");
}

/** Text that XML 1.0 allows: other characters become JSON escapes. */
function escaped(text: string): string {
  return visible(text)
    .replace(/[\uFFFE\uFFFF]/g, (character) => `\\u${character.charCodeAt(0).toString(16)}`)
    .replace(/[&<>]/g, (character) => ESCAPES[character]!);
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}
