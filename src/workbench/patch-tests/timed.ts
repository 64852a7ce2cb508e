/** Does a piece of work, and says how long it took as far as there is a clock. */
export type Timed = <T>(work: () => T | Promise<T>) => Promise<readonly [T, { readonly ms?: number }]>;

/**
 * Measures with a clock in milliseconds; without one nothing is measured.
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
