/** Watches of every sort while something is written: some never stop, some stop and resume, some begin in the past, over compactions. */
import { delay, systemClock } from "../../../src/base/clock.ts";
import type { Store } from "../../../src/apiserver/store/store.ts";
import { WRITTEN, WRITTEN_PART } from "./random-writes.ts";
import { StoreFollower } from "./store-follower.ts";
import type { Acknowledged, WatchHistory } from "./watch-checker.ts";
import { PATIENCE_MS } from "../../support/patience.ts";

/** The recorded watches. */
export interface RecordWatchesOptions {
  /** Of one history; those that watch take turns with them. */
  readonly stores: readonly Store[];
  /** Writes, and resolves when that is done; it tells of each write. */
  readonly write: (onAcknowledged: (one: Acknowledged) => void) => Promise<void>;
  /** Writes between two compactions. */
  readonly compactEvery: number;
  readonly fraction: () => number;
}

/** A history, and what has happened in it. */
export interface RecordedWatches {
  readonly history: WatchHistory;
  readonly compactions: number;
}

const LASTING = 3;
const FICKLE = 4;
const TICK_MS = 2;
/** A look at the past reaches back so many revisions at most. */
const PAST = 3_000;
/** Looks at the past that are kept. */
const LOOKS = 60;

/** Records until all is written and every watch has delivered it. */
export async function recordWatches({ stores, write, compactEvery, fraction }: RecordWatchesOptions): Promise<RecordedWatches> {
  const upTo = (limit: number) => Math.floor(fraction() * limit);
  const storeAt = (index: number) => stores[index % stores.length]!;
  const follower = (name: string, index: number, after = 0) =>
    new StoreFollower(name, { store: storeAt(index), prefix: index % 2 === 0 ? WRITTEN : WRITTEN_PART, after });
  const lasting = Array.from({ length: LASTING }, (_, index) => follower(`lasting ${index}`, index));
  const fickle = Array.from({ length: FICKLE }, (_, index) => follower(`fickle ${index}`, index));
  const looks: StoreFollower[] = [];
  const acknowledged: Acknowledged[] = [];
  for (const one of [...lasting, ...fickle]) await one.begin();

  let over = false;
  let compactions = 0;
  let compactedAt = 0;
  const writing = write((one) => void acknowledged.push(one)).finally(() => (over = true));
  while (!over) {
    await delay(systemClock, TICK_MS);
    if (acknowledged.length - compactedAt >= compactEvery) {
      compactedAt = acknowledged.length;
      compactions += 1;
      await storeAt(upTo(stores.length)).compact();
    }
    for (const one of lasting) if (!one.running) await one.begin();
    for (const one of lasting) if (upTo(10) === 0) one.bookmark();
    const one = fickle[upTo(FICKLE)]!;
    if (!one.running) await one.begin();
    else {
      if (upTo(2) === 0) one.bookmark();
      one.stop();
    }
    if (looks.length < LOOKS && upTo(10) === 0) {
      const last = acknowledged.at(-1)?.revision ?? 0;
      const look = follower(`look ${looks.length}`, looks.length, Math.max(0, last - upTo(PAST)));
      looks.push(look);
      await look.begin();
      look.bookmark();
      // From now on it gets the same events as the others.
      look.stop();
    }
  }
  await writing;

  const end = Math.max(...acknowledged.map(({ revision }) => revision ?? 0));
  for (const one of [...fickle, ...looks]) if (!one.running) await one.begin();
  const all = [...lasting, ...fickle, ...looks];
  const deadline = systemClock.monotonic() + PATIENCE_MS;
  for (const one of all) {
    for (one.bookmark(); one.position < end && systemClock.monotonic() < deadline; one.bookmark()) await delay(systemClock, TICK_MS);
    one.stop();
  }
  return { history: { acknowledged, watches: all.map(({ record }) => record), end }, compactions };
}
