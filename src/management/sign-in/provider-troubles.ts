import type { EngineError } from "../../base/errors.ts";
import { unavailable, statusOf } from "../../apiserver/types/status.ts";

/** The messages that users see when a provider cannot be used, for failures that have their own. They reveal no data of the provider. */
const TROUBLES = {
  setup: "sign-in with this provider is not set up correctly; tell your administrator",
  permission: "the application lacks a permission at the provider; tell your administrator",
  busy: "the provider does not accept more requests at the moment; try again in a minute",
} as const;

/** A failure of a provider that has its own message for the user. */
export type Trouble = keyof typeof TROUBLES;

const troubles = new WeakMap<EngineError, Trouble>();

/**
 * The error for a provider that cannot be used. `reason` is for the log only.
 *
 * @example
 * troubled("permission", "GET /user/teams: 403").code; // "API_UNAVAILABLE"
 */
export function troubled(trouble: Trouble, reason: string): EngineError {
  const error = unavailable(reason);
  troubles.set(error, trouble);
  return error;
}

/**
 * Returns the error that a user sees for a failure. The reason why a provider cannot be used appears only in the log, because it names
 * files and errors of the server.
 */
export function errorForUser(error: EngineError): EngineError {
  const failed = (statusOf(error)?.code ?? 500) >= 500;
  if (!failed) return error;
  const trouble = troubles.get(error);
  return unavailable(trouble === undefined ? "sign-in with this provider is not available; tell your administrator" : TROUBLES[trouble]);
}
