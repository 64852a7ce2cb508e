import { delay, type Clock } from "../../base/clock.ts";

/** Cleanup at the end of a command, last opened first. */
export interface Teardown {
  /** Registers how to close a resource that was just opened. */
  add(end: () => Promise<void> | void): void;
  /** Runs all steps, even after one fails, and throws the first failure. */
  run(): Promise<void>;
}

/** Creates an empty list of steps to run at the end. */
export function createTeardown(): Teardown {
  const ends: (() => Promise<void> | void)[] = [];
  return {
    add: (end) => void ends.push(end),
    async run() {
      const failures: unknown[] = [];
      for (let end = ends.pop(); end !== undefined; end = ends.pop()) {
        try {
          await end();
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}

/** Waits for `ending`, but no longer than `limitMs`, because it may end only after a later step, such as closing a connection. */
export async function atMost(clock: Clock, limitMs: number, ending: Promise<void>): Promise<void> {
  const ended = new AbortController();
  try {
    await Promise.race([ending, delay(clock, limitMs, ended.signal)]);
  } finally {
    ended.abort();
  }
}
