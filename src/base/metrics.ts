/** Values of a metric's labels. Never text that a tenant chooses. */
export type MetricLabels = Readonly<Record<string, string>>;

/** Counts and measures. Names follow controller-runtime where it has one. */
export interface Metrics {
  /** Adds `by` (default 1) to a counter. */
  count(name: string, labels?: MetricLabels, by?: number): void;
  /** Sets a gauge. */
  gauge(name: string, value: number, labels?: MetricLabels): void;
  /** Adds a measured duration in seconds to a summary (`_sum` and `_count`). */
  observe(name: string, seconds: number, labels?: MetricLabels): void;
}

/** Forgets everything; the default of library functions. */
export const noMetrics: Metrics = { count() {}, gauge() {}, observe() {} };

/** Metrics kept in memory, with their text form for a scraper. */
export interface MetricsRegistry extends Metrics {
  /** Prometheus text format, sorted by name. */
  text(): string;
  /** Current value of one series; 0 when nothing was recorded. */
  value(name: string, labels?: MetricLabels): number;
}

/**
 * An empty registry.
 *
 * @example
 * const metrics = createMetrics();
 * metrics.count("writes_total", { cluster: "host" });
 * metrics.text(); // 'writes_total{cluster="host"} 1\n'
 */
export function createMetrics(): MetricsRegistry {
  const series = new Map<string, number>();
  const add = (name: string, labels: MetricLabels, by: number) => {
    const id = seriesId(name, labels);
    series.set(id, (series.get(id) ?? 0) + by);
  };
  return {
    count: (name, labels = {}, by = 1) => add(name, labels, by),
    gauge: (name, value, labels = {}) => void series.set(seriesId(name, labels), value),
    observe(name, seconds, labels = {}) {
      add(`${name}_sum`, labels, seconds);
      add(`${name}_count`, labels, 1);
    },
    text: () =>
      [...series]
        .sort(byId)
        .map(([id, value]) => `${id} ${value}\n`)
        .join(""),
    value: (name, labels = {}) => series.get(seriesId(name, labels)) ?? 0,
  };
}

function byId([left]: [string, number], [right]: [string, number]): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function seriesId(name: string, labels: MetricLabels): string {
  const text = Object.keys(labels)
    .sort()
    .map((label) => `${label}=${JSON.stringify(labels[label])}`);
  return text.length === 0 ? name : `${name}{${text.join(",")}}`;
}
