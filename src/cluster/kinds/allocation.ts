/** Numbers, each of which can be allocated once. */
export interface Allocation {
  /** Takes one number; false when it is held or out of range. */
  take(number: number): boolean;
  /** Takes a free number, chosen at random; undefined when all are held. */
  takeAny(): number | undefined;
  release(number: number): void;
  inRange(number: number): boolean;
}

/**
 * Allocates the numbers from `first` to `last`.
 *
 * @example
 * createAllocation({ first: 30000, last: 32767, fraction: Math.random }).takeAny();
 */
export function createAllocation({
  first,
  last,
  fraction,
}: {
  readonly first: number;
  readonly last: number;
  readonly fraction: () => number;
}): Allocation {
  const held = new Set<number>();
  const size = last - first + 1;
  const inRange = (number: number) => number >= first && number <= last;
  const take = (number: number) => inRange(number) && !held.has(number) && held.add(number).has(number);
  return {
    inRange,
    take,
    takeAny() {
      if (held.size >= size) return undefined;
      let candidate = first + Math.floor(fraction() * size);
      // Takes the next free number after a random start: this always ends, even if the range is nearly full.
      while (!take(candidate)) candidate = candidate === last ? first : candidate + 1;
      return candidate;
    },
    release: (number) => void held.delete(number),
  };
}

/** `a.b.c.d` as a number. */
export function ipv4ToNumber(ip: string): number {
  return ip.split(".").reduce((number, part) => number * 256 + Number(part), 0);
}

/** The inverse of {@link ipv4ToNumber}. */
export function numberToIpv4(number: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join(".");
}
