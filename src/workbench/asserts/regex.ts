import { EngineError, isEngineError } from "../../base/errors.ts";
import type { Sandbox } from "../../engine/sandbox/sandbox.ts";

/**
 * Reports whether a string has a part that matches a pattern (JavaScript's syntax, flag u).
 *
 * @throws EXPRESSION_FUEL when it takes too many steps, and the other codes of an evaluation.
 */
export type RegexMatcher = (pattern: string, text: string) => boolean;

const TEXT = 'new RegExp(value.pattern, "u").test(value.text)';

const CONTEXT = { vcluster: { name: "", namespace: "", config: {} }, hostObject: null, virtualObject: null, path: "$" };

/**
 * A matcher that runs in a sandbox: a pattern that backtracks endlessly costs fuel, as it would in an expression, instead of blocking
 * a page or a pipeline.
 *
 * @example
 * createRegexMatcher(await createSandbox())("^10[.]", "10.0.0.1"); // true
 */
export function createRegexMatcher(sandbox: Sandbox): RegexMatcher {
  const expression = sandbox.compile(TEXT);
  return (pattern, text) => {
    try {
      return sandbox.evaluate(expression, { value: { pattern, text }, context: CONTEXT }).value === true;
    } catch (error) {
      if (!isEngineError(error)) throw error;
      const why = error.code === "EXPRESSION_FUEL" ? `it takes more than ${sandbox.limits.fuel} steps` : error.message;
      throw new EngineError(error.code, `Cannot match /${pattern}/: ${why}`, { cause: error });
    }
  };
}

/**
 * Explains why a string is not a valid regular expression; undefined if it is valid. Does not run it.
 *
 * @example
 * regexProblem("("); // "Unterminated group"
 */
export function regexProblem(pattern: string): string | undefined {
  try {
    new RegExp(pattern, "u");
    return undefined;
  } catch (error) {
    return (error as SyntaxError).message.replace(/^Invalid regular expression: [^]*: /, "");
  }
}
