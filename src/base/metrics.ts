/** Values of a metric's labels. Never text that a tenant chooses. The object must not change; reusing it costs less. */
export type MetricLabels = Readonly<Record<string, string>>;

/** Records metrics. Where controller-runtime has the same metric, the name is the same. */
export interface Metrics {
  /** Adds `by` (default 1) to a counter. */
  count(name: string, labels?: MetricLabels, by?: number): void;
  /** Sets a gauge. */
  gauge(name: string, value: number, labels?: MetricLabels): void;
  /** Adds a measured duration in seconds to a histogram. */
  observe(name: string, seconds: number, labels?: MetricLabels): void;
  /** Registers a function that sets gauges just before they are read. The function must be quick and must not throw. */
  beforeRead(set: () => void): void;
}

/** Records nothing; the default of library functions. */
export const noMetrics: Metrics = { count() {}, gauge() {}, observe() {}, beforeRead() {} };

/** Upper bounds of the buckets of every histogram, in seconds: from half a millisecond to five minutes. */
export const DURATION_BUCKETS: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
];

/** Metrics kept in memory, with their text form for a scraper. */
export interface MetricsRegistry extends Metrics {
  /** Prometheus text format: families sorted by name, each with its type and, if there is one, its description. */
  text(): string;
  /** Current value of one series; 0 when nothing was recorded. Histograms have `…_sum` and `…_count`. */
  value(name: string, labels?: MetricLabels): number;
}

/**
 * Creates an empty registry. `help` describes metrics by their names; metrics without a description have no HELP line.
 *
 * @example
 * const metrics = createMetrics();
 * metrics.count("writes_total", { cluster: "host" });
 * metrics.text(); // '# TYPE writes_total counter\nwrites_total{cluster="host"} 1\n'
 */
export function createMetrics(help: Readonly<Record<string, string>> = {}): MetricsRegistry {
  const families = new Map<string, Family>();
  const setters: (() => void)[] = [];
  const at = (type: Family["type"], name: string, labels: MetricLabels): Series => {
    let family = families.get(name);
    if (family === undefined) families.set(name, (family = { type, series: new Map() }));
    const id = labelText(labels);
    let series = family.series.get(id);
    if (series === undefined) {
      series = { value: 0, count: 0, buckets: type === "histogram" ? DURATION_BUCKETS.map(() => 0) : [] };
      family.series.set(id, series);
    }
    return series;
  };
  const find = (name: string, labels: MetricLabels) => families.get(name)?.series.get(labelText(labels));
  return {
    count: (name, labels = NO_LABELS, by = 1) => void (at("counter", name, labels).value += by),
    gauge: (name, value, labels = NO_LABELS) => void (at("gauge", name, labels).value = value),
    observe(name, seconds, labels = NO_LABELS) {
      const series = at("histogram", name, labels);
      series.value += seconds;
      series.count += 1;
      let bucket = 0;
      while (bucket < DURATION_BUCKETS.length && !(seconds <= DURATION_BUCKETS[bucket]!)) bucket += 1;
      if (bucket < DURATION_BUCKETS.length) series.buckets[bucket]! += 1;
    },
    beforeRead: (set) => void setters.push(set),
    text() {
      for (const set of setters) set();
      return [...families]
        .sort(([left], [right]) => compare(left, right))
        .flatMap(([name, family]) => [...helpLines(name, help), `# TYPE ${name} ${family.type}\n`, ...linesOf(name, family)])
        .join("");
    },
    value(name, labels = {}) {
      const [, base = "", part] = /^(.*)_(sum|count)$/.exec(name) ?? [];
      const measured = part !== undefined && families.get(base)?.type === "histogram" ? find(base, labels) : undefined;
      if (measured !== undefined) return part === "sum" ? measured.value : measured.count;
      return find(name, labels)?.value ?? 0;
    },
  };
}

const NO_LABELS: MetricLabels = {};

/** All series with one name. */
interface Family {
  readonly type: "counter" | "gauge" | "histogram";
  /** By the text of the labels. */
  readonly series: Map<string, Series>;
}

/** The data of one set of labels. Only histograms use `count` and `buckets`; their `value` is the sum. */
interface Series {
  value: number;
  count: number;
  /** Counts by bucket; each value is in the first bucket that it fits. */
  readonly buckets: number[];
}

function helpLines(name: string, help: Readonly<Record<string, string>>): string[] {
  const meaning = Object.hasOwn(help, name) ? help[name] : undefined;
  return meaning === undefined
    ? []
    : [`# HELP ${name} ${meaning.replace(/[\\\n]/g, (character) => (character === "\n" ? "\\n" : "\\\\"))}\n`];
}

function linesOf(name: string, { type, series }: Family): string[] {
  const sorted = [...series].sort(([left], [right]) => compare(left, right));
  return sorted.flatMap(([labels, one]) => (type === "histogram" ? histogramLines(name, labels, one) : [line(name, labels, one.value)]));
}

function histogramLines(name: string, labels: string, { value, count, buckets }: Series): string[] {
  let below = 0;
  const bucket = (bound: string, total: number) => line(`${name}_bucket`, [labels, `le="${bound}"`].filter(Boolean).join(","), total);
  return [
    ...DURATION_BUCKETS.map((bound, index) => bucket(String(bound), (below += buckets[index]!))),
    bucket("+Inf", count),
    line(`${name}_sum`, labels, value),
    line(`${name}_count`, labels, count),
  ];
}

function line(name: string, labels: string, value: number): string {
  return `${name}${labels === "" ? "" : `{${labels}}`} ${sampleText(value)}\n`;
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Texts of label sets that callers keep and use repeatedly. */
const texts = new WeakMap<MetricLabels, string>();

function labelText(labels: MetricLabels): string {
  const known = texts.get(labels);
  if (known !== undefined) return known;
  const text = Object.keys(labels)
    .sort()
    .map((label) => `${label}="${escaped(labels[label]!)}"`)
    .join(",");
  texts.set(labels, text);
  return text;
}

const SPECIAL = /[\\"\n]/;

/** Escapes a value. The format has three escapes; a scraper refuses the whole page because of any other, such as JSON's `\t`. */
function escaped(value: string): string {
  if (!SPECIAL.test(value)) return value;
  return value.replace(/[\\"\n]/g, (character) => (character === "\n" ? "\\n" : `\\${character}`));
}

function sampleText(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value);
  return value > 0 ? "+Inf" : "-Inf";
}
