/** Does a piece of work, and returns its result and, with a clock, its duration. */
export type Timed = <T>(work: () => T | Promise<T>) => Promise<readonly [T, { readonly ms?: number }]>;

/**
 * Creates a function that measures how long work takes, by a clock in milliseconds. Without a clock, it measures nothing.
 *
 * @example
 * const [value, { ms }] = await createTimed(() => performance.now())(() => 1);
 */
export function createTimed(now: (() => number) | undefined): Timed {
  return async (work) => {
    const startedMs = now?.();
    const done = await work();
    return [done, startedMs === undefined ? {} : { ms: now!() - startedMs }];
  };
}
