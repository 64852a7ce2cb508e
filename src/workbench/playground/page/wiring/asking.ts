/**
 * Decides when to send a request to the engine: a moment after the last keystroke. The page shows that it is waiting only if the answer
 * takes a while.
 *
 * @module
 */
import type { Clock, Timer } from "../../../../base/clock.ts";

/** Decides when to ask. */
export interface Asking {
  /** Asks after a moment without another call. */
  soon(): void;
  /** Asks at once. */
  now(): void;
  /** Ends the wait for an answer. */
  answered(): void;
}

/** Quiet time after a key, in milliseconds. */
const QUIET_MS = 150;

/** Time in milliseconds after which the page shows that it is waiting. */
const COMPUTING_AFTER_MS = 300;

/** Calls `ask` when it is due, and `computing` when the page should start or stop showing that it is waiting. */
export function createAsking(clock: Clock, ask: () => void, computing: (busy: boolean) => void): Asking {
  let quiet: Timer | undefined;
  let patience: Timer | undefined;
  const now = () => {
    quiet?.cancel();
    quiet = undefined;
    patience?.cancel();
    patience = clock.schedule(COMPUTING_AFTER_MS, () => computing(true));
    ask();
  };
  return {
    now,
    soon() {
      quiet?.cancel();
      quiet = clock.schedule(QUIET_MS, now);
    },
    answered() {
      patience?.cancel();
      patience = undefined;
      computing(false);
    },
  };
}
