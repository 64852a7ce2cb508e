/**
 * Identifies the key that encrypted a text, for ciphers whose keys can be replaced. An id distinguishes keys and reveals nothing else
 * about them.
 */
export interface SealingKeys {
  /** The id of the key that encrypts. */
  readonly first: string;
  /** The ids of all keys that decrypt, including the first one. */
  readonly all: readonly string[];
  /** The id of the key that encrypted a text; "" for an unencrypted text. */
  readonly sealerOf: (sealed: string) => string;
}

/** Encrypts the texts of objects, so that access to the file does not reveal them. */
export interface Cipher {
  /** @param key Place of the object in the store: a text encrypted for one place may be unreadable at another. */
  readonly seal: (key: string, text: string) => string;
  /** Throws for texts that were not encrypted for this key or by this cipher. */
  readonly open: (key: string, sealed: string) => string;
  /** Default: there is one key, which is never replaced. */
  readonly keys?: SealingKeys;
}
