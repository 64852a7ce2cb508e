/**
 * When writers rest. A syncer slows down writes that nothing asked for, so that a loop without end writes once in a while at last: only a
 * time without writes that is longer than its longest delay shows that there is none.
 *
 * @module
 */

/** The longest delay between two writes of a loop, as the syncers of a world are told. */
export const SLOWEST_MINUTES = 1;
/** The log of a syncer tells so of an object whose writes it slows down. */
export const SLOWED = '"Writes slowed"';
/** Nothing is written for so long, in milliseconds, where no syncer has slowed down anything. */
export const QUIET_MS = 2_000;
/** Nothing is written for so long, in milliseconds, where one has, and at the end of a run. */
export const LONG_QUIET_MS = SLOWEST_MINUTES * 60_000 + 15_000;

/** Measures since when nothing has been written. */
export class Quiet {
  #written = -1;
  #sinceMs = 0;

  /** For how long, in milliseconds, there have been `written` writes, and no more. */
  lastsMs(written: number, nowMs: number): number {
    if (written !== this.#written) [this.#written, this.#sinceMs] = [written, nowMs];
    return nowMs - this.#sinceMs;
  }
}
