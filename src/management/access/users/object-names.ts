import { sha256Hex } from "../../../base/digest.ts";
import { dnsSubdomain } from "../../../apiserver/types/objects/names.ts";

const NAME_LENGTH_MAX = 63;

/** Reports whether a string is a valid object name. */
export function isName(text: string): boolean {
  return text.length <= NAME_LENGTH_MAX && dnsSubdomain(text).length === 0;
}

/**
 * An object name for any string, made unique by a digest of `length` hexadecimal digits, so that similar strings get different names.
 *
 * @example
 * nameWithDigest("Jane D.", "oidc/1", 10); // "jane-d-8f55272d03"
 */
export function nameWithDigest(text: string, unique: string, length: number): string {
  const hash = sha256Hex(unique).slice(0, length);
  const plain = text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, NAME_LENGTH_MAX - length - 1);
  return `${plain.replace(/^-+|-+$/g, "") || "x"}-${hash}`;
}
