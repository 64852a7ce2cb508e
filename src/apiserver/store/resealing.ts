import type { Clock, Timer } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Resealable } from "./resealable.ts";

/** The store to re-encrypt, and the pace. */
export interface ResealingOptions {
  readonly store: Resealable;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Maximum number of values that one step examines. Default 64. */
  readonly most?: number;
  /** Pause between two steps, in milliseconds. Default 10. */
  readonly pauseMs?: number;
  /** Pause before a failed step is tried again, in milliseconds. Default 60,000. */
  readonly retryMs?: number;
  /**
   * Pause after a check that found nothing to do, in milliseconds, for a store to which other processes write too. Default: no further
   * checks.
   */
  readonly againMs?: number;
}

/** Re-encryption in progress. */
export interface Resealing {
  /** True if the last check found nothing to do; false if re-encryption was stopped before that. */
  readonly done: boolean;
  /** Ends after the current step. The remaining work is done after the next start. */
  stop(): Promise<void>;
}

/**
 * Re-encrypts, in the background, all values that are not encrypted with the first key. Logs when it is finished.
 *
 * @example
 * const resealing = startResealing({ store, clock: systemClock, logger });
 * await resealing.stop();
 */
export function startResealing(options: ResealingOptions): Resealing {
  return new StepByStep(options);
}

const PACE = { most: 64, pauseMs: 10, retryMs: 60_000 };

class StepByStep implements Resealing {
  readonly #options: ResealingOptions & typeof PACE;
  #timer: Timer | undefined;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;
  #resealed = 0;
  #done = false;

  constructor(options: ResealingOptions) {
    this.#options = { ...PACE, ...options };
    this.#next(0);
  }

  get done(): boolean {
    return this.#done;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#running;
  }

  #next(delayMs: number): void {
    if (this.#stopped) return;
    this.#timer = this.#options.clock.schedule(delayMs, () => void (this.#running = this.#step()));
  }

  async #step(): Promise<void> {
    const { store, most, pauseMs, retryMs, againMs, logger } = this.#options;
    try {
      const { resealed, done } = await store.reseal(most);
      if (resealed > 0 && this.#resealed === 0) logger.info("Re-encrypting values encrypted with older keys");
      this.#resealed += resealed;
      this.#done = done;
      if (!done) return this.#next(pauseMs);
      if (this.#resealed > 0) await this.#logDone();
      this.#resealed = 0;
      if (againMs !== undefined) this.#next(againMs);
    } catch (error) {
      logger.warn("Cannot re-encrypt values; retrying", { error: messageOf(error) });
      this.#next(retryMs);
    }
  }

  async #logDone(): Promise<void> {
    const seals = [...(await this.#options.store.sealedBy())];
    const keys = (needed: boolean) => seals.filter(([, count]) => count > 0 === needed).map(([id]) => id);
    this.#options.logger.info("Every value is encrypted with the first key; earlier backups still need the other keys", {
      resealed: this.#resealed,
      key: keys(true).join(" "),
      others: keys(false).join(" "),
    });
  }
}
