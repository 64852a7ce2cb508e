import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { InternalRecords } from "../internal-records.ts";

/** When which access key was last used. It is no part of the key's object, so that using a key changes no resourceVersion. */
export interface KeyActivity {
  /** Milliseconds since 1970; undefined for a key that was never used. */
  last(uid: string): number | undefined;
  /** Notes a use at this moment. `everyMs` is how old the stored time may become, in milliseconds. */
  touch(uid: string, everyMs?: number): void;
  forget(uid: string): void;
  /** Stores what is not stored yet. */
  flush(): Promise<void>;
}

/** What activity is kept with. */
export interface KeyActivityOptions {
  readonly records: InternalRecords;
  readonly clock: Pick<Clock, "now">;
  readonly logger: Logger;
}

/** How old the stored time of a use may become, in milliseconds. After a crash the last uses are as old as that. */
export const STORED_EVERY_MS = 60_000;
const KIND = "KeyActivity";

/**
 * Reads what is stored.
 *
 * @example
 * const activity = await createKeyActivity({ records, clock, logger });
 * activity.touch(uid);
 */
export async function createKeyActivity({ records, clock, logger }: KeyActivityOptions): Promise<KeyActivity> {
  const used = new Map<string, number>();
  const stored = new Map<string, number>();
  const writing = new Set<Promise<void>>();
  for (const { name, data } of await records.list(KIND)) {
    used.set(name, Number(data));
    stored.set(name, Number(data));
  }
  const store = (uid: string, ms: number) => {
    stored.set(uid, ms);
    const write = records.put(KIND, uid, String(ms)).catch((error: unknown) => {
      stored.delete(uid);
      logger.warn("Cannot store when an access key was used", { uid, error: messageOf(error) });
    });
    writing.add(write);
    void write.then(() => writing.delete(write));
  };
  return {
    last: (uid) => used.get(uid),
    touch(uid, everyMs = STORED_EVERY_MS) {
      const now = clock.now();
      used.set(uid, now);
      if (now - (stored.get(uid) ?? -Infinity) >= everyMs) store(uid, now);
    },
    forget(uid) {
      used.delete(uid);
      if (stored.delete(uid)) void records.remove(KIND, uid).catch(() => undefined);
    },
    async flush() {
      for (const [uid, ms] of used) if (stored.get(uid) !== ms) store(uid, ms);
      await Promise.all(writing);
    },
  };
}
