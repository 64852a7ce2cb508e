import type { KubeObject } from "../../../kube/object/types.ts";

/** One message of a watch. An error carries a Status. */
export interface WatchRecord {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: KubeObject | object;
}

/** Buffers records between the store and a reader that may be slower. */
export interface WatchQueue {
  /** Adds the record of an event at `revision`, or ends the watch when the reader is too far behind. */
  push(record: WatchRecord, revision: number): void;
  /** Waits for records and takes all of them; undefined when the watch has ended and the queue is empty. One call at a time. */
  take(): Promise<readonly WatchRecord[] | undefined>;
  /** Ends the watch after the queued records. */
  end(): void;
  /** Ends the watch at once: queued records are dropped in favor of one last record, if given. */
  cut(last?: WatchRecord): void;
  /**
   * Called when the history now starts at `oldest`, so that earlier events are in memory only for slow readers. If the reader has not yet
   * received such an event, the queued records are dropped, and the watch ends with the record `last`.
   */
  forget(oldest: number, last: () => WatchRecord): void;
  /** True once the watch has ended. */
  readonly ended: boolean;
}

/**
 * Creates a queue of at most `capacity` records. The watch of a reader that falls further behind ends, but the reader loses no event: it
 * receives the queued records before the stream ends, and can start a new watch after the last of them.
 */
export function createWatchQueue({ capacity, onEnd }: { readonly capacity: number; readonly onEnd: () => void }): WatchQueue {
  let waiting: WatchRecord[] = [];
  /** The records that were taken last and are being written. */
  let taken: WatchRecord[] = [];
  /** The revision of the first record in each of the two lists. */
  let [waitsFrom, takenFrom] = [Infinity, Infinity];
  let ended = false;
  let wake: (() => void) | undefined;
  const rouse = () => {
    wake?.();
    wake = undefined;
  };
  const end = () => {
    if (ended) return;
    ended = true;
    onEnd();
    rouse();
  };
  const cut = (last?: WatchRecord) => {
    waiting = last === undefined ? [] : [last];
    end();
  };
  return {
    push(record, revision) {
      if (ended) return;
      if (waiting.length >= capacity) return end();
      if (waiting.length === 0) waitsFrom = revision;
      waiting.push(record);
      rouse();
    },
    async take() {
      taken = [];
      if (waiting.length === 0 && !ended) await new Promise<void>((resolve) => (wake = resolve));
      if (waiting.length === 0) return undefined;
      [taken, takenFrom] = [waiting, waitsFrom];
      waiting = [];
      return taken;
    },
    end,
    cut,
    forget(oldest, last) {
      const from = taken.length > 0 ? takenFrom : waiting.length > 0 ? waitsFrom : Infinity;
      if (from >= oldest) return;
      // The writer iterates over this array and stops at its new end.
      taken.length = 0;
      cut(last());
    },
    get ended() {
      return ended;
    },
  };
}
