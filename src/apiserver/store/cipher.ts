/**
 * Identifies the keys that encrypt texts, for ciphers whose keys can be replaced. An id distinguishes keys and reveals nothing else about
 * them.
 */
export interface SealingKeys {
  /** The id of the key for encrypting new texts. */
  readonly first: string;
  /** The ids of all keys for decrypting texts, including `first`. */
  readonly all: readonly string[];
  /** Returns the id of the key with which a text is encrypted; "" for an unencrypted text. */
  readonly sealerOf: (sealed: string) => string;
}

/** Encrypts the texts of objects, so that access to the file does not reveal them. */
export interface Cipher {
  /** Encrypts a text. @param key The key of the object in the store. The text may be decryptable only for this key. */
  readonly seal: (key: string, text: string) => string;
  /** Decrypts a text. Throws if it was not encrypted for this key or by this cipher. */
  readonly open: (key: string, sealed: string) => string;
  /** The keys, if they can be replaced. Default: there is one key, which is never replaced. */
  readonly keys?: SealingKeys;
}
