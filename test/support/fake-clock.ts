import type { Clock, Timer } from "../../src/base/clock.ts";
import { PATIENCE_MS } from "./patience.ts";

/** A clock that moves only when a test says so. */
export interface FakeClock extends Clock {
  /**
   * Moves time forward by `ms`, firing every timer on the way in order of its due time. Promises and I/O callbacks that are
   * ready run before each timer, after it, and at the end.
   */
  advance(ms: number): Promise<void>;
  /** Moves wall time alone, as an administrator or NTP does. */
  jump(ms: number): void;
  /** Timers that have not fired yet. */
  readonly pending: number;
}

interface Entry {
  readonly due: number;
  readonly order: number;
  readonly callback: () => void;
}

/**
 * A clock for tests. Wall time starts at `start` (milliseconds since 1970), monotonic time at 0.
 *
 * @example
 * const clock = createFakeClock();
 * clock.schedule(100, () => fired.push("a"));
 * await clock.advance(100);
 */
export function createFakeClock(start = Date.UTC(2026, 0, 1)): FakeClock {
  const entries = new Set<Entry>();
  let elapsed = 0;
  let skew = 0;
  let order = 0;

  function next(until: number): Entry | undefined {
    let first: Entry | undefined;
    for (const entry of entries) {
      if (entry.due > until) continue;
      if (first === undefined || entry.due < first.due || (entry.due === first.due && entry.order < first.order)) first = entry;
    }
    return first;
  }

  return {
    now: () => start + elapsed + skew,
    monotonic: () => elapsed,
    schedule(delayMs, callback): Timer {
      const entry = { due: elapsed + Math.max(0, delayMs), order: order++, callback };
      entries.add(entry);
      return { cancel: () => void entries.delete(entry) };
    },
    async advance(ms) {
      const until = elapsed + ms;
      await settle();
      for (let entry = next(until); entry !== undefined; entry = next(until)) {
        entries.delete(entry);
        elapsed = entry.due;
        entry.callback();
        await settle();
      }
      elapsed = until;
      await settle();
    },
    jump: (ms) => void (skew += ms),
    get pending() {
      return entries.size;
    },
  };
}

/** Lets every promise that is ready run, and I/O callbacks that wait already. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 3; round++) await new Promise<void>((resolve) => setImmediate(resolve));
}

/** Resolves once `condition` holds. Real time passes only for real I/O; after `limitMs` of it the test fails with `what`. */
export async function until(what: string, condition: () => boolean, limitMs = PATIENCE_MS): Promise<void> {
  const start = performance.now();
  while (!condition()) {
    if (performance.now() - start > limitMs) throw new Error(`Still not so after ${limitMs} ms: ${what}`);
    await new Promise<void>((resolve) => setTimeout(resolve, 1));
  }
}
