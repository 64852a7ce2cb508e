import { formatProblem } from "../../../schema/problem.ts";
import type { TestFailure, TestResult } from "../../../workbench/asserts/results.ts";
import { formatValue, visible } from "../../output/output.ts";
import { oneLine } from "./result-text.ts";
import { fullName, isUnusable } from "./report.ts";
import type { TestReport } from "./report.ts";

interface TapPoint {
  readonly ok: boolean;
  readonly text: string;
  /** Shown behind the text, as `SKIP why`. */
  readonly directive?: string;
  readonly diagnostics?: unknown;
}

/** The report in version 14 of the Test Anything Protocol. A file of which nothing ran is one test that is not ok. */
export function tapReport({ suites }: TestReport): string {
  const points = suites.flatMap(({ suite }): TapPoint[] => {
    const problems = suite.problems.map((problem) => formatProblem(problem));
    return [
      ...(isUnusable(suite) ? [{ ok: false, text: `${suite.name} › can be run`, diagnostics: { problems } }] : []),
      ...suite.results.map((result) => pointOf(fullName(suite, result), result)),
    ];
  });
  return ["TAP version 14", `1..${points.length}`, ...points.flatMap((point, index) => pointLines(point, index + 1))]
    .map((line) => `${line}\n`)
    .join("");
}

function pointOf(text: string, { verdict, reason, failures, place }: TestResult): TapPoint {
  if (verdict === "passed") return { ok: true, text };
  if (verdict === "skipped") return { ok: true, text, directive: `SKIP ${reason ?? ""}`.trimEnd() };
  const at = { file: place.file, line: place.line };
  return { ok: false, text, diagnostics: { severity: verdict === "failed" ? "fail" : "error", at, failures: failures.map(diagnosticOf) } };
}

function diagnosticOf({ message, place, code, patch, explanation, ...values }: TestFailure): object {
  return {
    message,
    line: place.line,
    ...(code !== undefined && { code }),
    ...(patch !== undefined && { patch }),
    ...(explanation !== undefined && { explanation }),
    ...(values.expected !== undefined && { expected: values.expected }),
    ...(values.actual !== undefined && { actual: values.actual }),
  };
}

function pointLines({ ok, text, directive, diagnostics }: TapPoint, number: number): string[] {
  const behind = directive === undefined ? "" : ` # ${oneLine(directive)}`;
  const head = `${ok ? "ok" : "not ok"} ${number} - ${escaped(text)}${behind}`;
  if (diagnostics === undefined) return [head];
  const yaml = visible(formatValue(diagnostics, "yaml")).trimEnd().split("\n");
  return [head, "  ---", ...yaml.map((line) => `  ${line}`), "  ..."];
}

/** A description without what would be read as a directive. */
function escaped(text: string): string {
  return oneLine(text).replace(/[\\#]/g, "\\$&");
}
