import type { Chance } from "../../base/chance.ts";
import { delay, type Clock, type Timer } from "../../base/clock.ts";
import { isEngineError } from "../../base/errors.ts";
import { loggableMessage, silentLogger, withFields, type Logger } from "../../base/logger.ts";
import { noMetrics, type MetricLabels, type Metrics } from "../../base/metrics.ts";
import { decideRetry, Failures, type RetrySettings } from "./retry.ts";
import type { WorkQueue } from "./queue/work-queue.ts";

/** Result of a successful reconcile. */
export interface ReconcileResult {
  /** Reconcile the key again after this many milliseconds. */
  readonly requeueAfterMs?: number;
  /** Nothing was done yet, and the reconciler adds the key again once it can run. The earlier failures of the key are kept. */
  readonly waits?: true;
}

/** Context of one reconcile. */
export interface ReconcileContext {
  /** Aborts when the controller pauses or stops, or when the reconcile times out. */
  readonly signal: AbortSignal;
  /** Reports the cost of work, in milliseconds of the shared thread. The queue charges it to the key's flow. */
  charge(costMs: number): void;
  /** Adds the id of this reconcile to every line, as the field `reconcileID`. */
  readonly logger: Logger;
}

/** Brings one key to its desired state, based only on the current state. Throws if it fails. */
export type Reconcile = (key: string, context: ReconcileContext) => Promise<ReconcileResult | void>;

/** How a controller is set up. */
export interface ControllerOptions {
  /** Label of metrics and log lines. */
  readonly name: string;
  /** The queue of keys. The controller owns it: `stop` shuts it down. */
  readonly queue: WorkQueue;
  readonly reconcile: Reconcile;
  readonly clock: Clock;
  readonly chance: Chance;
  /** Maximum number of concurrent reconciles, without those that take more than a second. Default 10. */
  readonly workers?: number;
  /** Milliseconds after which a reconcile times out and its `signal` aborts. Default 2 min. */
  readonly reconcileTimeoutMs?: number;
  /** Delays by kind of failure. */
  readonly retry?: RetrySettings;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
}

/** Workers that reconcile the keys of a queue. */
export interface Controller {
  start(): void;
  /**
   * Hands out no more keys until {@link Controller.resume}, signals the running reconciles, and resolves when they are done. Keys,
   * including those of interrupted reconciles, wait in the meantime.
   */
  pause(): Promise<void>;
  resume(): void;
  /** Resolves when no key is waiting or being reconciled. Delayed keys do not count. */
  settled(): Promise<void>;
  /**
   * Hands out no more keys, and resolves when the running reconciles are done, or after `graceMs` (default 30 s) at the latest. Waiting
   * keys are dropped: the next leader finds them again from the state of the clusters.
   */
  stop(options?: { readonly graceMs?: number }): Promise<void>;
}

/**
 * Creates a controller that has not started. A reconcile that fails is tried again as `decideRetry` decides, and reported once: further
 * failures of the key with the same code are not reported until it succeeds.
 *
 * @example
 * const controller = createController({ name: "endpoints", queue, reconcile: async (key) => sync(key), clock, chance });
 * controller.start();
 */
export function createController(options: ControllerOptions): Controller {
  return new WorkerPool(options);
}

/** Delay of a key whose write was refused because this process does not lead, in milliseconds. */
const NOT_LEADING_RETRY_MS = 200;

/** A reconcile that takes longer, in milliseconds, has its worker replaced by another one until it ends. */
const SLOW_MS = 1_000;
/** Maximum number of replaced workers, as a multiple of the workers. */
const REPLACED_MAX = 10;

/** Results as in controller-runtime. `requeue` is the result of a reconcile that had to wait for another one. */
const RESULTS = ["success", "error", "requeue", "requeue_after"] as const;

/** Characters of a UUID: enough to tell the reconciles of one log apart. */
const ID_LENGTH = 8;

interface Failure {
  readonly key: string;
  readonly error: unknown;
  readonly failures: number;
  readonly afterMs: number;
}

/** One reconcile under way. */
class Run implements ReconcileContext {
  readonly logger: Logger;
  cost = 1;
  /** True if another worker now takes keys in place of this one. */
  isReplaced = false;
  /** The timer of the next time limit. */
  limit: Timer | undefined;
  #ending: AbortController | undefined;
  #isInterrupted = false;

