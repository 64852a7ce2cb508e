import { readFile } from "node:fs/promises";
import { formatProblem } from "../../../src/schema/problem.ts";
import { runSuite, type SuiteOptions } from "../../../src/workbench/patch-tests/run-suite.ts";
import type { SuiteResult, TestFailure, TestResult } from "../../../src/workbench/asserts/results.ts";

/** Where the fixtures of patch test files are. */
export const FIXTURES = "fixtures/patch-tests";

/** Reads files of the project. */
export async function readProjectFile(file: string): Promise<string> {
  try {
    return await readFile(new URL(`../../../${file}`, import.meta.url), "utf8");
  } catch (cause) {
    // The system's own words have a path of the machine in them.
    throw new Error(`Cannot read "${file}": there is no such file`, { cause });
  }
}

/** How the names of fixtures end: those that do not pass are not found by an `endpoint-sync test` in the checkout. */
export const FIXTURE_ENDING = /\.(patch|wrong)-test\.yaml$/;

/** Runs one of the fixtures. */
export function runFixture(name: string, options: Partial<SuiteOptions> = {}): Promise<SuiteResult> {
  const ending = name.startsWith("passing/") ? "patch-test" : "wrong-test";
  return runSuite(`${FIXTURES}/${name}.${ending}.yaml`, { read: readProjectFile, ...options });
}

/** The beginning of a test file. */
const HEADER = "apiVersion: cli.endpointsync.dev/v1alpha1\nkind: PatchTest\n";

/** Runs a test file that is only this text; other files are those of `files`. */
export function runText(
  text: string,
  { files = {}, ...options }: Partial<SuiteOptions> & { files?: Record<string, string> } = {},
): Promise<SuiteResult> {
  const all: Record<string, string> = { ...files, "tests/web.patch-test.yaml": HEADER + text };
  const read = async (file: string) => {
    if (all[file] === undefined) throw new Error(`no file ${file}`);
    return all[file];
  };
  return runSuite("tests/web.patch-test.yaml", { read, ...options });
}

/** All problems, as readable lines: the content of a fixture's .txt. */
export function tell({ problems, results }: SuiteResult): string {
  const lines = [
    ...problems.map((problem) => formatProblem(problem)),
    ...results.filter(({ verdict }) => verdict !== "passed").flatMap(tellResult),
  ];
  return `${lines.join("\n")}\n`;
}

function tellResult({ name, verdict, reason, failures }: TestResult): string[] {
  return [`${verdict} ${name}${reason === undefined ? "" : `: ${reason}`}`, ...failures.flatMap(tellFailure)];
}

function tellFailure({ message, place, code, patch, explanation }: TestFailure): string[] {
  const by = patch === undefined ? "" : ` [patch ${patch.index} ${patch.path}${patch.at === undefined ? "" : ` at ${patch.at}`}]`;
  const lines = explanation === undefined ? [] : explanation.split("\n").map((line) => `      ${line}`.trimEnd());
  return [`  ${place.line}:${place.column} ${code === undefined ? "" : `${code} `}${message}${by}`, ...lines];
}
