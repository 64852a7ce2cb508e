/**
 * A queue of keys for workers.
 *
 * Guarantees:
 * - A key waits at most once, and never runs twice at the same time. A key that is added while it runs waits again when it is done.
 * - Every key that was added is taken after its last add (unless the queue is shut down).
 * - Fresh keys are taken before background keys, but after sixteen fresh keys in a row, a background key is taken, so that a flood of
 *   changes does not starve the initial sync.
 * - If keys belong to flows, the flows share each priority: a flow with ten thousand keys delays the first key of another flow by only one
 *   key. Each flow is charged for the cost of its keys.
 * - Keys that are not waiting, delayed, running or failed use no memory.
 *
 * @module
 */
import { backoffDelay, type BackoffOptions } from "../../../base/backoff.ts";
import type { Clock, Timer } from "../../../base/clock.ts";
import { assert } from "../../../base/errors.ts";
import { noMetrics, type MetricLabels, type Metrics } from "../../../base/metrics.ts";
import { FairQueue } from "./fair-queue.ts";

/** `fresh`: something changed just now. `background`: initial sync and resync. */
export type Priority = "fresh" | "background";

const PRIORITIES = ["fresh", "background"] as const;

/** Number of fresh keys in a row after which a waiting background key is taken. */
export const FRESH_IN_A_ROW_MAX = 16;

/** The delays that client-go's controllers use: 5 ms × 2^n, at most 1000 s. */
const QUEUE_BACKOFF: BackoffOptions = { initialMs: 5, maximumMs: 1_000_000 };

/** Interval for updating the gauges of running work, in milliseconds, as in client-go. */
const RUNNING_INTERVAL_MS = 500;

/** How a queue is set up. */
export interface WorkQueueOptions {
  /** Label of its metrics. */
  readonly name: string;
  readonly clock: Clock;
  /** Returns a number in [0, 1), for the jitter of `backoff`. Needed only if `backoff` has jitter. */
  readonly random?: () => number;
  /** Delays of {@link WorkQueue.retry}. Default {@link QUEUE_BACKOFF}. */
  readonly backoff?: BackoffOptions;
  /** Returns the flow of a key. Flows share the workers fairly. Default: all keys belong to one flow. */
  readonly flowOf?: (key: string) => string;
  /**
   * Maximum number of keys of one flow that run at the same time, so that a flow whose keys take long leaves workers for others. Default:
   * all.
   */
  readonly runningMax?: number;
  readonly metrics?: Metrics;
}

/** How a key is added. */
export interface AddOptions {
  /** Default "fresh". A key that already waits in the background then moves up to "fresh". */
  readonly priority?: Priority;
  /** Delay in milliseconds. Of several delayed adds, the earliest one counts. Default 0. */
  readonly afterMs?: number;
}

/** A queue of keys for workers, with two priorities, delays and fair flows. */
export interface WorkQueue {
  add(key: string, options?: AddOptions): void;
  /** Counts a failure of `key`, and adds the key after `afterMs`; default: after its backoff. Returns the delay. */
  retry(key: string, afterMs?: number): number;
  /** Returns how often `key` has failed since its failures were last forgotten. */
  failures(key: string): number;
  /** Forgets the failures of `key`. */
  forget(key: string): void;
  /** Takes the next key, as soon as there is one; undefined when the queue is shut down. Call `done` for each key. */
  take(): Promise<string | undefined>;
  /** Ends the work on a key. `cost` is its cost relative to others, in any unit; default and least 1. */
  done(key: string, cost?: number): void;
  /** Hands out no keys until {@link WorkQueue.resume}. Keys are still added and wait. */
  pause(): void;
  resume(): void;
  /** Removes the waiting keys; with `delayed`, also the delayed ones. */
  dropWaiting(options?: { readonly delayed?: boolean }): void;
  /** Accepts no more keys, and removes delayed ones. Waiting keys are still handed out, unless `dropWaiting` is set. */
  shutDown(options?: { readonly dropWaiting?: boolean }): void;
  /** Number of waiting keys, without delayed ones. */
  readonly depth: number;
  /** Number of waiting and running keys, without delayed ones. */
  readonly underway: number;
  /** Number of entries for waiting, delayed, running and failed keys. For leak tests and metrics. */
  readonly remembered: number;
}

/**
 * Creates an empty queue.
 *
 * @example
 * const queue = createWorkQueue({ name: "endpoints", clock: systemClock });
 * queue.add("shop/db");
 * await queue.take(); // "shop/db"
 */
