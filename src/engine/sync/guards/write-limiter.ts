/**
 * Limits writes of one object without a new version of its source: two syncers that disagree, an expression that alternates because of its
 * own result, a webhook that reverts changes.
 *
 * Each version of the source pays for one write to the other side. Every further write counts, and so does every write to the source
 * itself, regardless of the process that created the version: otherwise, syncers that write to the source would justify each other's
 * writes. After a burst of such writes, the next ones wait, each twice as long as the previous one, until the object is at rest; then the
 * record is dropped.
 *
 * Objects that are made from one source, such as a copy of Endpoints and the slices of that copy, share one record: each version pays for
 * one write of each part, and the others count together.
 *
 * @module
 */
import type { Clock } from "../../../base/clock.ts";
import type { Logger } from "../../../base/logger.ts";
import type { Metrics } from "../../../base/metrics.ts";
import type { SlowedTimes } from "../../reconcile/machine.ts";

/** When writes are slowed. */
export interface WriteLimits {
  /** Number of unrequested writes that may happen within a minute. Default 10. */
  readonly writes?: number;
  /** The longest wait between two such writes after that, in minutes. Default 5. */
  readonly slowestMinutes?: number;
}

/** The copy itself, which is the default, or the slices that are made from it. */
export type WrittenPart = "copy" | "made";

/** How long writes of one object must wait, in milliseconds; 0 for not at all. */
export interface Restraint {
  /** A reconcile that writes to the copy only. */
  readonly writeWaitMs: number;
  /** A reconcile that writes to the source, too. */
  readonly flowWaitMs: number;
  /** While writes are slowed: when that began, and the latest time of the next write. */
  readonly slowed?: SlowedTimes;
}

/** Limits writes of one object without a new version of its source. */
export interface WriteLimiter {
  /** Returns the restraint for a reconcile that begins with this version of the source. */
  restraint(id: string, version: string, part?: WrittenPart): Restraint;
  /** Counts a write to the copy, made from this version of the source. */
  wrote(id: string, version: string, part?: WrittenPart): void;
  /** Counts a write to the source that created this version of it. */
  flowed(id: string, version: string): void;
  /** Records that a write waits. */
  held(id: string, part?: WrittenPart): void;
  /** Records that there is nothing to write. Returns the milliseconds after which a slowed object may have come to rest. */
  rests(id: string, part?: WrittenPart): number | undefined;
  /** Number of objects with remembered state. */
  readonly remembered: number;
}

/** Dependencies of a limiter. */
export interface WriteLimiterOptions {
  readonly clock: Clock;
  readonly limits: WriteLimits;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Window of the burst, in milliseconds; an object that needs no write for this time rests. */
const WINDOW_MS = 60_000;
const FIRST_WAIT_MS = 1_000;
/** Maximum wait of a source change that coincides with a pending host edit, in milliseconds. */
const ASKED_WAIT_MS = 1_000;

const FREE: Restraint = { writeWaitMs: 0, flowWaitMs: 0 };

interface Entry {
  /** The version of the source that each part was last written from. */
  readonly served: Partial<Record<WrittenPart, string>>;
  /** The version of the source that our last write to it created. */
  ours: string | undefined;
  /** Times of the writes that count. */
  times: readonly number[];
  /** Time of the last write of any kind. */
  lastMs: number;
  /** The wait after the last write; 0 while nothing is slowed. */
  waitMs: number;
  /** Since when writes are slowed. */
  sinceMs: number;
  /** Parts with a write that waits. */
  readonly held: Set<WrittenPart>;
}

/** Creates a write limiter. It remembers a few numbers per object that was written within the last minute, or that is slowed. */
export function createWriteLimiter(options: WriteLimiterOptions): WriteLimiter {
  return new CountingBrake(options);
}

class CountingBrake implements WriteLimiter {
  readonly #options: WriteLimiterOptions;
  readonly #writes: number;
  readonly #slowestMs: number;
  /** Objects that are not slowed, the least recently written first. */
  readonly #free = new Map<string, Entry>();
  readonly #slowed = new Map<string, Entry>();

  constructor(options: WriteLimiterOptions) {
    this.#options = options;
    const { writes = 10, slowestMinutes = 5 } = options.limits;
    this.#writes = writes;
    this.#slowestMs = slowestMinutes * 60_000;
    options.metrics.count("endpoint_sync_braked_writes_total", {}, 0);
    this.#setGauge();
  }

