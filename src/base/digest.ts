/**
 * The platform functions that translation, patching and validation need: a synchronous SHA-256, and the size of a text. A browser build
 * replaces this file.
 *
 * @module
 */
import { hash } from "node:crypto";

/**
 * SHA-256 of the UTF-8 bytes of `text`, as 64 lower-case hex digits.
 *
 * @example
 * sha256Hex("release").slice(0, 10); // "a4d451ec23"
 */
export function sha256Hex(text: string): string {
  return hash("sha256", text, "hex");
}

/**
 * Size of a string in UTF-8, in bytes. A lone surrogate counts as the three bytes of U+FFFD.
 *
 * @example
 * utf8Size("é"); // 2
 */
export function utf8Size(text: string): number {
  return Buffer.byteLength(text);
}
