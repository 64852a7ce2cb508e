/**
 * Messages on standard error: errors and warnings, each with its code, its place and what to do next.
 *
 * @module
 */
import { CODES } from "../../base/codes.ts";
import { isEngineError, messageOf, type EngineError } from "../../base/errors.ts";
import { formatProblem, type Problem } from "../../schema/problem.ts";
import { EXIT_FAILED, EXIT_INTERNAL, EXIT_USAGE } from "../process/exit-codes.ts";
import { visible } from "./output.ts";
import type { Terminal } from "../process/terminal.ts";

const COLOURS = { error: 31, warning: 33 } as const;

/**
 * Reports a failure with its remedy, and returns the exit code. For an AggregateError, reports all failures, and returns the highest code.
 */
export function reportFailure(terminal: Terminal, failure: unknown): number {
  if (failure instanceof AggregateError) return Math.max(...failure.errors.map((error) => reportFailure(terminal, error)));
  if (isEngineError(failure)) {
    reportError(terminal, failure);
    return exitCodeOf(failure);
  }
  report(terminal, "error", `INTERNAL: ${failure instanceof Error ? (failure.stack ?? failure.message) : messageOf(failure)}`);
  terminal.err(`  ${CODES.INTERNAL.remedy}`);
  return EXIT_INTERNAL;
}

function reportError(terminal: Terminal, { code, message, details }: EngineError): void {
  report(terminal, "error", `${code}: ${message}`);
  const hint = details["hint"];
  const next = typeof hint === "string" && hint !== "" ? hint : CODES[code].remedy;
  // Messages about paths and expressions already contain their hint.
  if (!message.includes(next)) terminal.err(`  ${visible(next)}`);
}

/** Reports a problem that does not stop the command. `text` starts with a code if the problem has one. */
export function reportWarning(terminal: Terminal, text: string): void {
  report(terminal, "warning", text);
}

/** Reports a problem of a file. If the file's `text` is given, also shows the place. */
export function reportProblem(terminal: Terminal, problem: Problem, options: { text?: string } = {}): void {
  const { severity, code } = problem;
  const mark = `: ${severity} ${code}`;
  terminal.err(visible(formatProblem(problem, options)).replace(mark, () => `: ${painted(terminal, severity)} ${code}`));
}

function report(terminal: Terminal, severity: "error" | "warning", text: string): void {
  terminal.err(`${painted(terminal, severity)} ${visible(text)}`);
}

function painted({ colours }: Terminal, severity: "error" | "warning"): string {
  return colours ? `\u001b[1;${COLOURS[severity]}m${severity}\u001b[0m` : severity;
}

/** Returns 2 for an invalid command line or file, 3 for an error in the program, and 1 for all other errors. */
function exitCodeOf({ code }: EngineError): number {
  if (code === "INTERNAL") return EXIT_INTERNAL;
  return code === "USAGE" || code.startsWith("CONFIG_") || code.startsWith("PATH_") ? EXIT_USAGE : EXIT_FAILED;
}
