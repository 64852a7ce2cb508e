/** A running timer. */
export interface Timer {
  /** Stops the timer; does nothing if it has already fired. */
  cancel(): void;
}

/**
 * Time as a dependency. Code that waits or writes timestamps takes a clock, so that tests and the simulator control time.
 */
export interface Clock {
  /** Wall time in milliseconds since 1970, for timestamps. May jump. */
  now(): number;
  /** Milliseconds since an arbitrary start, for durations. Never goes back. */
  monotonic(): number;
  /**
   * Calls `callback` once after `delayMs` milliseconds, never before `schedule` returns. The timer keeps the process alive only if
   * `keepAlive` is set.
   */
  schedule(delayMs: number, callback: () => void, options?: { readonly keepAlive?: boolean }): Timer;
}

/** The longest delay that the platform's timers keep, 24.8 days; with a longer one, they fire immediately. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** The system's time. The only place that uses timers. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule(delayMs, callback, { keepAlive = false } = {}) {
    if (delayMs > TIMER_MAX_MS) {
      const rest = () => void (timer = systemClock.schedule(delayMs - TIMER_MAX_MS, callback, { keepAlive }));
      let timer = systemClock.schedule(TIMER_MAX_MS, rest, { keepAlive });
      return { cancel: () => timer.cancel() };
    }
    const handle = setTimeout(callback, delayMs);
    if (!keepAlive) handle.unref?.();
    return { cancel: () => clearTimeout(handle) };
  },
};

/**
 * Resolves once due timers and waiting sockets have been handled, without further delay.
 *
 * @example
 * await nextMacrotask();
 */
export function nextMacrotask(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/**
 * Resolves after `delayMs`, or immediately when `signal` aborts. Never rejects. Keeps the process alive until then, because a caller is
 * waiting.
 *
 * @example
 * await delay(systemClock, 10);
 */
export function delay(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      timer.cancel();
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = clock.schedule(delayMs, done, { keepAlive: true });
    signal?.addEventListener("abort", done, { once: true });
  });
}
