/** Makes the texts of objects unreadable to whoever has the file. */
export interface Cipher {
  /** @param key Where the object is in the store: what is sealed for one place need not open at another. */
  readonly seal: (key: string, text: string) => string;
  /** Throws for what was not sealed for this key, or not by this cipher. */
  readonly open: (key: string, sealed: string) => string;
}
