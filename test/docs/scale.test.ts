/** The page about scale: its numbers follow from what was measured, by the formula that it explains. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { costOf, tablesOf, WORKLOAD, type Measured } from "../../bench/scale/formula.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(join(ROOT, file), "utf8");
const page = read("docs/scale.md");
const measured = JSON.parse(read("bench/scale/measured.json")) as Measured;

describe("docs/scale.md", () => {
  test("has the tables that follow from what was measured (npm run bench:scale -- --report writes them)", () => {
    expect(page).toContain(`<!-- measured -->\n\n${tablesOf(measured)}\n\n<!-- end of measured -->`);
  });

  test("takes the memory of a syncer from the page about performance", () => {
    const performance = read("docs/performance.md");
    const [small, large] = measured.syncer;
    expect(performance).toContain(`| memory (RSS), MB | 165, 172 | 142, 147 | ${small.rssMb}, 107 |`);
    expect(performance).toMatch(new RegExp(`^\\| restart with 10,000 Services and Endpoints: memory, MB.*\\| ${large.rssMb} \\|$`, "m"));
    expect([small.pairs, large.pairs]).toEqual([500, 10_000]);
  });

  test("says of a syncer's memory what the two sizes give", () => {
    const [small, large] = measured.syncer;
    const perThousand = ((large.rssMb - small.rssMb) / (large.pairs - small.pairs)) * 1_000;
    const base = small.rssMb - (perThousand * small.pairs) / 1_000;
    expect(page).toContain(`cost ${base.toFixed(0)} MB each, and every 1,000 additional Services add ${perThousand.toFixed(0)} MB`);
  });
});

describe("the formula", () => {
  const simple: Measured = {
    syncer: [
      { pairs: 0, rssMb: 100 },
      { pairs: 1_000, rssMb: 200 },
    ],
    server: [
      { watches: 0, rssMb: 50, eventCpuMs: 1 },
      { watches: 100, rssMb: 60, eventCpuMs: 2 },
    ],
    eventBytes: 1_000,
    pairBytes: 2_000,
    writeBytes: 500,
  };

  test("gives what can be reckoned by hand", () => {
    const cost = costOf(10, { pairs: 100, changesPerSecond: 0.5, renewSeconds: 2, keptSeconds: 100 }, simple);
    expect(cost).toEqual({
      clusters: 10,
      syncersGb: 1.1,
      hostWatches: 20,
      hostWritesPerSecond: 10,
      hostEventsPerSecond: 5,
      hostKbPerSecond: 5,
      // 10 × 100 × 2,000 bytes, and 10 writes a second for 100 s of 500 bytes
      etcdGb: 0.0025,
      serverGb: 0.052,
      fanOutMs: 1.2,
    });
  });

  test("grows with the number of clusters, but for the server's own share", () => {
    const [one, many] = [1, 10_000].map((clusters) => costOf(clusters, WORKLOAD, measured)) as [
      ReturnType<typeof costOf>,
      ReturnType<typeof costOf>,
    ];
    for (const of of ["syncersGb", "hostWatches", "hostWritesPerSecond", "hostEventsPerSecond", "hostKbPerSecond", "etcdGb"] as const) {
      expect(many[of] / one[of], of).toBeCloseTo(10_000, 3);
    }
    expect(many.serverGb / one.serverGb).toBeLessThan(10_000);
  });
});