  get remembered(): number {
    this.#sweep();
    return this.#free.size + this.#slowed.size;
  }

  restraint(id: string, version: string, part: WrittenPart = "copy"): Restraint {
    const entry = this.#slowedNow(id);
    if (entry === undefined) return FREE;
    const { clock } = this.#options;
    const at = (monotonicMs: number) => clock.now() + monotonicMs - clock.monotonic();
    const slowed = { sinceMs: at(entry.sinceMs), untilMs: at(entry.lastMs + entry.waitMs) };
    const leftMs = (waitMs: number) => Math.max(0, entry.lastMs + waitMs - clock.monotonic());
    const isAsked = version !== entry.served[part] && version !== entry.ours;
    if (isAsked) return { writeWaitMs: 0, flowWaitMs: leftMs(Math.min(entry.waitMs, ASKED_WAIT_MS)), slowed };
    return { writeWaitMs: leftMs(entry.waitMs), flowWaitMs: leftMs(entry.waitMs), slowed };
  }

  wrote(id: string, version: string, part: WrittenPart = "copy"): void {
    const entry = this.#touch(id, part);
    const isAsked = version !== entry.served[part];
    entry.served[part] = version;
    if (!isAsked) this.#count(id, entry);
  }

  flowed(id: string, version: string): void {
    const entry = this.#touch(id, "copy");
    entry.ours = version;
    this.#count(id, entry);
  }

  held(id: string, part: WrittenPart = "copy"): void {
    this.#slowed.get(id)?.held.add(part);
    this.#options.metrics.count("endpoint_sync_braked_writes_total");
  }

  rests(id: string, part: WrittenPart = "copy"): number | undefined {
    this.#slowed.get(id)?.held.delete(part);
    const entry = this.#slowedNow(id);
    const restMs = entry && endMs(entry) - this.#options.clock.monotonic();
    // While a write of the other part waits, the object does not rest: that part is reconciled later, and checks this again.
    return restMs === undefined || restMs <= 0 ? undefined : restMs;
  }

  #touch(id: string, part: WrittenPart): Entry {
    this.#sweep();
    const slowed = this.#slowedNow(id);
    const entry = slowed ?? this.#free.get(id) ?? newEntry();
    entry.lastMs = this.#options.clock.monotonic();
    entry.held.delete(part);
    this.#free.delete(id);
    if (slowed === undefined) this.#free.set(id, entry);
    return entry;
  }

  #count(id: string, entry: Entry): void {
    const now = this.#options.clock.monotonic();
    if (entry.waitMs > 0) return void (entry.waitMs = Math.min(2 * entry.waitMs, this.#slowestMs));
    entry.times = [...entry.times.filter((time) => now - time < WINDOW_MS), now];
    if (entry.times.length < this.#writes) return;
    entry.waitMs = FIRST_WAIT_MS;
    entry.sinceMs = now;
    this.#free.delete(id);
    this.#slowed.set(id, entry);
    this.#setGauge();
    this.#options.logger.warn("Writes slowed", { id, writes: entry.times.length });
  }

  /** Entry of a slowed object, unless it has rested. */
  #slowedNow(id: string): Entry | undefined {
    const entry = this.#slowed.get(id);
    if (entry === undefined) return undefined;
    const now = this.#options.clock.monotonic();
    if (entry.held.size > 0 || now < endMs(entry)) return entry;
    this.#slowed.delete(id);
    this.#setGauge();
    this.#options.logger.info("Writes are no longer slowed", { id, afterMs: Math.round(now - entry.sinceMs) });
    return undefined;
  }

  #sweep(): void {
    const now = this.#options.clock.monotonic();
    for (const [id, entry] of this.#free) {
      if (now < endMs(entry)) return;
      this.#free.delete(id);
    }
  }

  #setGauge(): void {
    this.#options.metrics.gauge("endpoint_sync_braked_objects", this.#slowed.size);
  }
}

function newEntry(): Entry {
  return { served: {}, ours: undefined, times: [], lastMs: 0, waitMs: 0, sinceMs: 0, held: new Set() };
}

/** Returns the time at which an object has come to rest if it is not written again. */
function endMs({ lastMs, waitMs }: Entry): number {
  return lastMs + Math.max(waitMs, WINDOW_MS);
}
