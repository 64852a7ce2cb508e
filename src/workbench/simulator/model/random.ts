/** Random values from a seed: the same seed gives the same values. */
export interface Random {
  /** A number in [0, 1). */
  fraction(): number;
  /** A whole number from 0 to `limit` - 1. */
  below(limit: number): number;
  /** True in `share` of all cases. */
  happens(share: number): boolean;
  /** One of the items, of which there must be at least one. */
  pick<Item>(items: readonly Item[]): Item;
}

/**
 * Mulberry32: 32 bits of state, random enough for mixing decisions and cheap enough to create one for each.
 *
 * @example
 * createRandom(7).below(10) === createRandom(7).below(10); // true
 */
export function createRandom(seed: number): Random {
  return new Mulberry(seed);
}

/** A class, because a run creates thousands of instances. */
class Mulberry implements Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  fraction(): number {
    const state = (this.#state + 0x6d2b79f5) | 0;
    this.#state = state;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  below(limit: number): number {
    return Math.floor(this.fraction() * limit);
  }

  happens(share: number): boolean {
    return this.fraction() < share;
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!;
  }
}
