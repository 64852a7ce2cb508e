/** Which key sealed what, where keys can be replaced. An id tells keys apart, and nothing about them. */
export interface SealingKeys {
  /** The id of the key that seals. */
  readonly first: string;
  /** The ids of all keys that open, the first one included. */
  readonly all: readonly string[];
  /** The id of the key that sealed a text; "" for a text that no key has sealed. */
  readonly sealerOf: (sealed: string) => string;
}

/** Encrypts the texts of objects, so that access to the file does not reveal them. */
export interface Cipher {
  /** @param key Place of the object in the store: a text sealed for one place need not open at another. */
  readonly seal: (key: string, text: string) => string;
  /** Throws for texts that were not sealed for this key, or not by this cipher. */
  readonly open: (key: string, sealed: string) => string;
  /** Default: there is one key, which is never replaced. */
  readonly keys?: SealingKeys;
}
