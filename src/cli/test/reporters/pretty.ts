/**
 * Human-readable report of a run: a line per test, then failures with reasons, then a summary line.
 *
 * @module
 */
import type { SuiteResult, TestFailure, TestResult, Verdict } from "../../../workbench/asserts/results.ts";
import { formatProblem } from "../../../schema/problem.ts";
import { unifiedDiff } from "../../output/diff.ts";
import { formatValue, visible } from "../../output/output.ts";
import type { Paint } from "./paint.ts";
import { isFailure, type RanSuite, type TestReport, type Totals } from "./report.ts";
import { headline, oneLine } from "./result-text.ts";

const WORDS: Readonly<Record<Verdict, string>> = { passed: "PASS", failed: "FAIL", error: "ERROR", skipped: "SKIP" };
const MEANINGS = { passed: "good", failed: "bad", error: "bad", skipped: "odd" } as const;

/** Width of the column of names. */
const NAME_COLUMNS = 56;

/** Formats a file and its tests, one per line. */
export function prettySuite({ suite }: RanSuite, paint: Paint): string {
  const title = suite.name === suite.file ? suite.file : `${suite.file}  ${suite.name}`;
  const problems = suite.problems.map((problem) => indented(formatProblem(problem)));
  return lines([paint("strong", oneLine(title)), ...problems.map(visible), ...suite.results.map((result) => resultLine(result, paint))]);
}

/** Formats the failures and the summary at the end of a run. */
export function prettyEnd(report: TestReport, paint: Paint): string {
  const blocks = report.suites.flatMap(({ suite }) => suite.results.filter(isFailure).map((result) => failureBlock(suite, result, paint)));
  return `\n${[...blocks, ...missedBlock(report.totals)].map((block) => `${block}\n`).join("")}${summaryLine(report.totals, paint)}\n`;
}

/** Formats the summary: `PASS 12  FAIL 1  ERROR 0  SKIP 1   laws 4/4 (8,000 cases, seed 1)   fuel p95 412`. */
export function summaryLine(totals: Totals, paint: Paint): string {
  const counts = (["passed", "failed", "error", "skipped"] as const).map((verdict) => {
    const text = `${WORDS[verdict]} ${grouped(totals[verdict])}`;
    return totals[verdict] === 0 ? text : paint(MEANINGS[verdict], text);
  });
  const { unusable, laws, coverage, fuelP95 } = totals;
  const parts = [
    counts.join("  "),
    ...(unusable > 0 ? [paint("bad", unusable === 1 ? "1 file could not be run" : `${grouped(unusable)} files could not be run`)] : []),
    ...(laws === undefined ? [] : [`laws ${laws.held}/${laws.total} (${[casesText(laws.runs), ...seedsText(laws.seeds)].join(", ")})`]),
    ...(coverage === undefined ? [] : [`patch coverage ${percent(coverage.patches)} branch ${percent(coverage.branches)}`]),
    ...(fuelP95 === undefined ? [] : [`fuel p95 ${grouped(fuelP95)}`]),
  ];
  return parts.join("   ");
}

function missedBlock({ coverage }: Totals): string[] {
  return coverage === undefined || coverage.missed.length === 0
    ? []
    : [lines(["Not covered", ...coverage.missed.map((line) => `  ${oneLine(line)}`)])];
}

/** Formats a percentage, rounded down, so that 100% means all. */
export function percent(share: number): string {
  return `${Math.floor(share)}%`;
}

function seedsText(seeds: readonly number[]): string[] {
  if (seeds.length === 0) return [];
  return [seeds.length === 1 ? `seed ${seeds[0]}` : `seeds ${seeds.slice(0, 3).join(", ")}${seeds.length > 3 ? ", …" : ""}`];
}

function resultLine(result: TestResult, paint: Paint): string {
  const { verdict, name, reason, runs } = result;
  const behind = [...(runs === undefined ? [] : [casesText(runs)]), ...fuelText(result), ...(reason === undefined ? [] : [reason])];
  const word = paint(MEANINGS[verdict], WORDS[verdict].padEnd(5));
  const shown = oneLine(name);
  if (behind.length === 0) return `  ${word} ${shown}`;
  return `  ${word} ${shown.padEnd(NAME_COLUMNS)}  ${paint("quiet", oneLine(behind.join(", ")))}`;
}

/** Cost of a test. Laws show none, because it depends on the number of values tried. */
function fuelText({ kind, fuel }: TestResult): string[] {
  return kind === "test" && fuel > 0 ? [`fuel ${grouped(fuel)}`] : [];
}

function failureBlock(suite: SuiteResult, result: TestResult, paint: Paint): string {
  const place = `${result.place.file}${result.place.line > 0 ? `:${result.place.line}` : ""}`;
  const head = `${paint(MEANINGS[result.verdict], WORDS[result.verdict].padEnd(5))} ${oneLine(result.name).padEnd(NAME_COLUMNS)}  ${oneLine(place)}`;
  const fuel = fuelText(result).map((text) => `  ${text}`);
  return lines([
    head,
    ...result.failures.map((failure) => failureText(suite, failure, paint)),
    ...fuel.map((text) => paint("quiet", text)),
  ]);
}

function failureText({ file }: SuiteResult, failure: TestFailure, paint: Paint): string {
  const { place, patch, explanation } = failure;
  const where = place.file === file && place.line > 0 ? `line ${place.line}: ` : "";
  return [
    visible(indented(`${where}${headline(failure)}`)),
    ...(patch === undefined ? [] : [`  ${patchName(patch)}`]),
    ...(explanation === undefined ? [] : [visible(indented(explanation, 4))]),
    ...diffLines(failure, paint),
  ].join("\n");
}

/** `patch #0  subsets[*].addresses[*].ip   at subsets[0].addresses[2].ip`. */
function patchName({ index, path, at }: NonNullable<TestFailure["patch"]>): string {
  return [`patch #${index}  ${oneLine(path)}`, ...(at === undefined ? [] : [`at ${oneLine(at)}`])].join("   ");
}

/** Scalars are in the message; values of several lines are shown as a diff. */
function diffLines(failure: TestFailure, paint: Paint): string[] {
  if (![failure.expected, failure.actual].some(hasLines)) return [];
  const diff = unifiedDiff({ name: "", before: asText(failure.expected), after: asText(failure.actual) });
  if (diff === "") return [];
  const body = diff.split("\n").slice(2, -1);
  return [paint("bad", "  --- expected"), paint("good", "  +++ actual"), ...body.map((line) => paintedDiff(line, paint))];
}

function paintedDiff(line: string, paint: Paint): string {
  const shown = `  ${visible(line)}`;
  if (line.startsWith("-")) return paint("bad", shown);
  if (line.startsWith("+")) return paint("good", shown);
  return line.startsWith("@@") ? paint("quiet", shown) : shown;
}

function hasLines(value: unknown): boolean {
  return typeof value === "string" ? value.includes("\n") : typeof value === "object" && value !== null && Object.keys(value).length > 0;
}

function asText(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" && value.includes("\n") ? value : formatValue(value, "yaml");
}

function indented(text: string, columns = 2): string {
  return text.replace(/^(?=.)/gm, " ".repeat(columns));
}

/** `8,000 cases`. */
function casesText(runs: number): string {
  return runs === 1 ? "1 case" : `${grouped(runs)} cases`;
}

/** `8,000`. */
function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:[0-9]{3})+$)/g, ",");
}

function lines(all: readonly string[]): string {
  return all.map((line) => `${line}\n`).join("");
}
