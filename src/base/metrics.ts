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
  const series = new Map<string, Series>();
  const at = (name: string, labels: MetricLabels): Series => {
    const id = seriesId(name, labels);
    const known = series.get(id) ?? { name, id, value: 0 };
    series.set(id, known);
    return known;
  };
  return {
    count: (name, labels = {}, by = 1) => void (at(name, labels).value += by),
    gauge: (name, value, labels = {}) => void (at(name, labels).value = value),
    observe(name, seconds, labels = {}) {
      at(`${name}_sum`, labels).value += seconds;
      at(`${name}_count`, labels).value += 1;
    },
    text: () =>
      [...series.values()]
        .sort(bySeries)
        .map(({ id, value }) => `${id} ${sampleText(value)}\n`)
        .join(""),
    value: (name, labels = {}) => series.get(seriesId(name, labels))?.value ?? 0,
  };
}

/** One line of the text form. */
interface Series {
  readonly name: string;
  readonly id: string;
  value: number;
}

/** By name first: the lines of one metric must stand together, and "a_b" sorts between "a" and "a{". */
function bySeries(left: Series, right: Series): number {
  return compare(left.name, right.name) || compare(left.id, right.id);
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function seriesId(name: string, labels: MetricLabels): string {
  const text = Object.keys(labels)
    .sort()
    .map((label) => `${label}="${escaped(labels[label]!)}"`);
  return text.length === 0 ? name : `${name}{${text.join(",")}}`;
}

/** The format knows three escapes; a scraper refuses the whole page for another one, as JSON's `\t` would be. */
function escaped(value: string): string {
  return value.replace(/[\\"\n]/g, (character) => (character === "\n" ? "\\n" : `\\${character}`));
}

function sampleText(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value);
  return value > 0 ? "+Inf" : "-Inf";
}
