import type { Code } from "../../../base/codes.ts";
import { isEngineError } from "../../../base/errors.ts";
import { positionInside, type ScalarNode } from "../../../schema/node.ts";
import type { Report } from "../../../schema/problem.ts";

/** Codes of the errors for paths and expressions that are not valid. */
const REFUSALS: readonly Code[] = ["PATH_SYNTAX", "PATH_UNSUPPORTED", "EXPRESSION_SYNTAX"];

/**
 * Returns the result of `compile`, or `undefined` if it rejects the text of a scalar. The error is reported at its position inside the text
 * or, if that is not known in the file, at the start of the scalar.
 */
export function compileText<T>(place: { report: Report; node: ScalarNode; field: string }, compile: () => T): T | undefined {
  try {
    return compile();
  } catch (error) {
    if (!isEngineError(error, ...REFUSALS)) throw error;
    const { line = 1, column = 1, hint = "" } = error.details as { line?: number; column?: number; hint?: string };
    const at = positionInside(place.node, { line, column });
    // Some messages already end with the hint, for readers who see only the message.
    const message = hint !== "" && error.message.endsWith(`. ${hint}`) ? error.message.slice(0, -hint.length - 2) : error.message;
    place.report.error({ code: error.code, at, field: place.field, message, hint });
    return undefined;
  }
}
