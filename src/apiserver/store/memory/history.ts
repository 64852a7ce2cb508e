import { heldBytes } from "../../../base/json.ts";
import type { StoredObject, StoreEvent } from "../store.ts";

/** The last events of a store, by revision. */
export interface History {
  /** Adds an event. @param bytes Memory of the previous state. Default: it is computed. */
  add(event: StoreEvent, bytes?: number): void;
  /** The oldest state in the history, which contains every event after it. */
  oldest(): number;
  /** The events with later revisions, in order. `revision` must not be older than {@link History.oldest}. */
  after(revision: number): readonly StoreEvent[];
  /** The differences between the present state and that at `revision`: by key, the object at that time, or undefined if there was none. */
  before(revision: number): ReadonlyMap<string, StoredObject | undefined>;
  /** Drops all events. `revision` is the present state. */
  clear(revision: number): void;
}

/** Limits of a history. */
export interface HistoryOptions {
  /** Number of events to keep; at most twice as many are in memory. */
  readonly capacity: number;
  /** Maximum memory for the replaced states, in bytes. Beyond it, half of them are dropped. */
  readonly bytesMax: number;
  /** The present state. */
  readonly start: number;
}

/**
 * Creates a history that starts at the state `start` and keeps at least `capacity` events. It keeps fewer events if the replaced states are
 * too large, so that no client can exhaust the memory by repeatedly writing a large object.
 *
 * @example
 * createHistory({ capacity: 100, bytesMax: 1_000_000, start: 1 }).oldest(); // 1
 */
export function createHistory({ capacity, bytesMax, start }: HistoryOptions): History {
  let events: StoreEvent[] = [];
  /** The memory of the state before each event. */
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
      // Dropping half at once keeps the cost per event constant.
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
      // Backwards, so that the earliest of several changes of a key determines the result.
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
