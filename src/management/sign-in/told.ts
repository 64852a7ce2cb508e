import type { EngineError } from "../../base/errors.ts";
import { unavailable, statusOf } from "../../apiserver/types/status.ts";

/** What a person is told where a provider cannot be used, besides that the log says why. None of them says anything of the provider. */
const TROUBLES = {
  setup: "sign-in with this provider is not set up rightly; tell your administrator",
  permission: "the application lacks a permission at the provider; tell your administrator",
  busy: "the provider takes no more requests for now; try again in a minute",
} as const;

/** A failure of a provider that has a text of its own for the person. */
export type Trouble = keyof typeof TROUBLES;

const troubles = new WeakMap<EngineError, Trouble>();

/**
 * A provider cannot be used. `reason` is for the log alone.
 *
 * @example
 * troubled("permission", "GET /user/teams: 403").code; // "API_UNAVAILABLE"
 */
export function troubled(trouble: Trouble, reason: string): EngineError {
  const error = unavailable(reason);
  troubles.set(error, trouble);
  return error;
}

/** What a stranger is told of a failure. Why a provider cannot be used names files and errors of ours, which the log alone has. */
export function told(error: EngineError): EngineError {
  const failed = (statusOf(error)?.code ?? 500) >= 500;
  if (!failed) return error;
  const trouble = troubles.get(error);
  return unavailable(trouble === undefined ? "sign-in does not work at the moment; the server's log says why" : TROUBLES[trouble]);
}
