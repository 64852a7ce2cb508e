/**
 * How long a test waits, in milliseconds, for what has to come true before it is red. No expectation: a machine may be ten times slower
 * than another one, and busy.
 */
export const PATIENCE_MS = 120_000;

/** How long a test may take, in milliseconds, unless it says more: it tells what it waits for in vain before it is cut off. */
export const TEST_MS = 2 * PATIENCE_MS;

/** For `vi.waitFor`, which asks again and again. */
export const WAIT = { timeout: PATIENCE_MS, interval: 20 };
