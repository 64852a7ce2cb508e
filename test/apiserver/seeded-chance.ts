import type { Chance } from "../../src/base/chance.ts";

/** Chance that repeats itself: the same seed, the same numbers. */
export function createSeededChance(seed = 1): Chance {
  let state = seed >>> 0;
  // Mulberry32: short, and random enough for tests.
  const fraction = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const bytes = (length: number) => Uint8Array.from({ length }, () => Math.floor(fraction() * 256));
  const hex = (length: number) => Buffer.from(bytes(length)).toString("hex");
  return { fraction, bytes, uuid: () => `${hex(4)}-${hex(2)}-4${hex(2).slice(1)}-8${hex(2).slice(1)}-${hex(6)}` };
}
