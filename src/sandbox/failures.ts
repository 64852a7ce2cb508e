/**
 * What went wrong in an evaluation, as errors with codes.
 *
 * @module
 */
import type { Code } from "../base/codes.ts";
import { EngineError } from "../base/errors.ts";
import type { ErrorDetails } from "../base/errors.ts";
import { LEFT_OUT } from "../expression/left-out.ts";

/** What the realm says about a thrown value. */
export interface Thrown {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
}

/** The file name of expressions in the engine's stack traces. */
export const EXPRESSION_FILE = "expression";

/** Lines that stand before the text of an expression when it is compiled. */
export const LINES_BEFORE = 1;

const QUOTED_MAX = 80;
const MESSAGE_MAX = 500;

/** `text`, quoted and cut for a message. */
export function quote(text: string): string {
  return JSON.stringify(text.length > QUOTED_MAX ? `${text.slice(0, QUOTED_MAX)}…` : text);
}

/** An error of the expression `text`. */
export function failure(code: Code, text: string, what: string, details: ErrorDetails): EngineError {
  return new EngineError(code, `Expression ${quote(text)} ${what}`, { details: { expression: text, ...details } });
}

/** The error for a value that the expression threw after `fuel` steps. */
export function failureOfThrown(text: string, thrown: Thrown, facts: { fuel: number; stackBytes: number }): EngineError {
  const { fuel, stackBytes } = facts;
  const place = placeOf(thrown.stack);
  const at = place === undefined ? "" : ` at line ${place.line}, column ${place.column}`;
  // The parsers of JSON and of regular expressions report it as a SyntaxError.
  if (/^(InternalError|SyntaxError)$/.test(thrown.name) && thrown.message.includes("stack overflow")) {
    return failure("EXPRESSION_STACK", text, `recursed too deep${at}`, { fuel, limit: stackBytes, ...place });
  }
  const what = `${thrown.name === "" ? "" : `${thrown.name}: `}${thrown.message}`.slice(0, MESSAGE_MAX);
  const hint = hintFor(thrown);
  const advice = hint === undefined ? {} : { hint };
  return failure("EXPRESSION_ERROR", text, `threw ${what || "an error"}${at}${hint === undefined ? "" : `. ${hint}`}`, {
    fuel,
    ...place,
    ...advice,
  });
}

/** The innermost place in the expression itself that a stack trace names, from 1. */
export function placeOf(stack: string): { line: number; column: number } | undefined {
  const match = new RegExp(`\\b${EXPRESSION_FILE}:(\\d+):(\\d+)`).exec(stack);
  if (match === null) return undefined;
  return { line: Math.max(1, Number(match[1]) - LINES_BEFORE), column: Number(match[2]) };
}

function hintFor({ name, message }: Thrown): string | undefined {
  if (name !== "ReferenceError") return undefined;
  return LEFT_OUT.get(/^'?([\w$]+)'? is not defined/.exec(message)?.[1] ?? "");
}
