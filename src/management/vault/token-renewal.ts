import { backoffDelay } from "../../base/backoff.ts";
import type { Clock, Timer } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { timestamp } from "../../apiserver/types/objects/metadata.ts";
import type { AskVault } from "./vault-client.ts";
import { isFinal, readTokenAnswer, renewalDelayMs, repetitionDelayMs, TOKEN_LOOKUP, TOKEN_RENEWAL } from "./vault-token.ts";
import type { VaultFailure } from "./vault-values.ts";

/** Options of {@link createTokenRenewal}. */
export interface TokenRenewalOptions {
  /**
   * Opens a client for the vault with the current token. A failure `Invalid` means that the settings cannot be used: they lack a token or a
   * valid address, or the token's file is unusable.
   */
  readonly open: () => Promise<AskVault | VaultFailure>;
  readonly clock: Clock;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly logger: Logger;
  /** Called when `warning` has changed. */
  readonly onWarning: () => void;
}

/** Keeps a token alive until it is stopped. */
export interface TokenRenewal {
  /** Why the token is not renewed, and its end if known, without a full stop; undefined while there is nothing to do. */
  readonly warning: string | undefined;
  /** Starts over with the current settings and their token. */
  restart(): void;
  /** Resolves when no request is in progress. */
  settled(): Promise<void>;
  stop(): void;
}

const RETRY = { initialMs: 5_000, maximumMs: 300_000, jitter: 0.2 };
/** Bounds, in milliseconds, of the time between two lookups of a token that cannot be renewed: half of the time left. */
const ENDING_LOOK_MIN_MS = 300_000;
const ENDING_LOOK_MAX_MS = 86_400_000;
/** Largest difference between the ends in two responses that mean the same end, in milliseconds: responses are late, and clocks differ. */
const SAME_END_MS = 60_000;

/**
 * Looks up the configured token, and renews it in time if possible. A token that cannot be renewed is logged once, with its expiry.
 * Failures are retried at increasing intervals. It does nothing before {@link TokenRenewal.restart}.
 *
 * @example
 * const renewal = createTokenRenewal({ open, clock, random: () => chance.fraction(), logger, onWarning });
 * renewal.restart();
 */
export function createTokenRenewal(options: TokenRenewalOptions): TokenRenewal {
  return new Renewal(options);
}

interface Warning {
  /** When the token ends, in milliseconds since 1970; undefined if it may not be looked up. */
  readonly endMs: number | undefined;
  readonly text: string;
}

class Renewal implements TokenRenewal {
  readonly #options: TokenRenewalOptions;
  #looking: Promise<void> = Promise.resolve();
  #ending = new AbortController();
  #timer: Timer | undefined;
  #warning: Warning | undefined;
  /** Last known end of the token, by the monotonic clock. */
  #endMs = Infinity;
  /** The most seconds that the token has had left since it was renewed. */
  #fullSeconds = 0;
  #failures = 0;

  constructor(options: TokenRenewalOptions) {
    this.#options = options;
  }

  get warning(): string | undefined {
    return this.#warning?.text;
  }

  restart(): void {
    this.stop();
    this.#ending = new AbortController();
    this.#warning = undefined;
    this.#endMs = Infinity;
    this.#fullSeconds = 0;
    this.#failures = 0;
    this.#lookIn(0, false);
  }

  async settled(): Promise<void> {
    await this.#looking;
  }

  stop(): void {
    this.#ending.abort();
    this.#timer?.cancel();
  }

