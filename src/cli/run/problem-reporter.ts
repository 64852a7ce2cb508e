import type { Logger } from "../../base/logger.ts";
import type { Problem } from "../../schema/problem.ts";
import { reportProblem } from "../output/messages.ts";
import type { Terminal } from "../process/terminal.ts";

/** The outputs for problems of a configuration while a syncer runs. */
export interface ProblemOutput {
  readonly terminal: Pick<Terminal, "err" | "colours">;
  readonly logger: Logger;
  readonly format: "json" | "text";
}

/**
 * Creates a function that reports problems of a configuration in the format of the log. With the format JSON, problems are log lines, so
 * that all output is JSON. Otherwise each problem is one line, as in `validate`.
 *
 * @example
 * const report = createProblemReporter({ terminal, logger, format: "json" });
 * for (const problem of problems) report(problem);
 */
export function createProblemReporter({ terminal, logger, format }: ProblemOutput): (problem: Problem) => void {
  if (format === "text") return (problem) => reportProblem(terminal as Terminal, problem);
  return ({ severity, message, ...where }) => {
    if (severity === "error") logger.error("The configuration has an error", { ...where, error: message });
    else logger.warn("The configuration has a warning", { ...where, warning: message });
  };
}
