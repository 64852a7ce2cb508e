import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createMetrics, DURATION_BUCKETS, noMetrics, type MetricLabels } from "../../src/base/metrics.ts";

/** Reads a page of the text format back; fails on any line that the format does not allow. */
function readPage(text: string): Map<string, number> {
  const all = text.split("\n");
  expect(all.pop()).toBe("");
  const lines = all.filter((line) => !/^# TYPE [a-zA-Z_:][a-zA-Z0-9_:]* (counter|gauge|histogram)$/.test(line));
  return new Map(
    lines.map((line) => {
      const match = /^([a-zA-Z_:][a-zA-Z0-9_:]*(?:\{(?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*",?)*\})?) (\S+)$/.exec(line);
      expect(match, line).not.toBeNull();
      return [match![1]!, Number(match![2]!.replace("Inf", "Infinity"))];
    }),
  );
}

describe("counters, gauges and durations", () => {
  test("are kept per name and labels", () => {
    const metrics = createMetrics();
    metrics.count("writes_total", { cluster: "host" });
    metrics.count("writes_total", { cluster: "host" }, 4);
    metrics.count("writes_total", { cluster: "tenant" });
    metrics.count("restarts_total");
    expect(metrics.value("writes_total", { cluster: "host" })).toBe(5);
    expect(metrics.value("writes_total", { cluster: "tenant" })).toBe(1);
    expect(metrics.value("writes_total")).toBe(0);
    expect(metrics.value("restarts_total")).toBe(1);
  });

  test("do not care for the order of labels", () => {
    const metrics = createMetrics();
    metrics.count("writes_total", { cluster: "host", verb: "create" });
    metrics.count("writes_total", { verb: "create", cluster: "host" });
    expect(metrics.value("writes_total", { cluster: "host", verb: "create" })).toBe(2);
  });

  test("are set, not added, as gauges", () => {
    const metrics = createMetrics();
    metrics.gauge("queue_depth", 7);
    metrics.gauge("queue_depth", 3);
    expect(metrics.value("queue_depth")).toBe(3);
  });

  test("are summed and counted as durations", () => {
    const metrics = createMetrics();
    metrics.observe("reconcile_seconds", 0.5, { kind: "Endpoints" });
    metrics.observe("reconcile_seconds", 0.25, { kind: "Endpoints" });
    expect(metrics.value("reconcile_seconds_sum", { kind: "Endpoints" })).toBe(0.75);
    expect(metrics.value("reconcile_seconds_count", { kind: "Endpoints" })).toBe(2);
  });
});

describe("the text form", () => {
  test("is empty before anything was recorded", () => {
    expect(createMetrics().text()).toBe("");
  });

  test("keeps the lines of one metric together, sorted", () => {
    const metrics = createMetrics();
    metrics.count("writes_total", { cluster: "host" });
    metrics.count("writes_total_failed");
    metrics.count("writes_total");
    metrics.count("reads_total", { cluster: "tenant", verb: "list" });
    metrics.count("reads_total", { cluster: "host", verb: "list" });
    expect(metrics.text()).toBe(
      [
        "# TYPE reads_total counter",
        'reads_total{cluster="host",verb="list"} 1',
        'reads_total{cluster="tenant",verb="list"} 1',
        "# TYPE writes_total counter",
        "writes_total 1",
        'writes_total{cluster="host"} 1',
        "# TYPE writes_total_failed counter",
        "writes_total_failed 1",
        "",
      ].join("\n"),
    );
  });

  test("counts a duration in its bucket and in all that are wider", () => {
    const metrics = createMetrics();
    for (const seconds of [0.0005, 0.3, 1000]) metrics.observe("lag_seconds", seconds, { kind: "Endpoints" });
    metrics.observe("other_seconds", 60);
    const page = readPage(metrics.text());
    const bucket = (le: string) => page.get(`lag_seconds_bucket{kind="Endpoints",le="${le}"}`);
    expect(DURATION_BUCKETS.map((bound) => bucket(String(bound)))).toEqual(DURATION_BUCKETS.map((bound) => (bound < 0.5 ? 1 : 2)));
    expect([bucket("+Inf"), page.get('lag_seconds_count{kind="Endpoints"}')]).toEqual([3, 3]);
    expect(page.get('lag_seconds_sum{kind="Endpoints"}')).toBeCloseTo(1000.3005);
    expect([page.get('other_seconds_bucket{le="30"}'), page.get('other_seconds_bucket{le="60"}')]).toEqual([0, 1]);
    expect(metrics.text().split("\n")[0]).toBe("# TYPE lag_seconds histogram");
  });

  test.each([
    { value: "host", want: "host", why: "a word stands as it is" },
    { value: 'a"b', want: String.raw`a\"b`, why: "quotes are escaped" },
    { value: "a\\nb", want: String.raw`a\\nb`, why: "backslashes are escaped" },
    { value: "a\nb", want: String.raw`a\nb`, why: "line ends are escaped" },
    { value: "a\tb", want: "a\tb", why: "tabs are not: the format has no escape for them" },
    { value: "ü\u001f", want: "ü\u001f", why: "nor is anything else" },
    { value: "", want: "", why: "an empty value is one" },
  ])("writes $want: $why", ({ value, want }) => {
    const metrics = createMetrics();
    metrics.count("writes_total", { cluster: value });
    expect(metrics.text()).toBe(`# TYPE writes_total counter\nwrites_total{cluster="${want}"} 1\n`);
  });

  test.each([
    [Infinity, "+Inf"],
    [-Infinity, "-Inf"],
    [NaN, "NaN"],
    [1e21, "1e+21"],
    [0.1, "0.1"],
  ])("writes the value %d as %s", (value, want) => {
    const metrics = createMetrics();
    metrics.gauge("lag_seconds", value);
    expect(metrics.text()).toBe(`# TYPE lag_seconds gauge\nlag_seconds ${want}\n`);
  });

  test("reads back with every value, whatever the labels hold", () => {
    const labels = fc.dictionary(fc.constantFrom("cluster", "verb", "kind"), fc.string({ unit: "binary", maxLength: 5 }));
    const records = fc.array(fc.record({ name: fc.constantFrom("a_total", "b_total"), labels, by: fc.nat(9) }), { maxLength: 8 });
    fc.assert(
      fc.property(records, (recorded) => {
        const metrics = createMetrics();
        for (const { name, labels, by } of recorded) metrics.count(name, labels, by);
        const page = readPage(metrics.text());
        expect([...page.values()].reduce((sum, value) => sum + value, 0)).toBe(recorded.reduce((sum, { by }) => sum + by, 0));
        expect(page.size).toBe(new Set(recorded.map(seriesOf)).size);
      }),
    );
  });
});

function seriesOf({ name, labels }: { name: string; labels: MetricLabels }): string {
  return JSON.stringify([name, Object.entries(labels).sort()]);
}

test("no metrics take everything and keep nothing", () => {
  expect([noMetrics.count("a"), noMetrics.gauge("a", 1), noMetrics.observe("a", 1)]).toEqual([undefined, undefined, undefined]);
});
