import { delay, type Clock } from "../../base/clock.ts";
import { isEngineError, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { statusOf } from "../../apiserver/types/status.ts";
import type { Store } from "../../apiserver/store/store.ts";

/** Options of the readiness check. */
export interface ServerReadinessOptions {
  readonly store: Pick<Store, "demandWritable">;
  /** Frees space when the store is full. Default: does nothing. */
  readonly relieve?: (() => Promise<void>) | undefined;
  readonly clock: Clock;
  /** Logs when the server stops being ready, and when it is ready again. */
  readonly logger: Logger;
}

/** A store that does not respond within this time counts as unavailable, in milliseconds. */
const READY_MS = 3_000;
/** How long a result is reused, in milliseconds: each check waits for the disk. */
const FOUND_MS = 1_000;

/**
 * Creates a function that returns why the server cannot serve; undefined if it can. The reason contains no details that unauthenticated
 * clients must not see. The function checks at most once a second whether a write would succeed.
 */
export function createServerReadiness({ store, relieve, clock, logger }: ServerReadinessOptions): () => Promise<string | undefined> {
  let [reason, foundUntil] = [undefined as string | undefined, -Infinity];
  let asking: Promise<string | undefined> | undefined;
  const ask = async () => {
    const error = await failureOf(store, clock);
    const before = reason;
    reason = error === undefined ? undefined : reasonOf(error);
    foundUntil = clock.monotonic() + FOUND_MS;
    if (reason === undefined && before !== undefined) logger.info("Ready again");
    if (error !== undefined && statusOf(error)?.code === 507)
      relieve?.().catch((failed: unknown) => logger.warn("Cannot free space", { error: messageOf(failed) }));
    if (reason !== undefined && reason !== before) logger.warn("Not ready", { reason, error: messageOf(error) });
    return reason;
  };
  return () => {
    if (clock.monotonic() < foundUntil) return Promise.resolve(reason);
    asking ??= ask().finally(() => (asking = undefined));
    return asking;
  };
}

/** Time between two checks that no request triggers, in milliseconds. */
const LOOK_MS = 10_000;

/** Checks readiness regularly, even without requests: a check frees space when the store is full. Returns the function that stops it. */
export function keepLooking(notReady: () => Promise<unknown>, clock: Clock): () => void {
  const over = new AbortController();
  void (async () => {
    while (!over.signal.aborted) {
      await delay(clock, LOOK_MS, over.signal);
      if (!over.signal.aborted) await notReady();
    }
  })();
  return () => over.abort();
}

async function failureOf(store: ServerReadinessOptions["store"], clock: Clock): Promise<unknown> {
  const over = new AbortController();
  const tried = store.demandWritable().then(
    () => undefined,
    (error: unknown) => error ?? new Error("it failed"),
  );
  try {
    return await Promise.race([tried, delay(clock, READY_MS, over.signal).then(() => new Error(`no response in ${READY_MS} ms`))]);
  } finally {
    over.abort();
  }
}

/** Returns a reason for unauthenticated clients, without the addresses and paths that are in the log. */
function reasonOf(error: unknown): string {
  const { reason } = isEngineError(error) ? error.details : {};
  return typeof reason === "string" ? reason : "the store does not respond";
}
