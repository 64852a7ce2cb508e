import { jsonSize } from "../../base/json.ts";
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

/** Characters of replaced and deleted objects that a history keeps, about; at most twice as many are in memory. */
export const HISTORY_CHARACTERS_MAX = 64 * 1024 * 1024;

/**
 * A window of at least `capacity` events that starts at state `start`; of fewer when what they replaced is larger than
 * {@link HISTORY_CHARACTERS_MAX}, so that nobody fills the memory by writing one large object again and again.
 *
 * @example
 * createHistory({ capacity: 100, start: 1 }).oldest(); // 1
 */
export function createHistory({ capacity, start }: { readonly capacity: number; readonly start: number }): History {
  let events: StoreEvent[] = [];
  let oldest = start;
  let characters = 0;
  const drop = (count: number) => {
    oldest = events[count - 1]!.revision;
    for (const event of events.slice(0, count)) characters -= replacedBy(event);
    events = events.slice(count);
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
    add(event) {
      events.push(event);
      characters += replacedBy(event);
      // Dropping half at once makes the cost of forgetting constant per event.
      if (events.length >= capacity * 2 && events.length > capacity) drop(events.length - capacity);
      if (characters < HISTORY_CHARACTERS_MAX * 2) return;
      let count = 0;
      for (let left = characters; left > HISTORY_CHARACTERS_MAX; count += 1) left -= replacedBy(events[count]!);
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
      characters = 0;
      oldest = revision;
    },
  };
}

/** What is in memory for the sake of an event alone. */
function replacedBy({ previous }: StoreEvent): number {
  return previous === undefined ? 0 : jsonSize(previous);
}
