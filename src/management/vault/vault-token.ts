/**
 * Reads a vault's description of the requesting token, and determines when to renew it. Pure.
 *
 * @module
 */
import { isRecord, parseJson } from "../../base/json.ts";
import { failed, vaultRefusal, type VaultAnswer, type VaultFailure } from "./vault-values.ts";

/** The remaining life of a token. */
export interface TokenLife {
  /** Seconds until it ends; Infinity for a token without an end. */
  readonly seconds: number;
  /** Whether a renewal can extend it. */
  readonly renewable: boolean;
}

/** Paths of the requests about the token that they carry. */
export const TOKEN_LOOKUP = "/v1/auth/token/lookup-self";
export const TOKEN_RENEWAL = "/v1/auth/token/renew-self";

/** Longest accepted lifetime, in seconds: a hundred years. */
const SECONDS_MAX = 3_153_600_000;
const DEPTH_MAX = 16;
/** A token is renewed after two thirds of its remaining life, or up to a tenth of that earlier, to spread renewals. */
const RENEWED_AT = 2 / 3;
const JITTER = 0.1;
/** Shortest and longest time until a token is looked up again, in milliseconds. */
const LOOK_MIN_MS = 1_000;
const LOOK_MAX_MS = 86_400_000;

/**
 * Reads the response to a lookup or renewal of the token. Errors never quote it.
 *
 * @example
 * readTokenAnswer({ status: 200, retryAfter: undefined, text: '{"data":{"ttl":60,"renewable":true}}' }); // { seconds: 60, renewable: true }
 */
export function readTokenAnswer({ status, retryAfter, text }: VaultAnswer): TokenLife | VaultFailure {
  if (status !== 200) return vaultRefusal(status, retryAfter);
  let body: unknown;
  try {
    body = parseJson(text, DEPTH_MAX);
  } catch {
    return failed("WrongType", "the vault's response is not JSON");
  }
  // The response to a renewal contains `auth`, and null as `data`.
  const [lookup, renewal] = isRecord(body) ? [body["data"], body["auth"]] : [];
  const [seconds, renewable] = isRecord(renewal)
    ? [renewal["lease_duration"], renewal["renewable"]]
    : isRecord(lookup)
      ? [lookup["ttl"], lookup["renewable"]]
      : [];
  if (typeof seconds !== "number" || seconds < 0) return failed("WrongType", "the vault's response does not contain the token's lifetime");
  // The vault rounds seconds down, so 0 means either no end, or an end within a second.
  if (seconds === 0 && !(isRecord(lookup) && typeof lookup["expire_time"] === "string")) return { seconds: Infinity, renewable: false };
  return { seconds: Math.max(1, Math.min(Math.ceil(seconds), SECONDS_MAX)), renewable: renewable === true };
}

/** Reports whether a retry cannot help: the vault refuses this request for the token until its configuration changes. */
export function isFinal({ reason }: VaultFailure): boolean {
  return reason === "Forbidden" || reason === "Unauthorized" || reason === "Invalid" || reason === "NotFound";
}

/**
 * Milliseconds until a token that expires in `seconds` is looked up again, in time to renew it. `random` is in [0, 1).
 *
 * @example
 * renewalDelayMs(3_600, 0); // 2_400_000
 */
export function renewalDelayMs(seconds: number, random: number): number {
  const share = RENEWED_AT * (1 - JITTER * random);
  return Math.min(LOOK_MAX_MS, Math.max(LOOK_MIN_MS, seconds * 1_000 * share));
}

/** Milliseconds until a failed request is repeated: `pauseMs`, or a third of `leftMs` (Infinity: unknown) if that is less. */
export function repetitionDelayMs(pauseMs: number, leftMs: number): number {
  return Math.max(LOOK_MIN_MS, Math.min(pauseMs, leftMs / 3));
}
