import { backoffDelay } from "../../base/backoff.ts";
import type { Clock, Timer } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { timestamp } from "../../apiserver/types/objects/metadata.ts";
import type { AskVault } from "./vault-client.ts";
import { isFinal, readTokenAnswer, renewalDelayMs, repetitionDelayMs, TOKEN_LOOKUP, TOKEN_RENEWAL } from "./vault-token.ts";
import type { TokenLife } from "./vault-token.ts";
import type { VaultFailure } from "./vault-values.ts";

/** Options of {@link createTokenRenewal}. */
export interface TokenRenewalOptions {
  /** A way to ask the vault with the token of this moment. A failure `Invalid` means that the settings have none. */
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
  /** That the token is not renewed, and when it ends, in words without a full stop; undefined while there is nothing to do. */
  readonly warning: string | undefined;
  /** Begins with the present settings and their token. */
  restart(): void;
  /** Resolves when no request is in progress. */
  settled(): Promise<void>;
  stop(): void;
}

const RETRY = { initialMs: 5_000, maximumMs: 300_000, jitter: 0.2 };
/** Time between two looks at a token that cannot be renewed: half of its rest, within these milliseconds. */
const ENDING_LOOK_MIN_MS = 300_000;
const ENDING_LOOK_MAX_MS = 86_400_000;
/** By how much the end of a life differs between two answers that mean the same one, in milliseconds: seconds are rounded, and answers late. */
const SAME_END_MS = 2_000;

/**
 * Looks up the configured token, and renews it in time if possible. A token that cannot be renewed is logged once, with its expiry. Failures are
 * retried after growing pauses. It does nothing before {@link TokenRenewal.restart}.
 *
 * @example
 * const renewal = createTokenRenewal({ open, clock, random: () => chance.fraction(), logger, onWarning });
 * renewal.restart();
 */
export function createTokenRenewal(options: TokenRenewalOptions): TokenRenewal {
  return new Renewal(options);
}

interface Warning {
  readonly kind: "ends" | "unknown";
  readonly text: string;
}

class Renewal implements TokenRenewal {
  readonly #options: TokenRenewalOptions;
  #looking: Promise<void> = Promise.resolve();
  #ending = new AbortController();
  #timer: Timer | undefined;
  #warning: Warning | undefined;
  /** End of the token as known last, by the monotonic clock. */
  #endMs = Infinity;
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

  /** `due`: the token is to be renewed if nothing else has renewed it. */
  async #look(due: boolean, signal: AbortSignal): Promise<void> {
    const ask = await this.#options.open();
    if (signal.aborted) return;
    if (typeof ask !== "function") return ask.reason === "Invalid" ? undefined : this.#fail(ask, due);
    const life = await lifeBy(ask, "GET", TOKEN_LOOKUP, signal);
    if (signal.aborted) return;
    if ("ok" in life) {
      if (isFinal(life)) this.#warn("unknown", "the vault's token has expired or may not look itself up, so it is not renewed");
      return this.#fail(life, due);
    }
    const endMs = this.#endOf(life.seconds);
    const moved = endMs > this.#endMs + SAME_END_MS;
    this.#endMs = endMs;
    if (life.seconds > 0 && !life.renewable) return this.#ends(life.seconds);
    if (!due || moved || life.seconds === 0) return this.#lives(life.seconds);
    const renewed = await lifeBy(ask, "POST", TOKEN_RENEWAL, signal);
    if (signal.aborted) return;
    if ("ok" in renewed) return isFinal(renewed) ? this.#ends(life.seconds) : this.#fail(renewed, due);
    const extended = this.#endOf(renewed.seconds) > endMs + SAME_END_MS;
    this.#endMs = this.#endOf(renewed.seconds);
    return extended ? this.#lives(renewed.seconds) : this.#ends(renewed.seconds);
  }

  #endOf(seconds: number): number {
    return seconds === 0 ? Infinity : this.#options.clock.monotonic() + seconds * 1_000;
  }

  #lives(seconds: number): void {
    this.#recovered();
    this.#setWarning(undefined);
    this.#lookIn(seconds === 0 ? ENDING_LOOK_MAX_MS : renewalDelayMs(seconds, this.#options.random()), seconds !== 0);
  }

  /** The end that was told first stays, for answers round. */
  #ends(seconds: number): void {
    const { clock } = this.#options;
    this.#recovered();
    this.#warn("ends", `the vault's token cannot be renewed, and ends at ${timestamp(clock.now() + seconds * 1_000)}`);
    this.#lookIn(Math.min(ENDING_LOOK_MAX_MS, Math.max(ENDING_LOOK_MIN_MS, seconds * 500)), true);
  }

  #fail(failure: VaultFailure, due: boolean): void {
    const { clock, logger, random } = this.#options;
    if (this.#failures === 0)
      logger.warn("The vault's token cannot be renewed for now; it is tried again", { reason: failure.reason, message: failure.message });
    const pauseMs = backoffDelay(RETRY, this.#failures++, random);
    this.#lookIn(Math.max(failure.retryAfterMs ?? 0, repetitionDelayMs(pauseMs, this.#leftMs(clock))), due);
  }

  /** Infinity as well for a life that should be over: clocks differ, and there is no hurry any more. */
  #leftMs(clock: Clock): number {
    const left = this.#endMs - clock.monotonic();
    return left > 0 ? left : Infinity;
  }

  #recovered(): void {
    if (this.#failures > 0) this.#options.logger.info("The vault answers about its token again");
    this.#failures = 0;
  }

  #warn(kind: Warning["kind"], text: string): void {
    if (this.#warning?.kind === kind) return;
    this.#options.logger.warn("The vault's token is not renewed; replace it in time", { message: text });
    this.#setWarning({ kind, text });
  }

  #setWarning(warning: Warning | undefined): void {
    if (this.#warning === warning) return;
    this.#warning = warning;
    this.#options.onWarning();
  }
}

async function lifeBy(ask: AskVault, method: "GET" | "POST", path: string, signal: AbortSignal): Promise<TokenLife | VaultFailure> {
  const answer = await ask(method, path, signal);
  return "ok" in answer ? answer : readTokenAnswer(answer);
}
