import type { Clock } from "../../../src/base/clock.ts";

/** How many times faster than the machine's time a clock runs, unless a test says otherwise. */
const SPEED = 50;
/** How often a clock looks at the machine's time, in milliseconds of that. */
const TICK_MS = 1;
/** No more than this counts from one turn of the event loop to the next, in milliseconds of the machine's time. */
const TURN_MAX_MS = 2 * TICK_MS;

interface Entry {
  readonly dueMs: number;
  readonly callback: () => void;
}

/**
 * A clock that runs `speed` times as fast as the machine's, and stands still while this process does: time that a busy machine withholds
 * from the process has not passed. Clients, proxies and clusters of a test live in one process, so that an answer which comes within
 * so many turns of the event loop always comes within the same time, however long a turn takes.
 *
 * Time passes only while a timer runs.
 */
export function createFastClock(speed = SPEED): Clock {
  const startMs = Date.now();
  const timers = new Set<Entry>();
  let elapsedMs = 0;
  let seenMs = performance.now();
  let ticking: NodeJS.Timeout | undefined;

  function look(): number {
    const nowMs = performance.now();
    return elapsedMs + Math.min(nowMs - seenMs, TURN_MAX_MS) * speed;
  }

  function tick(): void {
    elapsedMs = look();
    seenMs = performance.now();
    const due = [...timers].filter(({ dueMs }) => dueMs <= elapsedMs).sort((left, right) => left.dueMs - right.dueMs);
    // One that is cancelled by another one's callback is not called.
    for (const timer of due) if (timers.delete(timer)) timer.callback();
    if (timers.size === 0) pause();
  }

  function pause(): void {
    clearInterval(ticking);
    ticking = undefined;
  }

  return {
    now: () => startMs + look(),
    monotonic: look,
    schedule(delayMs, callback) {
      if (ticking === undefined) {
        seenMs = performance.now();
        ticking = setInterval(tick, TICK_MS);
      }
      const timer = { dueMs: look() + delayMs, callback };
      timers.add(timer);
      return { cancel: () => void timers.delete(timer) };
    },
  };
}