  constructor(logger: Logger) {
    this.logger = logger;
  }

  /** Created on demand, because most reconciles end soon. */
  get signal(): AbortSignal {
    this.#ending ??= new AbortController();
    if (this.#isInterrupted) this.#ending.abort();
    return this.#ending.signal;
  }

  interrupt(): void {
    this.#isInterrupted = true;
    this.#ending?.abort();
  }

  readonly charge = (costMs: number): void => void (this.cost += costMs);
}

class WorkerPool implements Controller {
  readonly #options: ControllerOptions;
  readonly #logger: Logger;
  readonly #metrics: Metrics;
  readonly #labels: MetricLabels;
  readonly #resultLabels: Readonly<Record<(typeof RESULTS)[number], MetricLabels>>;
  /** True while the controller is paused or stopped. */
  #interrupted = false;
  readonly #runs = new Set<Run>();
  /** Called when no reconcile is running any more. */
  readonly #whenIdle: (() => void)[] = [];
  readonly #failures = new Failures();
  /** Called when a reconcile has ended. */
  readonly #whenDone: (() => void)[] = [];
  /** The code that was reported last for a key that has not succeeded since. */
  readonly #reported = new Map<string, string>();
  /** Workers that reconcile a key or wait for one. */
  readonly #workers = new Set<Promise<void>>();
  #started = false;
  #active = 0;
  /** Reconciles whose worker was replaced. */
  #slow = 0;

