/**
 * Replaces `base/digest.ts` in a browser.
 *
 * @module
 */
import { sha256 } from "./sha256.ts";

const encoder = new TextEncoder();

/** SHA-256 of the UTF-8 bytes of `text`, as 64 lower-case hex digits. */
export function sha256Hex(text: string): string {
  return sha256(encoder.encode(text));
}

/** Size of a string in UTF-8, in bytes. */
export function utf8Size(text: string): number {
  return encoder.encode(text).length;
}
