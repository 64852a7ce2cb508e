import { CODES } from "../../../base/codes.ts";
import { isAbsolute } from "node:path";
import { pathToFileURL } from "node:url";
import type { TestPlace, TestResult } from "../../../workbench/asserts/results.ts";
import { visible } from "../../output/output.ts";
import { readVersion } from "../../process/version.ts";
import { headline } from "./result-text.ts";
import { fullName, isFailure } from "./report.ts";
import type { TestReport } from "./report.ts";

interface Finding {
  readonly rule: string;
  readonly level: "error" | "warning";
  readonly text: string;
  readonly place: TestPlace;
}

/** Rules for failures without a code of their own. */
const RULES: Readonly<Record<TestResult["kind"], { readonly id: string; readonly text: string }>> = {
  test: { id: "patch-test", text: "A test of a patch does not hold" },
  law: { id: "patch-law", text: "A law of a patch does not hold" },
  sequence: { id: "patch-sequence", text: "A sequence of events does not end as expected" },
};

/** The report as SARIF 2.1.0, which code scanning reads. */
export function sarifReport({ suites }: TestReport): string {
  const findings = suites.flatMap(({ suite }): Finding[] => [
    ...suite.problems.map(({ code, severity, message, hint, file, line, column }) => ({
      rule: code,
      level: severity,
      text: hint === "" ? message : `${message}. ${hint}`,
      place: { file, line, column },
    })),
    ...suite.results.filter(isFailure).flatMap((result) =>
      result.failures.map((failure): Finding => ({
        rule: failure.code ?? RULES[result.kind].id,
        level: "error",
        text: `${fullName(suite, result)}: ${headline(failure)}`,
        place: failure.place.line > 0 ? failure.place : result.place,
      })),
    ),
  ]);
  const rules = [...new Set(findings.map(({ rule }) => rule))].sort();
  const driver = {
    name: "endpoint-sync",
    version: readVersion(),
    rules: rules.map((id) => ({ id, shortDescription: { text: meaningOf(id) } })),
  };
  const run = { tool: { driver }, columnKind: "utf16CodeUnits", results: findings.map((finding) => resultOf(finding, rules)) };
  return `${JSON.stringify({ version: "2.1.0", runs: [run] }, null, 2)}\n`;
}

function meaningOf(rule: string): string {
  const own = Object.values(RULES).find(({ id }) => id === rule);
  return own?.text ?? (Object.hasOwn(CODES, rule) ? CODES[rule as keyof typeof CODES].meaning : rule);
}

function resultOf({ rule, level, text, place }: Finding, rules: readonly string[]): object {
  const region = place.line > 0 ? { region: { startLine: place.line, startColumn: Math.max(place.column, 1) } } : {};
  const physicalLocation = { artifactLocation: { uri: uriOf(place.file) }, ...region };
  return { ruleId: rule, ruleIndex: rules.indexOf(rule), level, message: { text: visible(text) }, locations: [{ physicalLocation }] };
}

/** A reference relative to where the command runs, which is what readers expect of a checkout. */
function uriOf(file: string): string {
  // A name need not be well-formed Unicode, but a reference is.
  const name = Buffer.from(file).toString();
  return isAbsolute(name) ? pathToFileURL(name).href : name.split("/").map(encodeURIComponent).join("/");
}
