/**
 * The one thing that translating and patching need of the platform: a synchronous SHA-256. A browser build replaces this file.
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
