import type { EngineError } from "../../../../base/errors.ts";
import { unauthorized } from "../../../../apiserver/types/status.ts";

/** Maximum length of a part of a document in the log. */
const QUOTED_MAX = 200;

/**
 * The error for a provider's response that does not prove a sign-in. The rule that it violates appears only in the log.
 *
 * @example
 * unproven("the assertion has expired").code; // "API_UNAUTHORIZED"
 */
export function unproven(rule: string): EngineError {
  return Object.assign(unauthorized("the provider's response was not accepted; start again"), { cause: rule });
}

/** A part of a document for a log: short, quoted, on one line. */
export function quoted(text: string | undefined): string {
  return text === undefined ? "none" : JSON.stringify(text.slice(0, QUOTED_MAX));
}
