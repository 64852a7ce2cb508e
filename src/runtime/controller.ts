import type { Chance } from "../base/chance.ts";
import { delay, type Clock } from "../base/clock.ts";
import { isEngineError, messageOf } from "../base/errors.ts";
import { silentLogger, type Logger } from "../base/logger.ts";
import { noMetrics, type Metrics } from "../base/metrics.ts";
import { decideRetry, type RetrySettings } from "./retry.ts";
import type { WorkQueue } from "./work-queue.ts";

/** What a reconcile that went well asks for. */
export interface ReconcileResult {
  /** Reconcile the key again after this many milliseconds. */
  readonly requeueAfterMs?: number;
}

/**
 * Brings one key to its wanted state, from current state only. `signal` ends when the controller stops or the time is up.
 * A failure is thrown.
 */
export type Reconcile = (key: string, signal: AbortSignal) => Promise<ReconcileResult | void>;

/** How a controller is set up. */
export interface ControllerOptions {
  /** Label of metrics and log lines. */
  readonly name: string;
  /** The controller takes it over: `stop` shuts it down. */
  readonly queue: WorkQueue;
  readonly reconcile: Reconcile;
  readonly clock: Clock;
  readonly chance: Chance;
  /** Keys reconciled at the same time. Default 10. */
  readonly workers?: number;
  /** `signal` ends after this many milliseconds of one reconcile. Default 2 min. */
  readonly reconcileTimeoutMs?: number;
  /** Delays by kind of failure. */
  readonly retry?: RetrySettings;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
}

/** Workers over a queue. */
export interface Controller {
  start(): void;
  /**
   * Hands out no more keys and resolves when the reconciles that run are done, or after `graceMs` (default 30 s) at the latest.
   * Keys that wait are dropped: whoever starts next finds them again from the state of the clusters.
   */
  stop(options?: { readonly graceMs?: number }): Promise<void>;
}

/**
 * A controller that has not started. A reconcile that fails is tried again as `decideRetry` says and reported once: a key that
 * keeps failing with the same code is silent until it succeeds.
 *
 * @example
 * const controller = createController({ name: "endpoints", queue, reconcile: async (key) => sync(key), clock, chance });
 * controller.start();
 */
export function createController(options: ControllerOptions): Controller {
  return new WorkerPool(options);
}

class WorkerPool implements Controller {
  readonly #options: ControllerOptions;
  readonly #logger: Logger;
  readonly #metrics: Metrics;
  readonly #stopping = new AbortController();
  /** The code that was reported last for a key that has not succeeded since. */
  readonly #reported = new Map<string, string>();
  #workers: Promise<unknown> | undefined;
  #active = 0;

  constructor(options: ControllerOptions) {
    this.#options = options;
    this.#logger = options.logger ?? silentLogger;
    this.#metrics = options.metrics ?? noMetrics;
  }

  start(): void {
    if (this.#workers !== undefined) return;
    const { name, workers = 10 } = this.#options;
    this.#metrics.gauge("controller_runtime_max_concurrent_reconciles", workers, { controller: name });
    this.#workers = Promise.all(Array.from({ length: workers }, () => this.#work()));
  }

  async stop({ graceMs = 30_000 }: { readonly graceMs?: number } = {}): Promise<void> {
    const { queue, clock, name } = this.#options;
    this.#stopping.abort();
    queue.shutDown({ dropWaiting: true });
    const ended = new AbortController();
    const finished = Promise.resolve(this.#workers).then(() => ended.abort());
    await Promise.race([finished, delay(clock, graceMs, ended.signal)]);
    if (this.#active > 0) this.#logger.warn("Stopped with unfinished work", { controller: name, reconciles: this.#active });
  }

  async #work(): Promise<void> {
    const { queue } = this.#options;
    for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
      await this.#runOne(key);
      queue.done(key);
    }
  }

  /** Never throws. */
  async #runOne(key: string): Promise<void> {
    const { name, clock } = this.#options;
    const startedMs = clock.monotonic();
    this.#setActive(this.#active + 1);
    try {
      this.#succeeded(key, await this.#reconcile(key));
    } catch (error) {
      this.#failed(key, error);
    }
    this.#setActive(this.#active - 1);
    this.#metrics.observe("controller_runtime_reconcile_time_seconds", (clock.monotonic() - startedMs) / 1000, { controller: name });
  }

  async #reconcile(key: string): Promise<ReconcileResult | void> {
    const { name, clock, reconcile, reconcileTimeoutMs = 120_000 } = this.#options;
    const ending = new AbortController();
    const stop = () => ending.abort();
    this.#stopping.signal.addEventListener("abort", stop, { once: true });
    const timer = clock.schedule(reconcileTimeoutMs, () => {
      this.#metrics.count("controller_runtime_reconcile_timeouts_total", { controller: name });
      ending.abort();
    });
    try {
      return await reconcile(key, ending.signal);
    } finally {
      timer.cancel();
      this.#stopping.signal.removeEventListener("abort", stop);
    }
  }

  #succeeded(key: string, result: ReconcileResult | void): void {
    const { queue } = this.#options;
    const afterMs = result?.requeueAfterMs;
    queue.forget(key);
    if (this.#reported.delete(key)) this.#logger.info("Reconcile recovered", { controller: this.#options.name, key });
    if (afterMs !== undefined) queue.add(key, { afterMs });
    this.#countResult(afterMs === undefined ? "success" : "requeue_after");
  }

  #failed(key: string, error: unknown): void {
    // What a stop interrupts did not fail; the next start finds it again.
    if (this.#stopping.signal.aborted) return;
    const { name, queue, chance, retry = {} } = this.#options;
    const failures = queue.failures(key);
    const { afterMs, terminal } = decideRetry({ error, failures, random: () => chance.fraction(), settings: retry });
    queue.retry(key, afterMs);
    this.#countResult("error");
    this.#metrics.count("controller_runtime_reconcile_errors_total", { controller: name });
    if (terminal) this.#metrics.count("controller_runtime_terminal_reconcile_errors_total", { controller: name });
    if (!isEngineError(error)) this.#metrics.count("controller_runtime_reconcile_panics_total", { controller: name });
    this.#report({ key, error, failures, afterMs });
  }

  #report({ key, error, failures, afterMs }: { key: string; error: unknown; failures: number; afterMs: number }): void {
    const code = isEngineError(error) ? error.code : "INTERNAL";
    const fields = { controller: this.#options.name, key, code, error: messageOf(error), failures, retryMs: Math.round(afterMs) };
    if (this.#reported.get(key) === code) return this.#logger.debug("Reconcile failed again", fields);
    this.#reported.set(key, code);
    const stack = code === "INTERNAL" && error instanceof Error ? { stack: error.stack } : {};
    this.#logger.error("Reconcile failed", { ...fields, ...stack });
  }

  #countResult(result: "success" | "error" | "requeue_after"): void {
    this.#metrics.count("controller_runtime_reconcile_total", { controller: this.#options.name, result });
  }

  #setActive(active: number): void {
    this.#active = active;
    this.#metrics.gauge("controller_runtime_active_workers", active, { controller: this.#options.name });
  }
}
