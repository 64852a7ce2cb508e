/**
 * Results of running a patch test file. Plain JSON data, so that reporters, watch mode and a page can pass them on unchanged.
 *
 * @module
 */
import type { Problem } from "../../schema/problem.ts";
import type { SuiteCoverage } from "../coverage/types.ts";

/**
 * How a test ended. `passed`: all its statements hold. `failed`: a statement does not hold. `error`: the test could not run because the
 * test itself is invalid (for example, it sets a path that cannot be set). `skipped`: the test file skips it.
 */
export type Verdict = "passed" | "failed" | "error" | "skipped";

/** A position in a test file. `line` and `column` start at 1; both are 0 if the position is unknown. */
export interface TestPlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A failed statement of a test. */
export interface TestFailure {
  /** One sentence: the expected and the actual result. */
  readonly message: string;
  /** Position of the statement in the test file. */
  readonly place: TestPlace;
  /** JSON values, for a diff. Absent where nothing was found, or where there is nothing to compare. */
  readonly expected?: unknown;
  readonly actual?: unknown;
  /** Error code of the patch that failed. */
  readonly code?: string;
  /** The patch that produced the value, if known; `at` is the concrete path. */
  readonly patch?: { readonly index: number; readonly path: string; readonly at?: string };
  /** The patch's expression over several lines, with the value of each part below it. */
  readonly explanation?: string;
}

/** Result of one test, one case of a test, one law or one sequence. */
export interface TestResult {
  readonly kind: "test" | "law" | "sequence";
  /** `it` of the test, then " › " and the label of the case, if there is one. */
  readonly name: string;
  readonly place: TestPlace;
  readonly verdict: Verdict;
  /** Reason for skipping the test. */
  readonly reason?: string;
  readonly failures: readonly TestFailure[];
  /** Fuel that all patches used; 0 if not applicable. */
  readonly fuel: number;
  /** For a law: the number of inputs that were tried, and their seed. */
  readonly runs?: number;
  readonly seed?: number;
  /** Duration in milliseconds; absent unless the suite was run with `now`. */
  readonly ms?: number;
}

/** A golden file whose content differs from the result. */
export interface GoldenWrite {
  readonly file: string;
  readonly text: string;
}

/** One patch test file. */
export interface SuiteResult {
  readonly file: string;
  readonly name: string;
  /** Problems of the file or its configuration. If one of them is an error, nothing ran, and `results` is empty. */
  readonly problems: readonly Problem[];
  /** In the order of the file: tests, then laws, then sequences. */
  readonly results: readonly TestResult[];
  /** Golden files to write, if an update was requested. */
  readonly writes: readonly GoldenWrite[];
  /** Every file that the result depends on, including files that do not exist; this file is the first. For watch mode. */
  readonly reads: readonly string[];
  /** Coverage of the tests, if requested. Laws and sequences are not counted. */
  readonly coverage?: SuiteCoverage;
}
