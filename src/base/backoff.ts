/** Options of delays that grow from attempt to attempt. */
export interface BackoffOptions {
  /** Delay before the first repetition, in milliseconds. */
  readonly initialMs: number;
  /** Maximum delay, in milliseconds. */
  readonly maximumMs: number;
  /** Factor between a delay and the next one. Default 2. */
  readonly factor?: number;
  /** Up to this share is added at random, so that many clients do not return at once, not even at the maximum. Default 0. */
  readonly jitter?: number;
}

/**
 * Returns the delay in milliseconds before retry number `attempt` (0 is the first retry). `random` returns a number in [0, 1).
 *
 * @example
 * backoffDelay({ initialMs: 5, maximumMs: 1000 }, 3, () => 0); // 40
 */
export function backoffDelay(options: BackoffOptions, attempt: number, random: () => number): number {
  const { initialMs, maximumMs, factor = 2, jitter = 0 } = options;
  // The exponent is capped so that thousands of attempts cannot overflow to Infinity.
  const grown = initialMs * factor ** Math.min(attempt, 64);
  // The maximum includes the jitter. Limiting the delay afterwards would give all clients that wait longest the same delay.
  return Math.min(grown, maximumMs / (1 + jitter)) * (1 + jitter * random());
}
