import { quoted, unproven } from "./refusal.ts";

/** How far the clocks of provider and platform may differ, in milliseconds. */
const SKEW_MS = 30_000;
/** Maximum validity of an assertion, in milliseconds. */
const ASSERTION_MS = 24 * 60 * 60_000;

const INSTANT = /^([1-9]\d{3})-(\d\d)-(\d\d)T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,9}))?Z$/;

/**
 * A time in a document, in milliseconds since 1970: UTC, in a single format.
 *
 * @throws API_UNAUTHORIZED for a time without `Z`, and for a day that does not exist.
 *
 * @example
 * instant("NotBefore", "2026-11-26T12:00:00Z"); // 1795694400000
 */
export function instant(name: string, text: string): number {
  const ms = INSTANT.test(text) ? Date.parse(text.replace(/(\.\d{1,3})\d*Z$/, "$1Z")) : NaN;
  if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 19) !== text.slice(0, 19))
    throw unproven(`${name} is not a time: ${quoted(text)}`);
  return ms;
}

/**
 * Requires that the current time is in a validity period: from `notBefore` on, if given, and before `notOnOrAfter`, which must not be far
 * in the future.
 */
export function demandNow(
  what: string,
  nowMs: number,
  { notBefore, notOnOrAfter }: { readonly notBefore?: string | undefined; readonly notOnOrAfter: string | undefined },
): void {
  if (notBefore !== undefined && instant("NotBefore", notBefore) - SKEW_MS > nowMs) throw unproven(`${what} is not valid yet`);
  if (notOnOrAfter === undefined) throw unproven(`${what} has no end`);
  const endMs = instant("NotOnOrAfter", notOnOrAfter);
  if (nowMs >= endMs + SKEW_MS) throw unproven(`${what} has ended`);
  if (endMs > nowMs + ASSERTION_MS) throw unproven(`${what} is valid for more than a day`);
}