export function createWorkQueue(options: WorkQueueOptions): WorkQueue {
  return new KeyedQueue(options);
}

interface Running {
  readonly startedMs: number;
  readonly flow: string;
  readonly priority: Priority;
  /** The priority to wait in again, if the key was added while it ran. */
  again: Priority | undefined;
}

interface Delayed {
  readonly dueMs: number;
  readonly priority: Priority;
  readonly timer: Timer;
}

class KeyedQueue implements WorkQueue {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #backoff: BackoffOptions;
  /** Receives the metrics `workqueue_*`, named as in client-go and controller-runtime, for existing dashboards. */
  readonly #metrics: Metrics;
  readonly #labels: MetricLabels;
  readonly #depths: Readonly<Record<Priority, { readonly labels: MetricLabels; reported: number | undefined }>>;
  #measuring: Timer | undefined;
  /** Keys that wait, with the monotonic time of their add. A key waits in one priority at most, and never while it runs. */
  readonly #queues: Readonly<Record<Priority, FairQueue<number>>>;
  readonly #flowOf: (key: string) => string;
  readonly #runningMax: number;
  /** Number of running keys of each flow. */
  readonly #runningOf = new Map<string, number>();
  readonly #running = new Map<string, Running>();
  readonly #delayed = new Map<string, Delayed>();
  readonly #failures = new Map<string, number>();
  /** Workers that wait for a key. There are none while a key that may run is waiting, unless the queue is paused. */
  readonly #idle: ((key: string | undefined) => void)[] = [];
  #freshInARow = 0;
  #closed = false;
  #paused = false;

  constructor({ name, clock, metrics = noMetrics, ...options }: WorkQueueOptions) {
    const { random = () => 0, backoff = QUEUE_BACKOFF, flowOf = () => "", runningMax = Infinity } = options;
    this.#flowOf = flowOf;
    this.#runningMax = runningMax;
    this.#queues = { fresh: new FairQueue(flowOf), background: new FairQueue(flowOf) };
    this.#clock = clock;
    this.#random = random;
    this.#backoff = backoff;
    this.#metrics = metrics;
    const labels = { name, controller: name };
    this.#labels = labels;
    const depthOf = (priority: Priority) => ({ labels: { ...labels, priority }, reported: undefined });
    this.#depths = { fresh: depthOf("fresh"), background: depthOf("background") };
  }

  get depth(): number {
    return this.#queues.fresh.size + this.#queues.background.size;
  }

  get underway(): number {
    return this.depth + this.#running.size;
  }

  get remembered(): number {
    return this.underway + this.#delayed.size + this.#failures.size;
  }

