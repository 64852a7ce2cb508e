/**
 * Translates errors of the protocol into messages for the user who signs in.
 *
 * @module
 */
import * as openid from "openid-client";
import { isEngineError, messageOf, type EngineError } from "../../../base/errors.ts";
import { forbiddenPath, unauthorized, unavailable } from "../../../apiserver/types/status.ts";
import { troubled } from "../provider-troubles.ts";

/** Longest text of a provider that a message quotes. */
const REASON_LENGTH_MAX = 200;

/** Errors that last until an administrator changes something, here or at the provider. */
const OF_SETUP: readonly string[] = [
  ...["invalid_client", "unauthorized_client", "invalid_scope", "unsupported_grant_type", "redirect_uri_mismatch"],
  "incorrect_client_credentials",
];
/** Errors for which the user must give consent first. */
const OF_CONSENT: readonly string[] = ["login_required", "consent_required", "interaction_required"];

/** Returns the error that says that the provider cannot be reached: `error` itself or one of its causes; undefined if there is none. */
export function reachability(error: unknown): EngineError | undefined {
  for (let inner = error; inner instanceof Error; inner = inner.cause) if (isEngineError(inner)) return inner;
  return undefined;
}

/**
 * The error for a failure of the protocol. Its message contains the error code only if the code came through the browser. The details of
 * the exchange between the servers are its cause, for the log.
 */
export function notAccepted(error: unknown): EngineError {
  const reached = reachability(error);
  if (reached !== undefined) return reached;
  const reason = protocolReason(error);
  if (error instanceof openid.ResponseBodyError && OF_SETUP.includes(error.error)) return troubled("setup", reason);
  if (error instanceof openid.AuthorizationResponseError) return Object.assign(saidInBrowser(error), { cause: reason });
  return Object.assign(unauthorized("the provider's response was not accepted; start again"), { cause: reason });
}

/** Errors that mean that the provider no longer knows the user or the login. */
const OF_END: readonly string[] = ["invalid_grant", "access_denied", "bad_refresh_token", ...OF_CONSENT];

/** The error for a refresh token that failed: the login ends only if the provider itself reports that. */
export function notRefreshed(error: unknown): EngineError {
  const reached = reachability(error);
  if (reached !== undefined) return reached;
  const reason = protocolReason(error);
  if (!(error instanceof openid.ResponseBodyError))
    return unavailable(`the provider's response to a refresh token cannot be used: ${reason}`);
  if (OF_SETUP.includes(error.error)) return troubled("setup", reason);
  return OF_END.includes(error.error)
    ? unauthorized(`the provider ended the login: ${reason}`)
    : unavailable(`the provider refuses: ${reason}`);
}

function saidInBrowser(error: openid.AuthorizationResponseError): EngineError {
  const { error_description: description = "" } = error;
  // The number with which directoryProviderB documents its errors.
  const number = /\bAADSTS\d{3,10}\b/.exec(description)?.[0];
  const code = `${error.error.slice(0, REASON_LENGTH_MAX)}${number === undefined ? "" : ` (${number})`}`;
  if (error.error === "access_denied") return forbiddenPath(`you or your organisation declined the request at the provider: ${code}`);
  if (OF_CONSENT.includes(error.error) || number === "AADSTS65001")
    return forbiddenPath(`your administrator must first allow this application at the provider: ${code}`);
  return unauthorized(`the provider's response was not accepted: ${code}`);
}

/** Returns why the protocol failed. The causes of these errors contain tokens and claims, so only their messages are used. */
export function protocolReason(error: unknown): string {
  if (error instanceof openid.AuthorizationResponseError || error instanceof openid.ResponseBodyError) {
    return error.error.slice(0, REASON_LENGTH_MAX);
  }
  const inner = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
  return `${messageOf(error)}${inner}`.slice(0, REASON_LENGTH_MAX);
}
