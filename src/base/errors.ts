import type { Code } from "./codes.ts";

/** Facts of a failure for programs. Never holds secrets or whole objects. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

/**
 * An operating failure. Branch on `code`; the message is for people.
 *
 * Expected outcomes (a path that matches nothing, an absent object) are values, not errors; broken invariants are assertions.
 *
 * @example
 * const error = new EngineError("PATH_SYNTAX", 'Cannot parse path "a[": expected "]" at column 3', { details: { column: 3 } });
 * error.code; // "PATH_SYNTAX"
 */
export class EngineError extends Error {
  override readonly name = "EngineError";
  readonly code: Code;
  readonly details: ErrorDetails;

  constructor(code: Code, message: string, options: { details?: ErrorDetails; cause?: unknown } = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.details = options.details ?? {};
  }
}

/** Tells whether `error` is an {@link EngineError} with one of `codes` (any code when none is given). */
export function isEngineError(error: unknown, ...codes: readonly Code[]): error is EngineError {
  return error instanceof EngineError && (codes.length === 0 || codes.includes(error.code));
}

/** The message of whatever was thrown, for people. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Throws an INTERNAL error when an invariant does not hold. */
export function assert(condition: unknown, invariant: string): asserts condition {
  if (!condition) throw new EngineError("INTERNAL", `Broken invariant: ${invariant}`);
}
