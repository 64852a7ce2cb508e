/**
 * Results of running a patch test file. Plain JSON data, so that reporters, watch mode and a page can pass them on unchanged.
 *
 * @module
 */
import type { Problem } from "../../schema/problem.ts";
import type { SuiteCoverage } from "../coverage/types.ts";

/**
 * How a test ended. `passed`, `failed`: it ran, and what it states holds or does not. `error`: it could not run, as the test itself
 * is wrong (it sets a path that cannot be set, for example). `skipped`: it says so.
 */
export type Verdict = "passed" | "failed" | "error" | "skipped";

/** Where something stands in a test file. `line` and `column` start at 1; both are 0 where there is no text. */
export interface TestPlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** One statement of a test that does not hold. */
export interface TestFailure {
  /** One sentence: the expected and the actual result. */
  readonly message: string;
  /** Of the statement in the test file. */
  readonly place: TestPlace;
  /** JSON values, for a diff. Absent where nothing was found, or where there is nothing to compare. */
  readonly expected?: unknown;
  readonly actual?: unknown;
  /** Error code of the patch that failed. */
  readonly code?: string;
  /** The patch that made the value, as far as one is known; `at` is the concrete path. */
  readonly patch?: { readonly index: number; readonly path: string; readonly at?: string };
  /** The patch's expression with the value of each of its parts drawn below it, in several lines. */
  readonly explanation?: string;
}

/** One test, or one case of it; one law; one sequence. */
export interface TestResult {
  readonly kind: "test" | "law" | "sequence";
  /** `it`, with the case's label after " › ". */
  readonly name: string;
  readonly place: TestPlace;
  readonly verdict: Verdict;
  /** Of a skip. */
  readonly reason?: string;
  readonly failures: readonly TestFailure[];
  /** Total cost of all patches; 0 if not applicable. */
  readonly fuel: number;
  /** Of a law: how many inputs were tried, and the seed that they come from. */
  readonly runs?: number;
  readonly seed?: number;
  /** How long it took, in milliseconds; absent unless the suite was run with `now`. */
  readonly ms?: number;
}

/** A golden file that does not hold what came. */
export interface GoldenWrite {
  readonly file: string;
  readonly text: string;
}

/** One patch test file. */
export interface SuiteResult {
  readonly file: string;
  readonly name: string;
  /** Problems of the file or its configuration. With an error among them nothing ran, and `results` is empty. */
  readonly problems: readonly Problem[];
  /** In the order of the file: tests, then laws, then sequences. */
  readonly results: readonly TestResult[];
  /** Golden files to write, when asked to update them. */
  readonly writes: readonly GoldenWrite[];
  /** Every file that the result depends on, this one first; also files that do not exist. For watch mode. */
  readonly reads: readonly string[];
  /** On request: coverage of the tests; laws and sequences are not counted. */
  readonly coverage?: SuiteCoverage;
}
