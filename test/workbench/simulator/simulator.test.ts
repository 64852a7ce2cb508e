/** The engine under the simulator, and the simulator itself: what it cannot notice, it does not prove. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Operation } from "../../../src/engine/reconcile/plan-types.ts";
import { plan } from "../../../src/engine/reconcile/plan.ts";
import { createSyncCore } from "../../../src/engine/sync/core.ts";
import {
  ACTS,
  createSimulator,
  simulate,
  type CreateCore,
  type Planner,
  type Run,
  type SimulatedConfiguration,
  type Simulator,
} from "../../../src/testing.ts";

/** `npm run sim` runs as many as wanted; these are for every change. */
const SEEDS = 300;
/** Seeds within which a broken engine must be noticed here. */
const SEEDS_TO_NOTICE = 400;

let simulator: Simulator;
beforeAll(async () => void (simulator = await createSimulator()));
afterAll(() => simulator.dispose());

describe("the engine", () => {
  test(`keeps every promise in ${SEEDS} seeds`, async () => {
    const failed: string[] = [];
    const fired = new Set<string>();
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const run = await simulator.run(seed);
      for (const name of run.fired.keys()) fired.add(name);
      if (run.violation !== undefined) failed.push(`seed ${seed}: ${run.violation.oracle} ${run.violation.message}`);
    }
    expect(failed).toEqual([]);
    expect(ACTS.filter(({ name }) => !fired.has(name)).map(({ name }) => name)).toEqual([]);
  });
});

describe("a run", () => {
  test("happens the very same way again", async () => {
    for (const seed of [3, 14, 159]) {
      const [first, second] = [await simulator.run(seed), await simulator.run(seed)];
      expect(second.timeline).toEqual(first.timeline);
      expect(second.hash).toBe(first.hash);
    }
  });

  test("is replayed from what was recorded", async () => {
    const recorded = await simulator.run(26);
    expect((await simulator.replay(recorded)).hash).toBe(recorded.hash);
  });

  test("has the steps and replicas that it was asked for, and at least three kinds of fault", async () => {
    const run = await simulate({ seed: 5, steps: 400, replicas: 3 });
    expect(run.decisions).toHaveLength(400);
    expect(run.timeline.some((line) => line.includes("replica 2"))).toBe(true);
    const faults = new Set(ACTS.filter(({ kind }) => kind === "fault").map(({ name }) => name));
    const runs = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map((seed) => simulator.run(seed)));
    expect(Math.max(...runs.map(({ fired }) => [...fired.keys()].filter((name) => faults.has(name)).length))).toBeGreaterThanOrEqual(3);
  });
});

/** Every operation as it is but for some. */
function altered(change: (operation: Operation) => Operation | undefined): Planner {
  return (rules, input) => {
    const planned = plan(rules, input);
    return { ...planned, operations: planned.operations.flatMap((operation) => change(operation) ?? []) };
  };
}

/** A syncer that asks for something else than its plan says. */
function deaf(to: string): CreateCore {
  return (options) => {
    const core = createSyncCore(options);
    const begin: typeof core.begin = function* (id) {
      const turn = yield* core.begin(id);
      return {
        resource: turn.resource,
        get request() {
          return turn.request;
        },
        answer: (response) => turn.answer(response.type === to ? { type: "absent" } : response),
      };
    };
    return { ...core, begin };
  };
}

/** Settings in which one thing goes wrong more often than in the mix of all. */
const BRAKED: readonly SimulatedConfiguration[] = [{ name: "brake", configs: [{}], settings: { deleteBrake: { count: 1 } } }];
const REFERENCE = { path: 'metadata.annotations["example.com/secret"]', reference: { apiVersion: "v1", kind: "Secret" } };
const REFERRING: readonly SimulatedConfiguration[] = [
  { name: "references", configs: [{ sync: { toHost: { secrets: { enabled: true }, endpoints: { patches: [REFERENCE] } } } }] },
];

