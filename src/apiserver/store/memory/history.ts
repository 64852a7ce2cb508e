import { heldBytes } from "../../../base/json.ts";
import type { StoredObject, StoreEvent } from "../store.ts";

/** The last events of a store, by revision. */
export interface History {
  /** @param bytes Memory of the state before. Default: it is computed. */
  add(event: StoreEvent, bytes?: number): void;
  /** The oldest state in the history: every event after it is still here. */
  oldest(): number;
  /** Events of later revisions, in order. `revision` must not be older than {@link History.oldest}. */
  after(revision: number): readonly StoreEvent[];
  /** Differences to the state at `revision`: by key the object of that time, or undefined if there was none. */
  before(revision: number): ReadonlyMap<string, StoredObject | undefined>;
  /** Forgets everything up to `revision`, the present state. */
  clear(revision: number): void;
}

/** How much of the past is kept. */
export interface HistoryOptions {
  /** Events; at most twice as many are in memory. */
  readonly capacity: number;
  /** Maximum memory for the states before the events; beyond it, half is dropped. */
  readonly bytesMax: number;
  /** The present state. */
  readonly start: number;
}

/**
 * Creates a window of at least `capacity` events that starts at state `start`. It holds fewer events if the replaced states are too large, so
 * that no client can fill the memory by repeatedly writing one large object.
 *
 * @example
 * createHistory({ capacity: 100, bytesMax: 1_000_000, start: 1 }).oldest(); // 1
 */
export function createHistory({ capacity, bytesMax, start }: HistoryOptions): History {
  let events: StoreEvent[] = [];
  /** Of the state before each event. */
  let sizes: number[] = [];
  let oldest = start;
  let bytes = 0;
  const drop = (count: number) => {
    oldest = events[count - 1]!.revision;
    for (const size of sizes.slice(0, count)) bytes -= size;
    events = events.slice(count);
    sizes = sizes.slice(count);
  };
  const indexAfter = (revision: number) => {
    let low = 0;
    let high = events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (events[middle]!.revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return {
    add(event, size = heldBytes(event.previous)) {
      events.push(event);
      sizes.push(size);
      bytes += size;
      // Dropping half at once makes the cost of forgetting constant per event.
      if (events.length >= capacity * 2 && events.length > capacity) drop(events.length - capacity);
      if (bytes <= bytesMax) return;
      let count = 0;
      for (let left = bytes; left > bytesMax / 2; count += 1) left -= sizes[count]!;
      drop(count);
    },
    oldest: () => oldest,
    after: (revision) => events.slice(indexAfter(revision)),
    before(revision) {
      const past = new Map<string, StoredObject | undefined>();
      const first = indexAfter(revision);
      // Backwards, so that of several changes the earliest has the last word.
      for (let index = events.length - 1; index >= first; index -= 1) {
        const { key, previous } = events[index]!;
        past.set(key, previous && { key, object: previous, revision: Number(previous.metadata.resourceVersion) });
      }
      return past;
    },
    clear(revision) {
      events = [];
      sizes = [];
      bytes = 0;
      oldest = revision;
    },
  };
}
