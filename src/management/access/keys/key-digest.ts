import { createHmac, createSecretKey } from "node:crypto";

/** What a stored digest begins with, so that nobody takes it for a key. */
const PREFIX = "hmac-sha256:";

/**
 * Turns values of access keys into what is stored of them: without the pepper nobody can tell a value from its digest, not even by
 * trying.
 */
export interface KeyDigest {
  /** @param asker What the value came on: of a connection, the last value is not digested again while it lasts. Default: nothing is kept. */
  of(value: string, asker?: object): string;
}

/**
 * Digests with a pepper, which belongs to one installation and never leaves it.
 *
 * @example
 * createKeyDigest(Buffer.alloc(32)).of("secret"); // "hmac-sha256:GBDo00G55h6IiV-6CxqivQPLbI__KzaOZm747971tPs"
 */
export function createKeyDigest(pepper: Uint8Array): KeyDigest {
  // Taken in once: to do that with every key that is shown takes longer than to digest it.
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

/** Tells whether a text is a digest, or pretends to be one. */
export function isDigest(text: string): boolean {
  return text.startsWith(PREFIX);
}
