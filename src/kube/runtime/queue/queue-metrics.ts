import type { Clock, Timer } from "../../../base/clock.ts";
import type { Metrics } from "../../../base/metrics.ts";
import type { Priority } from "./fifo.ts";

/** How often the gauges of running work are brought up to date, in milliseconds. client-go does it twice a second. */
const RUNNING_INTERVAL_MS = 500;

/** Metrics of a queue. */
export interface QueueMetricsOptions {
  /** Value of the labels `name` and `controller`. */
  readonly name: string;
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** Start of each key that a worker has now, in monotonic milliseconds. */
  readonly running: () => Iterable<number>;
}

/** Records a queue's life under the names that controller-runtime's dashboards expect. */
export interface QueueMetrics {
  added(): void;
  retried(): void;
  depth(priority: Priority, value: number): void;
  taken(waitedMs: number): void;
  finished(workedMs: number): void;
}

/**
 * Metrics `workqueue_*` as client-go and controller-runtime name them.
 *
 * @example
 * const recorder = createQueueMetrics({ name: "endpoints", clock, metrics, running: () => [] });
 * recorder.added(); // workqueue_adds_total{name="endpoints",controller="endpoints"} 1
 */
export function createQueueMetrics({ name, clock, metrics, running }: QueueMetricsOptions): QueueMetrics {
  const labels = { name, controller: name };
  const depths = new Map<Priority, number>();
  const priorityLabels = { fresh: { ...labels, priority: "fresh" }, background: { ...labels, priority: "background" } };
  let timer: Timer | undefined;

  // A worker that hangs takes and finishes nothing, so these two gauges need a timer of their own while work is running.
  function measureRunning(): void {
    const ages = [...running()].map((start) => (clock.monotonic() - start) / 1000);
    metrics.gauge("workqueue_unfinished_work_seconds", sum(ages), labels);
    metrics.gauge("workqueue_longest_running_processor_seconds", Math.max(0, ...ages), labels);
    timer = ages.length === 0 ? undefined : clock.schedule(RUNNING_INTERVAL_MS, measureRunning);
  }

  return {
    added: () => metrics.count("workqueue_adds_total", labels),
    retried: () => metrics.count("workqueue_retries_total", labels),
    depth(priority, value) {
      // Told several times for every key, mostly the same.
      if (depths.get(priority) === value) return;
      depths.set(priority, value);
      metrics.gauge("workqueue_depth", value, priorityLabels[priority]);
    },
    taken(waitedMs) {
      metrics.observe("workqueue_queue_duration_seconds", waitedMs / 1000, labels);
      timer ??= clock.schedule(RUNNING_INTERVAL_MS, measureRunning);
    },
    finished: (workedMs) => metrics.observe("workqueue_work_duration_seconds", workedMs / 1000, labels),
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
