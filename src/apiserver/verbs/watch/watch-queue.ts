import type { KubeObject } from "../../../kube/object/types.ts";

/** One message of a watch. An error carries a Status. */
export interface WatchRecord {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: KubeObject | object;
}

/** Hands records from the store's pace to the reader's. */
export interface WatchQueue {
  /** Adds a record of the state `revision`, or ends the watch when the reader is too far behind. */
  push(record: WatchRecord, revision: number): void;
  /** Everything that waits, as soon as something does; undefined when the watch is over and read out. One call at a time. */
  take(): Promise<readonly WatchRecord[] | undefined>;
  /** Ends the watch after the queued records. */
  end(): void;
  /** Ends the watch at once: queued records are dropped in favor of one last record, if given. */
  cut(last?: WatchRecord): void;
  /**
   * Everything up to `oldest` is kept in memory for this reader alone. A reader that lags further loses the watch with its queued records,
   * and gets `last`.
   */
  forget(oldest: number, last: () => WatchRecord): void;
  /** True from the first end on. */
  readonly ended: boolean;
}

/**
 * Creates a queue of at most `capacity` records. The watch of a reader that falls further behind ends, but the reader loses no event: it
 * receives the queued records before the stream ends, and can start a new watch after the last of them.
 */
export function createWatchQueue({ capacity, onEnd }: { readonly capacity: number; readonly onEnd: () => void }): WatchQueue {
  let waiting: WatchRecord[] = [];
  /** Records taken last, which are being written. */
  let taken: WatchRecord[] = [];
  /** The states of which the first of each tell. */
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
      // Its writer finds its end.
      taken.length = 0;
      cut(last());
    },
    get ended() {
      return ended;
    },
  };
}