  add(key: string, { priority = "fresh", afterMs = 0 }: AddOptions = {}): void {
    if (this.#closed) return;
    if (afterMs > 0) return this.#addLater(key, priority, afterMs);
    const running = this.#running.get(key);
    if (running !== undefined) {
      if (running.again === undefined) this.#metrics.count("workqueue_adds_total", this.#labels);
      if (running.again !== "fresh") running.again = priority;
      return;
    }
    if (this.#queues.fresh.has(key)) return;
    const since = this.#queues.background.has(key);
    if (since && priority === "background") return;
    if (!since) this.#metrics.count("workqueue_adds_total", this.#labels);
    const addedMs = since ? this.#queues.background.remove(key) : undefined;
    this.#queues[priority].push(key, addedMs ?? this.#clock.monotonic());
    this.#handOut();
  }

  /** Hands waiting keys to waiting workers. */
  #handOut(): void {
    while (!this.#paused && this.depth > 0 && this.#idle.length > 0) {
      const key = this.#start();
      if (key === undefined) break;
      this.#idle.shift()!(key);
    }
    this.#reportDepth();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#handOut();
  }

  #addLater(key: string, priority: Priority, afterMs: number): void {
    const dueMs = this.#clock.monotonic() + afterMs;
    const known = this.#delayed.get(key);
    if (known !== undefined && known.dueMs <= dueMs) return;
    known?.timer.cancel();
    const timer = this.#clock.schedule(afterMs, () => {
      this.#delayed.delete(key);
      this.add(key, { priority });
    });
    this.#delayed.set(key, { dueMs, priority, timer });
  }

  retry(key: string, afterMs?: number): number {
    const failures = this.failures(key);
    const delayMs = afterMs ?? backoffDelay(this.#backoff, failures, this.#random);
    if (this.#closed) return delayMs;
    this.#failures.set(key, failures + 1);
    this.#metrics.count("workqueue_retries_total", this.#labels);
    this.add(key, { afterMs: delayMs });
    return delayMs;
  }

  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  forget(key: string): void {
    this.#failures.delete(key);
  }

  take(): Promise<string | undefined> {
    const key = this.depth > 0 && !this.#paused ? this.#start() : undefined;
    if (key !== undefined) return Promise.resolve(key);
    // Keys that may not run yet are left to the workers that are busy with other keys of their flow.
    if (this.#closed) return Promise.resolve(undefined);
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /** Hands out the next key that may run, if there is one. */
  #start(): string | undefined {
    const { fresh, background } = this.#queues;
    const isFreshFirst = background.size === 0 ? fresh.size > 0 : fresh.size > 0 && this.#freshInARow < FRESH_IN_A_ROW_MAX;
    const first = isFreshFirst ? "fresh" : "background";
    return this.#startOf(first) ?? this.#startOf(first === "fresh" ? "background" : "fresh");
  }

  #startOf(priority: Priority): string | undefined {
    const next = this.#queues[priority].shift(this.#mayRun);
    if (next === undefined) return undefined;
    this.#freshInARow = priority === "fresh" ? this.#freshInARow + 1 : 0;
    const [key, addedMs] = next;
    const startedMs = this.#clock.monotonic();
    const flow = this.#flowOf(key);
    this.#running.set(key, { startedMs, flow, priority, again: undefined });
    this.#runningOf.set(flow, this.#runs(flow) + 1);
    this.#metrics.observe("workqueue_queue_duration_seconds", (startedMs - addedMs) / 1000, this.#labels);
    this.#measuring ??= this.#clock.schedule(RUNNING_INTERVAL_MS, this.#measureRunning);
    this.#reportDepth();
    return key;
  }

  readonly #mayRun = (flow: string): boolean => this.#runs(flow) < this.#runningMax;

  #runs(flow: string): number {
    return this.#runningOf.get(flow) ?? 0;
  }

  done(key: string, cost = 1): void {
    const running = this.#running.get(key);
    assert(running !== undefined, `done was called for ${JSON.stringify(key)}, which was not taken`);
    this.#running.delete(key);
    const left = this.#runs(running.flow) - 1;
    if (left > 0) this.#runningOf.set(running.flow, left);
    else this.#runningOf.delete(running.flow);
    this.#queues[running.priority].charge(running.flow, cost);
    this.#metrics.observe("workqueue_work_duration_seconds", (this.#clock.monotonic() - running.startedMs) / 1000, this.#labels);
    // This add was already counted.
    if (running.again !== undefined) this.#queues[running.again].push(key, this.#clock.monotonic());
    if (running.again !== undefined || left + 1 >= this.#runningMax) this.#handOut();
  }

  shutDown({ dropWaiting = false }: { readonly dropWaiting?: boolean } = {}): void {
    this.#closed = true;
    this.#dropDelayed();
    this.#failures.clear();
    if (dropWaiting) this.dropWaiting();
    for (const worker of this.#idle.splice(0)) worker(undefined);
  }

  dropWaiting({ delayed = false }: { readonly delayed?: boolean } = {}): void {
    if (delayed) this.#dropDelayed();
    this.#queues.fresh.clear();
    this.#queues.background.clear();
    for (const running of this.#running.values()) running.again = undefined;
    this.#reportDepth();
  }

  #dropDelayed(): void {
    for (const { timer } of this.#delayed.values()) timer.cancel();
    this.#delayed.clear();
  }

  #reportDepth(): void {
    for (const priority of PRIORITIES) {
      const depth = this.#queues[priority].size;
      const gauge = this.#depths[priority];
      // This runs several times for every key, and the depth is mostly unchanged.
      if (depth !== gauge.reported) this.#metrics.gauge("workqueue_depth", (gauge.reported = depth), gauge.labels);
    }
  }

  /** A worker that hangs takes and finishes nothing, so two gauges need a timer of their own while work is running. */
  readonly #measureRunning = (): void => {
    let [sum, longest] = [0, 0];
    for (const { startedMs } of this.#running.values()) {
      const age = (this.#clock.monotonic() - startedMs) / 1000;
      sum += age;
      longest = Math.max(longest, age);
    }
    this.#metrics.gauge("workqueue_unfinished_work_seconds", sum, this.#labels);
    this.#metrics.gauge("workqueue_longest_running_processor_seconds", longest, this.#labels);
    this.#measuring = this.#running.size === 0 ? undefined : this.#clock.schedule(RUNNING_INTERVAL_MS, this.#measureRunning);
  };
}
