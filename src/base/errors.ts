import type { Code } from "./codes.ts";

/** Facts about a failure, for programs. Never contains secrets or whole objects. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

/**
 * An operational failure. Branch on `code`; the message is for users.
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

/**
 * Reports whether `error` is an {@link EngineError} with one of `codes` (any code when none is given).
 *
 * @example
 * isEngineError(new EngineError("API_CONFLICT", "The object changed"), "API_CONFLICT", "API_NOT_FOUND"); // true
 */
export function isEngineError(error: unknown, ...codes: readonly Code[]): error is EngineError {
  return error instanceof EngineError && (codes.length === 0 || codes.includes(error.code));
}

/**
 * Returns the message of a thrown value, for users.
 *
 * @example
 * messageOf(new Error("The file is empty")); // "The file is empty"
 */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  try {
    return String(error);
  } catch {
    // The value cannot be converted to text, which must not hide the failure that is being reported.
    return `an ${typeof error} was thrown`;
  }
}

/**
 * Throws when an invariant does not hold, which is a bug.
 *
 * @throws INTERNAL when `condition` is falsy.
 * @example
 * assert(1 + 1 === 2, "one and one are two");
 */
export function assert(condition: unknown, invariant: string): asserts condition {
  if (!condition) throw new EngineError("INTERNAL", `Broken invariant: ${invariant}`);
}
