import { backoffDelay, type BackoffOptions } from "../../base/backoff.ts";
import { isEngineError } from "../../base/errors.ts";

/** Handling of a key whose reconcile failed. */
export interface RetryDecision {
  /** Delay before the next attempt, in milliseconds. */
  readonly afterMs: number;
  /** True when only a change of the object or of the configuration can help; the retry is a safety net. */
  readonly terminal: boolean;
}

/** Delays by kind of failure. Each has a default. */
export interface RetrySettings {
  /** The object changed between read and write; its newer state arrives soon. Default 5 ms × 2^n up to 1 s. */
  readonly conflict?: BackoffOptions;
  /** The API server cannot be reached. Default 0.3 s × 1.15^n up to 30 s: frequent in the first seconds, in which most outages end. */
  readonly unavailable?: BackoffOptions;
  /** Another cluster responds in place of the right one. Default 0.3 s × 1.15^n up to 3 s; few of these attempts reach a server. */
  readonly otherCluster?: BackoffOptions;
  /** The API server is overloaded. Default 0.8 s × 2^n up to 30 s. */
  readonly overloaded?: BackoffOptions;
  /** A permission is missing. Default 1 s × 2^n up to 5 min. */
  readonly refused?: BackoffOptions;
  /** All other errors. Default 5 ms × 2^n up to 5 min. */
  readonly other?: BackoffOptions;
  /** Safety net for terminal failures. Default 10 min, plus up to a tenth. */
  readonly terminal?: BackoffOptions;
  /** Upper limit for a server's Retry-After, in milliseconds. Default 5 min. */
  readonly retryAfterMaximumMs?: number;
}

const MINUTE_MS = 60_000;

const DEFAULTS: Required<RetrySettings> = {
  conflict: { initialMs: 5, maximumMs: 1_000, jitter: 0.5 },
  unavailable: { initialMs: 300, maximumMs: MINUTE_MS / 2, factor: 1.15, jitter: 0.2 },
  otherCluster: { initialMs: 300, maximumMs: 3_000, factor: 1.15, jitter: 0.2 },
  overloaded: { initialMs: 800, maximumMs: MINUTE_MS / 2, jitter: 0.5 },
  refused: { initialMs: 1_000, maximumMs: 5 * MINUTE_MS, jitter: 0.2 },
  other: { initialMs: 5, maximumMs: 5 * MINUTE_MS, jitter: 0.2 },
  terminal: { initialMs: 10 * MINUTE_MS, maximumMs: 11 * MINUTE_MS, factor: 1, jitter: 0.1 },
  retryAfterMaximumMs: 5 * MINUTE_MS,
};

/** Codes of failures that recur for the same input. */
const TERMINAL = /^(API_INVALID|API_BAD_REQUEST|EXPRESSION_.*|PATH_.*|PATCH_.*|CONFIG_.*|DNS_NAME_INVALID|REFERENCE_KIND)$/;

type FailureKind = Exclude<keyof RetrySettings, "retryAfterMaximumMs">;

/** A failure and how often its key failed before. */
export interface FailedAttempt {
  readonly error: unknown;
  /** Failures of the same key and of the same kind before this one, as {@link Failures} counts them. */
  readonly failures: number;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly settings?: RetrySettings;
}

/**
 * Decides when a failed reconcile is tried again, based only on the error's code. No other function decides this.
 *
 * @example
 * decideRetry({ error: new EngineError("API_CONFLICT", "Changed"), failures: 0, random: () => 0 }); // { afterMs: 5, terminal: false }
 */
export function decideRetry({ error, failures, random, settings = {} }: FailedAttempt): RetryDecision {
  const all = { ...DEFAULTS, ...settings };
  const kind = kindOf(error);
  const backoffMs = backoffDelay(all[kind], failures, random);
  const wishMs = kind === "unavailable" || kind === "overloaded" ? retryAfterMs(error) : 0;
  // A small random time is added to the requested delay, so that a thousand keys do not return in the same millisecond.
  const afterMs = wishMs > 0 ? Math.min(wishMs, all.retryAfterMaximumMs) * (1 + 0.1 * random()) : backoffMs;
  return { afterMs, terminal: kind === "terminal" };
}

/**
 * Counts the failures of keys, each kind separately: for example, if an API server was down for a minute and then refuses one request
 * because it has not loaded its roles yet, the refusal counts as the first. Contains an entry only for keys that have not succeeded since.
 *
 * @example
 * const failures = new Failures();
 * failures.count("shop/db", new EngineError("API_UNAVAILABLE", "It is away")); // 0
 * failures.count("shop/db", new EngineError("API_UNAVAILABLE", "It is away")); // 1
 * failures.count("shop/db", new EngineError("API_FORBIDDEN", "No")); // 0
 */
export class Failures {
  readonly #counts = new Map<string, Map<FailureKind, number>>();

  /** Counts a failure of `key`, and returns how often it failed in the same way before. */
  count(key: string, error: unknown): number {
    const counts = this.#counts.get(key) ?? new Map<FailureKind, number>();
    const kind = kindOf(error);
    const before = counts.get(kind) ?? 0;
    this.#counts.set(key, counts.set(kind, before + 1));
    return before;
  }

  /** Forgets the failures of `key`. Call it when `key` has succeeded. */
  forget(key: string): void {
    this.#counts.delete(key);
  }
}

function kindOf(error: unknown): FailureKind {
  const code = isEngineError(error) ? error.code : undefined;
  if (code === "API_CONFLICT") return "conflict";
  if (code === "API_UNAVAILABLE") return "unavailable";
  if (code === "CLUSTER_IDENTITY") return "otherCluster";
  if (code === "API_TOO_MANY_REQUESTS") return "overloaded";
  if (code === "API_FORBIDDEN" || code === "API_UNAUTHORIZED") return "refused";
  return code !== undefined && TERMINAL.test(code) ? "terminal" : "other";
}

/**
 * Returns the delay that the API server requested, in milliseconds; 0 if it requested none.
 *
 * @example
 * retryAfterMs(new EngineError("API_TOO_MANY_REQUESTS", "Slow down", { details: { retryAfterSeconds: 2 } })); // 2000
 */
export function retryAfterMs(error: unknown): number {
  const seconds = isEngineError(error) ? error.details["retryAfterSeconds"] : undefined;
  return typeof seconds === "number" && seconds > 0 ? seconds * 1000 : 0;
}
