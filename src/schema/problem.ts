import type { Code } from "../base/codes.ts";

/** A place in a file. `line` and `column` start at 1 and count UTF-16 units; both are 0 where there is no text. */
export interface Position {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** An `error` or a `warning` in a file, for users and editors. */
export interface Problem extends Position {
  readonly code: Code;
  readonly severity: "error" | "warning";
  /** Describes what was found and what was expected. */
  readonly message: string;
  /** Path in the data, such as `sync.toHost.endpoints.patches[1].path`; "" is the whole document. */
  readonly field: string;
  /** The correction; "" if the message is sufficient. */
  readonly hint: string;
}

/** Input of a {@link Report}. */
export interface ProblemInput {
  readonly code: Code;
  readonly message: string;
  readonly at: Position;
  readonly field: string;
  readonly hint?: string;
}

/** Maximum number of problems that are collected. A file with more problems is hostile, or not the intended file. */
export const PROBLEMS_MAX = 200;

/** Collects problems in the order in which they are found, {@link PROBLEMS_MAX} at most. */
export class Report {
  readonly problems: Problem[] = [];
  #errors = 0;

  error(input: ProblemInput): void {
    this.#errors += 1;
    this.#add("error", input);
  }

  warning(input: ProblemInput): void {
    this.#add("warning", input);
  }

  /** True if there was an error, even one beyond the limit. */
  get failed(): boolean {
    return this.#errors > 0;
  }

  #add(severity: Problem["severity"], { code, message, at, field, hint = "" }: ProblemInput): void {
    // The first error is added even if warnings have reached the limit, because a result without errors means success.
    if (this.problems.length >= PROBLEMS_MAX && !(severity === "error" && this.#errors === 1)) return;
    this.problems.push({ code, severity, message, file: at.file, line: at.line, column: at.column, field, hint });
  }
}

/**
 * Returns the problems sorted by file, line and column. The files keep the order in which they first occur.
 */
export function sortProblems(problems: readonly Problem[]): Problem[] {
  const files = [...new Set(problems.map((problem) => problem.file))];
  return [...problems].sort(
    (left, right) => files.indexOf(left.file) - files.indexOf(right.file) || left.line - right.line || left.column - right.column,
  );
}

/**
 * Formats a problem on one line, `file:line:column: severity CODE field: message. hint`. With `text` (the file's text), adds the affected
 * line below it, with a caret.
 *
 * @example
 * formatProblem(problem); // 'vcluster.yaml:7:11: error CONFIG_TYPE sync.toHost.endpoints.enabled: Expected …'
 */
export function formatProblem(problem: Problem, options: { text?: string } = {}): string {
  const place = problem.line > 0 ? `${problem.file}:${problem.line}:${problem.column}` : problem.file;
  const field = problem.field === "" ? "" : ` ${problem.field}`;
  const hint = problem.hint === "" ? "" : `. ${problem.hint}`;
  const line = `${place}: ${problem.severity} ${problem.code}${field}: ${problem.message}${hint}`;
  return options.text === undefined || problem.line === 0 ? line : `${line}\n${codeFrame(options.text, problem)}`;
}

/** Lines shown above the marked one. */
const FRAME_LINES_BEFORE = 2;
/** Longer lines are cut around the caret. */
const FRAME_WIDTH = 120;

/**
 * Formats the line at `position`, numbered, with the two lines before it and a caret below.
 *
 * @example
 * codeFrame("a: 1\nb: yes\n", { line: 2, column: 4 });
 * //   1 | a: 1
 * // > 2 | b: yes
 * //     |    ^
 */
export function codeFrame(text: string, position: { line: number; column: number }): string {
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/);
  const first = Math.max(1, position.line - FRAME_LINES_BEFORE);
  const width = String(position.line).length;
  const cut = Math.max(0, position.column - FRAME_WIDTH + 20);
  const shown = lines.slice(first - 1, position.line).map((line, index) => {
    const number = first + index;
    return `${number === position.line ? ">" : " "} ${String(number).padStart(width)} | ${line.slice(cut, cut + FRAME_WIDTH)}`;
  });
  // A tab before the caret stays a tab, so that the caret is below its character at any tab width.
  const lead = (lines[position.line - 1] ?? "").slice(cut, position.column - 1).replace(/[^\t]/g, " ");
  return [...shown, `  ${" ".repeat(width)} | ${lead}^`].join("\n");
}
