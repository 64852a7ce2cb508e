import type { Clock } from "../../../base/clock.ts";

/** How long it may take to open a database, and how long one statement, in milliseconds. */
export const OPEN_MS = 10_000;
export const STATEMENT_MS = 30_000;

/** Options of a connection to a database. */
export interface DatabaseOptions {
  /** Cuts the connection, whatever the database does; all that waits for it fails. */
  readonly signal?: AbortSignal;
  /** Default: the machine's. */
  readonly clock?: Clock;
}

/** What waits with a limit: `cut` makes the work fail, and `what` names the database in the message. */
export interface Limited {
  readonly clock: Clock;
  readonly what: string;
  readonly cut: () => void;
}

/** Waits for work, which is aborted if it takes longer. */
export async function within<Result>(ms: number, work: Promise<Result>, { clock, what, cut }: Limited): Promise<Result> {
  let late = false;
  const timer = clock.schedule(ms, () => {
    late = true;
    cut();
  });
  try {
    return await work;
  } catch (error) {
    throw late ? new Error(`${what} did not answer within ${ms / 1_000} s`, { cause: error }) : error;
  } finally {
    timer.cancel();
  }
}
