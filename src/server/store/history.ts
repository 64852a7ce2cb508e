import type { StoredObject, StoreEvent } from "./store.ts";

/** The last events of a store, by revision. */
export interface History {
  add(event: StoreEvent): void;
  /** The oldest state that can be told: every event after it is still here. */
  oldest(): number;
  /** Events of later revisions, in order. `revision` must not be older than {@link History.oldest}. */
  after(revision: number): readonly StoreEvent[];
  /** What was different at `revision`: by key the object of that time, or undefined if there was none. */
  before(revision: number): ReadonlyMap<string, StoredObject | undefined>;
  /** Forgets everything up to `revision`, the present state. */
  clear(revision: number): void;
}

/**
 * A window of at least `capacity` events that starts at state `start`.
 *
 * @example
 * createHistory({ capacity: 100, start: 1 }).oldest(); // 1
 */
export function createHistory({ capacity, start }: { readonly capacity: number; readonly start: number }): History {
  let events: StoreEvent[] = [];
  let oldest = start;
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
    add(event) {
      events.push(event);
      if (events.length < capacity * 2 || events.length <= capacity) return;
      // Dropping half at once makes the cost of forgetting constant per event.
      const dropped = events.length - capacity;
      oldest = events[dropped - 1]!.revision;
      events = events.slice(dropped);
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
      oldest = revision;
    },
  };
}
