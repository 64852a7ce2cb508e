import { createHmac, createSecretKey } from "node:crypto";

/** Prefix of a stored digest, so that it is not mistaken for a key. */
const PREFIX = "hmac-sha256:";

/**
 * Turns values of access keys into the digests that are stored. Without the pepper a value cannot be matched to its digest, not even by
 * trying values.
 */
export interface KeyDigest {
  /** @param asker The connection that the value came on: the last value of a connection is digested once. Default: nothing is kept. */
  of(value: string, asker?: object): string;
}

/**
 * Digests with a pepper, which belongs to one installation and never leaves it.
 *
 * @example
 * createKeyDigest(Buffer.alloc(32)).of("secret"); // "hmac-sha256:GBDo00G55h6IiV-6CxqivQPLbI__KzaOZm747971tPs"
 */
export function createKeyDigest(pepper: Uint8Array): KeyDigest {
  // Imported once: importing it for every key takes longer than the digest.
  const key = createSecretKey(pepper);
  const digest = (value: string) => `${PREFIX}${createHmac("sha256", key).update(value).digest("base64url")}`;
  const last = new WeakMap<object, { readonly value: string; readonly digest: string }>();
  return {
    of(value, asker) {
      if (asker === undefined) return digest(value);
      let known = last.get(asker);
      if (known?.value !== value) last.set(asker, (known = { value, digest: digest(value) }));
      return known.digest;
    },
  };
}

/** Tells whether a text is a digest, or looks like one. */
export function isDigest(text: string): boolean {
  return text.startsWith(PREFIX);
}
