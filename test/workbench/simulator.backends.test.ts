/** The engine under faults where it writes slices alone, and both kinds. */
import { expect, test } from "vitest";
import { createSimulator } from "../../src/testing.ts";

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
