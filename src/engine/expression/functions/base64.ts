/**
 * Base64 of Latin-1 text as defined by the HTML standard (`btoa`, "forgiving-base64 decode"). It works on code units instead of strings,
 * so that the engine's memory is read in place.
 *
 * @module
 */

/** Code units of a text, as bytes (if all are below U+0100) or as 16-bit words. */
export type Units = Uint8Array | Uint16Array;

const DIGITS = Uint8Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", (digit) => digit.charCodeAt(0));
const PAD = 0x3d;

/** Marks of units that are not digits: white space, and all others. */
const BLANK = 0x40;
const FOREIGN = 0x80;
const VALUES = new Uint8Array(0x100).fill(FOREIGN);
for (const [value, digit] of DIGITS.entries()) VALUES[digit] = value;
for (const blank of "\t\n\f\r ") VALUES[blank.charCodeAt(0)] = BLANK;

/**
 * Encodes a string as base64, in ASCII. Returns undefined if a unit is above U+00FF.
 *
 * @example
 * encodeBase64(Uint8Array.of(0xff)); // the bytes of "/w=="
 */
export function encodeBase64(units: Units): Uint8Array | undefined {
  const { length } = units;
  const out = new Uint8Array(Math.ceil(length / 3) * 4);
  let seen = 0;
  for (let from = 0, to = 0; from < length; from += 3, to += 4) {
    const first = units[from]!;
    const second = from + 1 < length ? units[from + 1]! : 0;
    const third = from + 2 < length ? units[from + 2]! : 0;
    seen |= first | second | third;
    out[to] = DIGITS[(first >> 2) & 63]!;
    out[to + 1] = DIGITS[((first << 4) | (second >> 4)) & 63]!;
    out[to + 2] = DIGITS[((second << 2) | (third >> 6)) & 63]!;
    out[to + 3] = DIGITS[third & 63]!;
  }
  if (seen > 0xff) return undefined;
  const missing = (3 - (length % 3)) % 3;
  return out.fill(PAD, out.length - missing);
}

/**
 * Decodes base64 to Latin-1 text. White space is ignored, one or two `=` may pad the last four digits or be omitted, and leftover bits are
 * dropped. Returns undefined if `units` is not base64.
 */
export function decodeBase64(units: Units): Uint8Array | undefined {
  const digits = digitsOf(units);
  if (digits === undefined || digits.length % 4 === 1) return undefined;
  const out = new Uint8Array((digits.length * 3) >> 2);
  for (let from = 0, to = 0; to < out.length; from += 4, to += 3) {
    // Reading after the last digit gives undefined, which shifts like zero; writing after the end of `out` has no effect.
    const second = digits[from + 1]!;
    const third = digits[from + 2]!;
    out[to] = (digits[from]! << 2) | (second >> 4);
    out[to + 1] = (second << 4) | (third >> 2);
    out[to + 2] = (third << 6) | digits[from + 3]!;
  }
  return out;
}

/** The values of the digits, without white space and padding; undefined if there is anything else. */
function digitsOf(units: Units): Uint8Array | undefined {
  const digits = new Uint8Array(units.length);
  let count = 0;
  let padding = 0;
  for (let at = 0; at < units.length; at += 1) {
    const value = VALUES[units[at]!] ?? FOREIGN;
    if (value < BLANK && padding === 0) digits[count++] = value;
    else if (units[at] === PAD) padding += 1;
    else if (value !== BLANK) return undefined;
  }
  const complete = padding === 0 || (padding <= 2 && (count + padding) % 4 === 0);
  return complete ? digits.subarray(0, count) : undefined;
}
