/**
 * What the errors of the protocol mean to the person who signs in.
 *
 * @module
 */
import * as openid from "openid-client";
import { isEngineError, messageOf } from "../../../base/errors.ts";
import type { EngineError } from "../../../base/errors.ts";
import { forbiddenPath, unauthorized, unavailable } from "../../../apiserver/types/status.ts";
import { troubled } from "../told.ts";

/** Longest text of a provider that goes into a message. */
const REASON_LENGTH_MAX = 200;

/** Nobody can sign in until an administrator changes something, here or there. */
const OF_SETUP: readonly string[] = [
  ...["invalid_client", "unauthorized_client", "invalid_scope", "unsupported_grant_type", "redirect_uri_mismatch"],
  "incorrect_client_credentials",
];
/** The provider asks for somebody's consent first. */
const OF_CONSENT: readonly string[] = ["login_required", "consent_required", "interaction_required"];

/** The failure to reach the provider at the bottom of an error, if that is what it is. */
export function reachability(error: unknown): EngineError | undefined {
  for (let inner = error; inner instanceof Error; inner = inner.cause) if (isEngineError(inner)) return inner;
  return undefined;
}

/**
 * What is answered when the protocol failed. A code that the browser itself brought is told; what passed between the servers is the
 * cause, for the log.
 */
export function notAccepted(error: unknown): EngineError {
  const reached = reachability(error);
  if (reached !== undefined) return reached;
  const reason = protocolReason(error);
  if (error instanceof openid.ResponseBodyError && OF_SETUP.includes(error.error)) return troubled("setup", reason);
  if (error instanceof openid.AuthorizationResponseError) return Object.assign(saidInBrowser(error), { cause: reason });
  return Object.assign(unauthorized("the provider's answer was not accepted; begin again"), { cause: reason });
}

/** The person or the login is no more for the provider. */
const OF_END: readonly string[] = ["invalid_grant", "access_denied", "bad_refresh_token", ...OF_CONSENT];

/** What it means that a refresh token gave nothing: the end of a login only where the provider says so itself. */
export function notRefreshed(error: unknown): EngineError {
  const reached = reachability(error);
  if (reached !== undefined) return reached;
  const reason = protocolReason(error);
  if (!(error instanceof openid.ResponseBodyError)) return unavailable(`the provider's answer to a refresh token is of no use: ${reason}`);
  if (OF_SETUP.includes(error.error)) return troubled("setup", reason);
  return OF_END.includes(error.error)
    ? unauthorized(`the provider ended the login: ${reason}`)
    : unavailable(`the provider refuses: ${reason}`);
}

function saidInBrowser(error: openid.AuthorizationResponseError): EngineError {
  const { error_description: description = "" } = error;
  // The number that the directory of accounts documents its errors by.
  const number = /\bAADSTS\d{3,10}\b/.exec(description)?.[0];
  const code = `${error.error.slice(0, REASON_LENGTH_MAX)}${number === undefined ? "" : ` (${number})`}`;
  if (error.error === "access_denied") return forbiddenPath(`you or your organisation said no at the provider: ${code}`);
  if (OF_CONSENT.includes(error.error) || number === "AADSTS65001")
    return forbiddenPath(`your administrator has to allow this application at the provider first: ${code}`);
  return unauthorized(`the provider's answer was not accepted: ${code}`);
}

/** Why the protocol failed. The causes of these errors hold tokens and claims: of them, only the messages are told. */
export function protocolReason(error: unknown): string {
  if (error instanceof openid.AuthorizationResponseError || error instanceof openid.ResponseBodyError) {
    return error.error.slice(0, REASON_LENGTH_MAX);
  }
  const inner = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
  return `${messageOf(error)}${inner}`.slice(0, REASON_LENGTH_MAX);
}
