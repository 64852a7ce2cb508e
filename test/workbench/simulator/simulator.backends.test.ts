/** The engine under faults where it writes slices alone, and both kinds, and where an operator moves between them. */
import { expect, test } from "vitest";
import { ACTS, createSimulator, type SimulatedConfiguration } from "../../../src/testing.ts";

const SEEDS = 60;

test.each(["slices", "both"] as const)(`with backends: %s the engine keeps every promise in ${SEEDS} seeds`, async (backends) => {
  const simulator = await createSimulator({ configurations: [{ name: backends, configs: [{}], settings: { backends } }] });
  let copies = 0;
  let endpoints = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const { violation, timeline } = await simulator.run(seed);
    expect(violation, `seed ${seed}`).toBeUndefined();
    copies += timeline.filter((line) => /create host endpointslices/.test(line)).length;
    const asked = timeline.filter((line) => / (?:get|create|update|delete) (?:tenant|host) endpoints /.test(line)).length;
    if (backends === "slices") expect(asked, `seed ${seed}`).toBe(0);
    else endpoints += asked;
  }
  simulator.dispose();
  expect(copies).toBeGreaterThan(0);
  expect(endpoints > 0).toBe(backends === "both");
});

const CHANGING: SimulatedConfiguration = { name: "changing", configs: [{}], backends: ["auto", "endpoints", "both", "slices"] };

test(`where backends change on the way the engine keeps every promise in ${2 * SEEDS} seeds`, async () => {
  const simulator = await createSimulator({ configurations: [CHANGING] });
  const fired = new Map<string, number>();
  const lines: string[] = [];
  for (let seed = 1; seed <= 2 * SEEDS; seed += 1) {
    const run = await simulator.run(seed);
    expect(run.violation, `seed ${seed}`).toBeUndefined();
    for (const name of run.fired.keys()) fired.set(name, (fired.get(name) ?? 0) + 1);
    lines.push(...run.timeline);
  }
  simulator.dispose();
  // All of it is rare among all seeds, since few of them have such a configuration.
  for (const { name } of ACTS.filter((act) => act.name.startsWith("backends change") || act.name.includes("handed back")))
    expect(fired.get(name) ?? 0, name).toBeGreaterThan(SEEDS / 10);
  const changes = new Set(lines.flatMap((line) => /every replica (?:loads|starts with) backends: .*/.exec(line)?.[0] ?? []));
  expect([...changes].filter((change) => change.includes("loads") && change.includes("slices"))).toEqual([]);
  expect([...changes].filter((change) => change.includes("backends: slices")).length).toBeGreaterThan(1);
  // Six by a reload; by a restart all but the direct way to slices alone where those of Endpoints are left.
  expect(changes.size).toBeGreaterThan(15);
  // What was made waits for a mirror, and goes to it.
  expect(lines.some((line) => /hands back made slices: looks again/.test(line))).toBe(true);
  expect(lines.some((line) => /-[0-9a-f]{8}-0: delete by replica/.test(line))).toBe(true);
});

test("a configuration with a share leaves the seeds of all others as they are", async () => {
  const others = ["auto", "both"].map((backends) => ({ name: backends, configs: [{}], settings: { backends } }));
  const [before, after] = await Promise.all(
    [others, [...others, { ...CHANGING, share: 0.2 }]].map((configurations) => createSimulator({ configurations, steps: 40 })),
  );
  let taken = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const run = await after!.run(seed);
    if (run.setting === CHANGING.name) taken += 1;
    else expect(run.hash, `seed ${seed}`).toBe((await before!.run(seed)).hash);
  }
  before!.dispose();
  after!.dispose();
  expect(taken / SEEDS).toBeGreaterThan(0.05);
  expect(taken / SEEDS).toBeLessThan(0.4);
});
