import type { Clock } from "../../../base/clock.ts";

/** How long it may take to open a database, and how long one statement, in milliseconds. */
export const OPEN_MS = 10_000;
export const STATEMENT_MS = 30_000;

/** Work with a time limit: `cut` makes the work fail, and `what` names the database in the message. */
export interface Limited {
  readonly clock: Clock;
  readonly what: string;
  readonly cut: (error: Error) => void;
}

/** Waits for work, and aborts it if it takes longer than `ms`. */
export async function within<Result>(ms: number, work: Promise<Result>, { clock, what, cut }: Limited): Promise<Result> {
  let late: Error | undefined;
  const timer = clock.schedule(ms, () => {
    late = new Error(`${what} did not respond within ${ms / 1_000} s`);
    cut(late);
  });
  try {
    return await work;
  } catch (error) {
    throw late ?? error;
  } finally {
    timer.cancel();
  }
}
