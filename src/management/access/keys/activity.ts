import type { Clock } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Logger } from "../../../base/logger.ts";
import type { InternalRecords } from "../../records/internal-records.ts";

/**
 * Tracks when each access key was last used: in this process and, once stored, in other processes on the same store. The time is not part
 * of the key's object, so using a key changes no resourceVersion.
 */
export interface KeyActivity {
  /** Milliseconds since 1970; undefined for a key that was never used. */
  last(uid: string): number | undefined;
  /** Records a use at this moment. `everyMs` is how old the stored time may become, in milliseconds. */
  touch(uid: string, everyMs?: number): void;
  forget(uid: string): void;
  /** Stores the uses that are not stored yet. */
  flush(): Promise<void>;
  /** Stops following what other processes store. */
  stop(): void;
}

/** Options of {@link createKeyActivity}. */
export interface KeyActivityOptions {
  /** The uids of the keys that exist. Records of other keys are removed: they remain if a process ends right after it deletes a key. */
  readonly uids: () => ReadonlySet<string>;
  readonly records: InternalRecords;
  readonly clock: Pick<Clock, "now">;
  readonly logger: Logger;
}

/** How old the stored time of a use may become, in milliseconds. A crash loses the uses since then. */
export const STORED_EVERY_MS = 60_000;
const KIND = "KeyActivity";

/**
 * Reads the stored activity, and follows its changes.
 *
 * @example
 * const activity = await createKeyActivity({ uids, records, clock, logger });
 * activity.touch(uid);
 */
export async function createKeyActivity({ uids, records, clock, logger }: KeyActivityOptions): Promise<KeyActivity> {
  const used = new Map<string, number>();
  const stored = new Map<string, number>();
  /** The last write of each key. The next one waits for it, so that an older time never replaces a newer one. */
  const writing = new Map<string, Promise<void>>();
  const enqueue = (uid: string, write: () => Promise<void>) => {
    const done = (writing.get(uid) ?? Promise.resolve()).then(write).finally(() => {
      if (writing.get(uid) === done) writing.delete(uid);
    });
    writing.set(uid, done);
  };
  const drop = (uid: string) =>
    enqueue(uid, async () => {
      try {
        await records.take(KIND, uid);
      } catch (error) {
        logger.warn("Cannot remove the record of an access key's use", { uid, error: messageOf(error) });
      }
    });
  const learn = (uid: string, ms: number) => {
    used.set(uid, Math.max(ms, used.get(uid) ?? 0));
    stored.set(uid, Math.max(ms, stored.get(uid) ?? 0));
  };
  const following = await records.follow(KIND, (uid, data) => {
    if (data !== undefined) return learn(uid, Number(data));
    used.delete(uid);
    stored.delete(uid);
  });
  const present = await records.list(KIND);
  // Read after the list, because a key is stored before its record.
  const known = uids();
  for (const { name, data } of present) {
    if (known.has(name)) learn(name, Number(data));
    else drop(name);
  }
  const store = (uid: string, ms: number) => {
    stored.set(uid, ms);
    enqueue(uid, async () => {
      try {
        await records.change(KIND, uid, (before = "0") => String(Math.max(ms, Number(before))));
      } catch (error) {
        if (stored.get(uid) === ms) stored.delete(uid);
        logger.warn("Cannot record when an access key was used", { uid, error: messageOf(error) });
      }
    });
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
      if (stored.delete(uid)) drop(uid);
    },
    async flush() {
      for (const [uid, ms] of used) if (stored.get(uid) !== ms) store(uid, ms);
      await Promise.all(writing.values());
    },
    stop: () => following.stop(),
  };
}
