/** Limits of a {@link TextCache}. */
export interface TextCacheLimits {
  readonly entries: number;
  /** Total length of all keys. */
  readonly characters: number;
}

/** Caches values derived from strings; the least recently used are evicted first. A value must depend only on its string. */
export class TextCache<T> {
  readonly #limits: TextCacheLimits;
  /** In the order of their use. */
  readonly #entries = new Map<string, T>();
  #characters = 0;

  constructor(limits: TextCacheLimits) {
    this.#limits = limits;
  }

  /** Returns the cached result for the text, or makes it. */
  get(text: string, make: () => T): T {
    const found = this.#entries.get(text);
    const value = found ?? make();
    if (found === undefined) this.#characters += text.length;
    else this.#entries.delete(text);
    this.#entries.set(text, value);
    this.#shrink();
    return value;
  }

  #shrink(): void {
    for (const text of this.#entries.keys()) {
      if (this.#entries.size <= this.#limits.entries && this.#characters <= this.#limits.characters) return;
      this.#entries.delete(text);
      this.#characters -= text.length;
    }
  }
}
