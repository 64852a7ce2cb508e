/**
 * Wraps the text of an expression for the engine, and maps the engine's positions back to this text.
 *
 * @module
 */

/** The file name of expressions in the engine's stack traces. */
export const EXPRESSION_FILE = "expression";

const LINES_BEFORE = 1;

/**
 * Returns the source of a function `(value, context, valueExists)` that returns the value of `text`.
 *
 * The condition never holds. It prevents a call in `text` from being a tail call, which would lose its place in stack traces. A variable
 * for the result would do that too, but `text` could read the variable in getters and `toJSON`.
 */
export function functionSource(text: string): string {
  return `(function(value,context,valueExists){"use strict";return valueExists===0?0:(\n${text}\n)})`;
}

/**
 * Returns a program that compiles only if `text` does not close the parentheses of {@link functionSource}. The program is never run.
 *
 * A text that closes a parenthesis cannot also close a bracket: a text that compiles in both is one expression in the engine's own grammar,
 * regardless of what another parser reports. Otherwise, a text could escape to the top level, where `this` is the engine's global object.
 */
export function probeSource(text: string): string {
  return `0&&[\n${text}\n]`;
}

/** A frame of a stack trace. A function can have any name, even one that looks like a place. */
const FRAME = new RegExp(`^    at (?:.* \\()?${EXPRESSION_FILE}:(\\d+):(\\d+)\\)?$`, "m");

/** Returns the innermost position in a stack trace that is inside the expression itself, counted from 1; undefined if there is none. */
export function positionInText(stack: string, text: string): { line: number; column: number } | undefined {
  const match = FRAME.exec(stack);
  if (match === null) return undefined;
  const [line, column] = [Math.max(1, Number(match[1]) - LINES_BEFORE), Number(match[2])];
  return line <= text.split("\n").length && column <= text.length + 1 ? { line, column } : undefined;
}
