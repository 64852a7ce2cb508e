/**
 * Converts a vault's response into the data of a SharedSecret. Pure.
 *
 * @module
 */
import { isRecord, parseJson } from "../../base/json.ts";
import type { VaultSource } from "./vault-source.ts";

/** Why a secret was not copied, in one word. */
export type VaultReason =
  | "Invalid"
  | "Unauthorized"
  | "Forbidden"
  | "NotFound"
  | "RateLimited"
  | "Sealed"
  | "Unavailable"
  | "Redirected"
  | "TooLarge"
  | "WrongType";

/** A failed request, and its reason. */
export interface VaultFailure {
  readonly ok: false;
  readonly reason: VaultReason;
  readonly message: string;
  /** Whether every other request would fail in the same way. */
  readonly forAll: boolean;
  /** How long the vault accepts no requests, in milliseconds. */
  readonly retryAfterMs?: number;
}

/** The outcome of reading one secret. */
export type VaultResult =
  | {
      readonly ok: true;
      /** Bytes in base64 by name. */
      readonly data: Readonly<Record<string, string>>;
      /** Version of the secret, if kv2 reports one. */
      readonly version: number | undefined;
      /** Names that no Secret can have. */
      readonly leftOut: readonly string[];
    }
  | VaultFailure;

/** A vault's response. */
export interface VaultAnswer {
  readonly status: number;
  /** The header `Retry-After`; undefined without. */
  readonly retryAfter: string | undefined;
  readonly text: string;
}

/** Most bytes of all values. Source: the limit of SharedSecrets. */
const DATA_BYTES_MAX = 1_048_576;
const DEPTH_MAX = 64;
const KEY = /^[-._a-zA-Z0-9]{1,253}$/;
/** Longest pause that a vault may request, in seconds. */
const RETRY_AFTER_MAX = 3_600;

/**
 * Reads a response. Errors quote only the names in it, because anything else may be secret.
 *
 * @example
 * readVaultAnswer(source, { status: 503, retryAfter: undefined, text: "" }); // { ok: false, reason: "Sealed", … }
 */
export function readVaultAnswer(source: Pick<VaultSource, "version">, { status, retryAfter, text }: VaultAnswer): VaultResult {
  if (status !== 200) return vaultRefusal(status, retryAfter);
  let body: unknown;
  try {
    body = parseJson(text, DEPTH_MAX);
  } catch {
    return failed("WrongType", "the vault's response is not JSON");
  }
  const outer = isRecord(body) ? body["data"] : undefined;
  const inner = source.version === "kv2" && isRecord(outer) ? outer["data"] : outer;
  if (!isRecord(inner)) return failed("WrongType", `the vault's response does not have the format of ${source.version}`);
  const metadata = source.version === "kv2" ? (outer as Record<string, unknown>)["metadata"] : undefined;
  const version = isRecord(metadata) && Number.isSafeInteger(metadata["version"]) ? Number(metadata["version"]) : undefined;
  return dataOf(inner, exactly(text, source.version), version);
}

/** The same values, with numbers as written: JavaScript's numbers are exact up to 53 bits, and secrets may be longer. */
function exactly(text: string, version: VaultSource["version"]): Readonly<Record<string, unknown>> {
  const asWritten = (_name: string, value: unknown, { source }: { readonly source?: string }) =>
    typeof value === "number" ? rawJson(source!) : value;
  const { data } = JSON.parse(text, asWritten as (name: string, value: unknown) => unknown) as { readonly data: object };
  return (version === "kv2" ? (data as { readonly data: object }).data : data) as Readonly<Record<string, unknown>>;
}

/** Creates a number that `JSON.stringify` writes as this text. */
const rawJson = (JSON as unknown as { readonly rawJSON: (text: string) => object }).rawJSON;

function dataOf(
  values: Readonly<Record<string, unknown>>,
  exact: Readonly<Record<string, unknown>>,
  version: number | undefined,
): VaultResult {
  const data = Object.create(null) as Record<string, string>;
  const leftOut: string[] = [];
  let bytes = 0;
  for (const [name, value] of Object.entries(values)) {
    if (!KEY.test(name)) {
      leftOut.push(name);
      continue;
    }
    const content = Buffer.from(typeof value === "string" ? value : JSON.stringify(exact[name]));
    bytes += content.length;
    if (bytes > DATA_BYTES_MAX) return failed("TooLarge", `the values have more than ${DATA_BYTES_MAX} bytes`);
    data[name] = content.toString("base64");
  }
  return { ok: true, data, version, leftOut };
}

/** The meaning of a status other than 200. `retryAfter` is the header. */
export function vaultRefusal(status: number, retryAfter: string | undefined): VaultFailure {
  if (status >= 300 && status < 400)
    return failed(
      "Redirected",
      "the vault redirects to another address, to which the token is not sent; set vault.address to that address",
      true,
    );
  if (status === 401) return failed("Unauthorized", "the token is unknown to the vault", true);
  if (status === 403) return failed("Forbidden", "the token lacks the permission, or has expired");
  if (status === 404) return failed("NotFound", "there is no such secret, or its version is deleted");
  if (status === 429 && retryAfter !== undefined)
    return { ...failed("RateLimited", "the vault has received too many requests", true), retryAfterMs: waitOf(retryAfter) };
  if (status === 429 || status === 472 || status === 473)
    return failed("Unavailable", "the vault is a standby that does not serve requests", true);
  if (status === 501) return failed("Unavailable", "the vault is not initialised", true);
  if (status === 503) return failed("Sealed", "the vault is sealed or in maintenance", true);
  if (status >= 500) return failed("Unavailable", `the vault responded with the status ${status}`, true);
  return failed("Invalid", `the vault responded with the status ${status}`);
}

/** Creates a {@link VaultFailure}. */
export function failed(reason: VaultReason, message: string, forAll = false): VaultFailure {
  return { ok: false, reason, message, forAll };
}

/** Reads only seconds from `Retry-After`: vaults do not send dates, and clocks differ. */
function waitOf(retryAfter: string): number {
  const seconds = /^[0-9]{1,9}$/.test(retryAfter.trim()) ? Number(retryAfter) : 1;
  return Math.min(seconds, RETRY_AFTER_MAX) * 1_000;
}
