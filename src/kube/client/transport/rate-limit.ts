import type { Clock } from "../../../base/clock.ts";

/** A limit for a rate. */
export interface RateLimit {
  /** Sustained rate. */
  readonly perSecond: number;
  /** Maximum burst after a pause. Default: `perSecond`, at least 1. */
  readonly burst?: number;
}

/**
 * Creates a token bucket. Each call of the returned function takes one token and returns how many milliseconds the caller must wait before
 * using it. Callers are served in the order of their calls.
 *
 * @example
 * const take = createRateLimit({ perSecond: 10, burst: 1 }, clock);
 * take(); // 0
 * take(); // 100
 */
export function createRateLimit({ perSecond, burst = Math.max(1, perSecond) }: RateLimit, clock: Clock): () => number {
  const intervalMs = 1000 / perSecond;
  // Used instead of a count of tokens: the time at which the bucket is full again if no more tokens are taken.
  let fullAtMs = clock.monotonic();
  return () => {
    const now = clock.monotonic();
    fullAtMs = Math.max(fullAtMs, now) + intervalMs;
    return Math.max(0, fullAtMs - now - burst * intervalMs);
  };
}