const BROKEN: readonly {
  why: string;
  oracles: readonly string[];
  planner?: Planner;
  createCore?: CreateCore;
  configurations?: readonly SimulatedConfiguration[];
}[] = [
  {
    why: "deletes on the word of a cache",
    oracles: ["S3"],
    planner: altered((operation) => (operation.action === "delete" ? { ...operation, confirm: "none" } : operation)),
  },
  {
    why: "deletes whatever stands there",
    oracles: ["S1", "S2", "S3"],
    planner: altered((operation) => (operation.action === "delete" ? { ...operation, preconditions: {} } : operation)),
  },
  { why: "has no fence", oracles: ["S4", "S7"], planner: (rules, input) => plan(rules, { ...input, sourceConfirmed: true }) },
  { why: "never deletes", oracles: ["L1", "L2"], planner: altered((operation) => (operation.action === "delete" ? undefined : operation)) },
  {
    why: "lets no edit flow",
    oracles: ["L1", "S7"],
    planner: altered((operation) => (operation.side === "tenant" ? undefined : operation)),
  },
  {
    why: "leaves copies in other places",
    oracles: ["L2"],
    planner: (rules, input) => plan(rules, { ...input, orphans: [] }),
    configurations: [{ name: "orphans", configs: [{}], orphans: true }],
  },
  { why: "says nothing", oracles: ["L6", "L1"], planner: (rules, input) => ({ ...plan(rules, input), notes: [] }) },
  { why: "takes a live source for an absent one", oracles: ["S3", "L5"], createCore: deaf("object") },
  {
    why: "has no delete brake",
    oracles: ["S9"],
    createCore: (options) => createSyncCore({ ...options, deleteBrake: { percent: 100, count: 1_000_000 } }),
    configurations: BRAKED,
  },
  {
    why: "brings no reference across",
    oracles: ["L1"],
    createCore: ({ references: _none, ...options }) => createSyncCore(options),
    configurations: REFERRING,
  },
];

describe("the simulator notices a syncer that", () => {
  test.each(BROKEN)("$why", async ({ oracles, why: _why, ...broken }) => {
    const failed = await firstFailure(broken);
    expect(oracles).toContain(failed?.violation?.oracle);
  });
});

async function firstFailure(broken: Parameters<typeof createSimulator>[0]): Promise<Run | undefined> {
  const wrong = await createSimulator(broken);
  try {
    for (let seed = 1; seed <= SEEDS_TO_NOTICE; seed += 1) {
      const run = await wrong.run(seed);
      if (run.violation !== undefined) return run;
    }
    return undefined;
  } finally {
    wrong.dispose();
  }
}

test("a failing run is shrunk to the few steps that matter, and breaks the same promise", async () => {
  const wrong = await createSimulator({ planner: BROKEN[0]!.planner! });
  let failed = await wrong.run(1);
  for (let seed = 2; failed.violation?.oracle !== "S3" && seed <= SEEDS_TO_NOTICE; seed += 1) failed = await wrong.run(seed);
  expect(failed.violation?.oracle).toBe("S3");
  const small = await wrong.shrink(failed);
  expect(small.violation?.oracle).toBe("S3");
  expect(small.decisions.length).toBeLessThanOrEqual(25);
  expect(small.decisions.length).toBeLessThan(failed.decisions.length);
  expect((await wrong.replay(small)).hash).toBe(small.hash);
  expect(small.timeline.some((line) => line.includes("delete by replica"))).toBe(true);
  wrong.dispose();
});

test("hooks of an embedder are run, and what they refuse is not written", async () => {
  const seen = new Set<string>();
  const refusing = await createSimulator({ hooks: { beforeWrite: ({ action }) => (seen.add(action), "refuse") } });
  const runs = await Promise.all([1, 2, 3, 4, 5].map((seed) => refusing.run(seed)));
  refusing.dispose();
  expect(seen).toContain("create");
  expect(runs.map(({ writes }) => writes)).toEqual([0, 0, 0, 0, 0]);
  expect(runs.map(({ violation }) => violation?.oracle)).toContain("L1");
});

test("a configuration that is wrong is refused with its place", async () => {
  const patches = [{ path: "metadata.labels", expression: "(" }];
  const wrong = createSimulator({ configurations: [{ name: "wrong", configs: [{ sync: { toHost: { endpoints: { patches } } } }] }] });
  await expect(wrong).rejects.toThrow("Cannot simulate the configuration");
});