  constructor(options: ControllerOptions) {
    this.#options = options;
    this.#logger = options.logger ?? silentLogger;
    this.#metrics = options.metrics ?? noMetrics;
    this.#labels = { controller: options.name };
    const of = (result: string) => ({ ...this.#labels, result });
    this.#resultLabels = { success: of("success"), error: of("error"), requeue: of("requeue"), requeue_after: of("requeue_after") };
  }

  start(): void {
    if (this.#started) return;
    this.#started = true;
    const { name, workers = 10 } = this.#options;
    // Counters start at 0, so that the first event is visible as an increase.
    for (const result of RESULTS) this.#countResult(result, 0);
    this.#metrics.count("controller_runtime_reconcile_errors_total", { controller: name }, 0);
    this.#metrics.count("controller_runtime_reconcile_panics_total", { controller: name }, 0);
    this.#metrics.gauge("controller_runtime_max_concurrent_reconciles", workers, { controller: name });
    for (let index = 0; index < workers; index += 1) this.#addWorker();
  }

  #addWorker(): void {
    const worker = this.#work().finally(() => this.#workers.delete(worker));
    this.#workers.add(worker);
  }

  pause(): Promise<void> {
    this.#options.queue.pause();
    this.#interrupt();
    return this.#isIdle ? Promise.resolve() : new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  /** True if no key was handed out that is not done: a worker may have a key whose reconcile begins only in a moment. */
  get #isIdle(): boolean {
    const { queue } = this.#options;
    return queue.underway === queue.depth;
  }

  resume(): void {
    this.#interrupted = false;
    this.#options.queue.resume();
  }

  #interrupt(): void {
    this.#interrupted = true;
    for (const run of this.#runs) run.interrupt();
  }

  async settled(): Promise<void> {
    while (this.#options.queue.underway > 0) await new Promise<void>((resolve) => this.#whenDone.push(resolve));
  }

  async stop({ graceMs = 30_000 }: { readonly graceMs?: number } = {}): Promise<void> {
    const { queue, clock, name } = this.#options;
    this.#interrupt();
    queue.shutDown({ dropWaiting: true });
    const ended = new AbortController();
    const finished = Promise.all(this.#workers).then(() => ended.abort());
    await Promise.race([finished, delay(clock, graceMs, ended.signal)]);
    if (this.#active > 0) this.#logger.warn("Stopped with unfinished work", { controller: name, reconciles: this.#active });
  }

  async #work(): Promise<void> {
    const { name, queue, chance, clock, reconcile } = this.#options;
    const labels = () => ({ controller: name, reconcileID: chance.uuid().slice(0, ID_LENGTH) });
    for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
      const run = new Run(withFields(this.#logger, labels));
      const startedMs = clock.monotonic();
      this.#setActive(this.#active + 1);
      this.#runs.add(run);
      if (this.#interrupted) run.interrupt();
      this.#watch(run);
      try {
        this.#succeeded(key, await reconcile(key, run), run.logger);
      } catch (error) {
        this.#failed(key, error, run.logger);
      }
      run.limit?.cancel();
      this.#runs.delete(run);
      this.#setActive(this.#active - 1);
      this.#metrics.observe("controller_runtime_reconcile_time_seconds", (clock.monotonic() - startedMs) / 1000, this.#labels);
      queue.done(key, run.cost);
      if (this.#isIdle) for (const idle of this.#whenIdle.splice(0)) idle();
      if (this.#whenDone.length > 0) for (const done of this.#whenDone.splice(0)) done();
      if (!run.isReplaced) continue;
      this.#slow -= 1;
      return;
    }
  }

  /**
   * Replaces the worker of a slow reconcile, so that unresponsive namespaces cannot occupy all workers, and interrupts a reconcile that
   * takes too long. One timer serves both limits, because each reconcile needs its own.
   */
  #watch(run: Run): void {
    const { clock, reconcileTimeoutMs = 120_000 } = this.#options;
    const isSlowFirst = SLOW_MS <= reconcileTimeoutMs;
    run.limit = clock.schedule(Math.min(SLOW_MS, reconcileTimeoutMs), () => {
      run.limit = clock.schedule(Math.abs(reconcileTimeoutMs - SLOW_MS), () => (isSlowFirst ? this.#timeOut(run) : this.#replace(run)));
      if (isSlowFirst) this.#replace(run);
      else this.#timeOut(run);
    });
  }

  #replace(run: Run): void {
    const { workers = 10 } = this.#options;
    if (this.#slow >= REPLACED_MAX * workers || this.#interrupted) return;
    run.isReplaced = true;
    this.#slow += 1;
    this.#addWorker();
  }

  #timeOut(run: Run): void {
    this.#metrics.count("controller_runtime_reconcile_timeouts_total", { controller: this.#options.name });
    run.interrupt();
  }

  #succeeded(key: string, result: ReconcileResult | void, logger: Logger): void {
    const { queue } = this.#options;
    if (result?.waits === true) return this.#countResult("requeue");
    const afterMs = result?.requeueAfterMs;
    queue.forget(key);
    this.#failures.forget(key);
    if (this.#reported.delete(key)) logger.info("Reconcile recovered", { key });
    if (afterMs !== undefined) queue.add(key, { afterMs });
    this.#countResult(afterMs === undefined ? "success" : "requeue_after");
  }

  #failed(key: string, error: unknown, logger: Logger): void {
    const { name, queue, chance, retry = {} } = this.#options;
    // A key interrupted by a pause or stop has not failed. It waits, or the next start finds it again.
    if (this.#interrupted) return queue.add(key);
    // The deadline may pass before the timer that pauses this controller runs. Immediate retries would keep that timer from running.
    if (isEngineError(error, "LEADERSHIP_LOST")) return queue.add(key, { afterMs: NOT_LEADING_RETRY_MS });
    const failures = this.#failures.count(key, error);
    const { afterMs, terminal } = decideRetry({ error, failures, random: () => chance.fraction(), settings: retry });
    queue.retry(key, afterMs);
    this.#countResult("error");
    this.#metrics.count("controller_runtime_reconcile_errors_total", { controller: name });
    if (terminal) this.#metrics.count("controller_runtime_terminal_reconcile_errors_total", { controller: name });
    if (!isEngineError(error)) this.#metrics.count("controller_runtime_reconcile_panics_total", { controller: name });
    this.#report({ key, error, failures, afterMs }, logger);
  }

  #report({ key, error, failures, afterMs }: Failure, logger: Logger): void {
    const code = isEngineError(error) ? error.code : "INTERNAL";
    const fields = { key, code, error: loggableMessage(error), failures, retryMs: Math.round(afterMs) };
    if (this.#reported.get(key) === code) return logger.debug("Reconcile failed again", fields);
    this.#reported.set(key, code);
    const stack = code === "INTERNAL" && error instanceof Error ? { stack: error.stack } : {};
    logger.error("Reconcile failed", { ...fields, ...stack });
  }

  #countResult(result: (typeof RESULTS)[number], by = 1): void {
    this.#metrics.count("controller_runtime_reconcile_total", this.#resultLabels[result], by);
  }

  #setActive(active: number): void {
    this.#active = active;
    this.#metrics.gauge("controller_runtime_active_workers", active, this.#labels);
  }
}
