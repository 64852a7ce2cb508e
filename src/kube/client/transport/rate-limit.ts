import type { Clock } from "../../../base/clock.ts";

/** How fast something may go. */
export interface RateLimit {
  /** Sustained rate. */
  readonly perSecond: number;
  /** Burst after a rest. Default: one second's worth, at least 1. */
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
  // Instead of counting tokens: the time at which the bucket will be full again if no more are taken.
  let fullAtMs = clock.monotonic();
  return () => {
    const now = clock.monotonic();
    fullAtMs = Math.max(fullAtMs, now) + intervalMs;
    return Math.max(0, fullAtMs - now - burst * intervalMs);
  };
}