  #lookIn(ms: number, due: boolean): void {
    const { signal } = this.#ending;
    this.#timer = this.#options.clock.schedule(ms, () => {
      this.#looking = this.#look(due, signal);
    });
  }

  /** Looks the token up. If `due`, renews it unless something else has renewed it. */
  async #look(due: boolean, signal: AbortSignal): Promise<void> {
    const ask = await this.#options.open();
    if (signal.aborted) return;
    if (typeof ask !== "function") return ask.reason === "Invalid" ? undefined : this.#fail(ask, due);
    const { life, askedMs } = await this.#life(ask, "GET", TOKEN_LOOKUP, signal);
    if (signal.aborted) return;
    if ("ok" in life) {
      if (isFinal(life)) this.#warn(undefined, "the vault's token has expired or is not allowed to look itself up, so it is not renewed");
      return this.#fail(life, due);
    }
    if (life.seconds === Infinity) return this.#lives(life.seconds);
    this.#fullSeconds = Math.max(this.#fullSeconds, life.seconds);
    this.#endMs = askedMs + life.seconds * 1_000;
    if (!life.renewable) return this.#ends(life.seconds);
    // The vault counts the seconds left, so a late response does not matter. If much time is left, something else has renewed the token.
    if (!due || life.seconds > this.#fullSeconds / 2) return this.#lives(life.seconds);
    const { life: renewed, askedMs: renewedMs } = await this.#life(ask, "POST", TOKEN_RENEWAL, signal);
    if (signal.aborted) return;
    if ("ok" in renewed) return isFinal(renewed) ? this.#ends(life.seconds) : this.#fail(renewed, due);
    // If the response to the renewal has no end, the token keeps the end that the lookup returned.
    const seconds = renewed.seconds === Infinity ? life.seconds : renewed.seconds;
    this.#fullSeconds = seconds;
    this.#endMs = renewedMs + seconds * 1_000;
    return seconds > life.seconds + 1 && renewed.renewable ? this.#lives(seconds) : this.#ends(seconds);
  }

  /** The token's life, which counts from the time of the request, by the monotonic clock: the response may be late. */
  async #life(ask: AskVault, method: "GET" | "POST", path: string, signal: AbortSignal) {
    const askedMs = this.#options.clock.monotonic();
    const answer = await ask(method, path, signal);
    return { askedMs, life: "ok" in answer ? answer : readTokenAnswer(answer) };
  }

  #lives(seconds: number): void {
    this.#recovered();
    this.#setWarning(undefined);
    this.#lookIn(seconds === Infinity ? ENDING_LOOK_MAX_MS : renewalDelayMs(seconds, this.#options.random()), true);
  }

  #ends(seconds: number): void {
    const { clock } = this.#options;
    this.#recovered();
    const endMs = clock.now() + this.#endMs - clock.monotonic();
    this.#warn(endMs, `the vault's token cannot be renewed, and expires at ${timestamp(endMs)}`);
    this.#lookIn(Math.min(ENDING_LOOK_MAX_MS, Math.max(ENDING_LOOK_MIN_MS, seconds * 500)), true);
  }

  #fail(failure: VaultFailure, due: boolean): void {
    const { clock, logger, random } = this.#options;
    if (this.#failures === 0)
      logger.warn("The vault's token cannot be renewed at the moment; retrying", { reason: failure.reason, message: failure.message });
    const pauseMs = backoffDelay(RETRY, this.#failures++, random);
    this.#lookIn(Math.max(failure.retryAfterMs ?? 0, repetitionDelayMs(pauseMs, this.#leftMs(clock))), due);
  }

  /** The time left; Infinity also for a token that should have ended: clocks differ, and a retry is not urgent any more. */
  #leftMs(clock: Clock): number {
    const left = this.#endMs - clock.monotonic();
    return left > 0 ? left : Infinity;
  }

  #recovered(): void {
    if (this.#failures > 0) this.#options.logger.info("Requests about the vault's token succeed again");
    this.#failures = 0;
  }

  /** Keeps a warning whose end is nearly the same, since late responses change the end a little. */
  #warn(endMs: number | undefined, text: string): void {
    const before = this.#warning;
    const isSame = before !== undefined && (before.endMs ?? Infinity) === (endMs ?? Infinity);
    if (isSame || Math.abs((before?.endMs ?? NaN) - (endMs ?? NaN)) <= SAME_END_MS) return;
    this.#options.logger.warn("The vault's token will not be renewed; replace it", { message: text });
    this.#setWarning({ endMs, text });
  }

  #setWarning(warning: Warning | undefined): void {
    if (this.#warning === warning) return;
    this.#warning = warning;
    this.#options.onWarning();
  }
}
