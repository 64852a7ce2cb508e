/**
 * Lossless transfer of text into and out of the engine, including NUL, lone surrogates and a leading byte order mark.
 *
 * `TextDecoder` would replace lone surrogates and drop the mark, so code units are copied one by one.
 *
 * @module
 */

/** Maximum number of arguments of `String.fromCharCode`; more could overflow the stack. */
const CHUNK = 4096;

const encoder = new TextEncoder();
const ASCII_LOOP_MAX = 256;
const NOT_IN_C_STRING = /[\0\p{Surrogate}]/u;

/** Reports whether `text` cannot be written as a zero-terminated UTF-8 string: it has a NUL or a lone surrogate. */
export function needsEscape(text: string): boolean {
  return NOT_IN_C_STRING.test(text);
}

/**
 * Writes `text` and a closing zero. Needs room for three bytes per code unit and one more. Returns false and leaves unusable output if
 * `text` needs to be escaped (see {@link needsEscape}).
 */
export function writeText(bytes: Uint8Array, at: number, text: string): boolean {
  let end = text.length <= ASCII_LOOP_MAX ? writeAscii(bytes, at, text) : -1;
  if (end < 0) {
    if (needsEscape(text)) return false;
    end = at + encoder.encodeInto(text, bytes.subarray(at, at + text.length * 3)).written;
  }
  bytes[end] = 0;
  return true;
}

/** Writes plain ASCII without NUL; returns the address after it, or -1 if `text` is something else. */
function writeAscii(bytes: Uint8Array, at: number, text: string): number {
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit === 0 || unit > 0x7f) return -1;
    bytes[at + index] = unit;
  }
  return at + text.length;
}

/** The text whose code units are the items of `units` from `start` to `end`: bytes (Latin-1) or 16-bit words. Default: all of them. */
export function readUnits(units: Uint8Array | Uint16Array, start = 0, end: number = units.length): string {
  if (end - start <= CHUNK) return fromUnits(units, start, end);
  const parts = [];
  for (let from = start; from < end; from += CHUNK) parts.push(fromUnits(units, from, Math.min(from + CHUNK, end)));
  return parts.join("");
}

/** Copies the units to a plain list, which is spread into arguments two to three times as fast as a typed one. */
function fromUnits(units: Uint8Array | Uint16Array, from: number, to: number): string {
  const codes = new Array<number>(to - from);
  for (let at = from; at < to; at += 1) codes[at - from] = units[at]!;
  return String.fromCharCode.apply(null, codes);
}
