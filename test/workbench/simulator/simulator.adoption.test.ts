/** The engine after another syncer, whose copies it adopts; and what the simulator must notice of that. */
import { expect, test } from "vitest";
import { plan } from "../../../src/engine/reconcile/plan.ts";
import { ADOPTING, createSimulator, type Planner, type Run } from "../../../src/testing.ts";

const SEEDS = 100;

async function runs(planner?: Planner): Promise<readonly Run[]> {
  const simulator = await createSimulator({ configurations: ADOPTING, ...(planner && { planner }) });
  const all: Run[] = [];
  for (let seed = 1; seed <= SEEDS; seed += 1) all.push(await simulator.run(seed));
  simulator.dispose();
  return all;
}

function violations(all: readonly Run[]): readonly (string | undefined)[] {
  return all.flatMap(({ violation }) => (violation === undefined ? [] : [violation.oracle]));
}

/** Whose uid is written on a foreign copy does not matter to it. */
const adoptsEarlierLives: Planner = (rules, input) => {
  const { host, tenant } = input;
  const key = `${rules.adopt}object-uid`;
  if (host?.metadata.annotations?.[key] === undefined || tenant === undefined) return plan(rules, input);
  const annotations = { ...host.metadata.annotations, [key]: tenant.metadata.uid! };
  return plan(rules, { ...input, host: { ...host, metadata: { ...host.metadata, annotations } } });
};

const adoptsNothing: Planner = ({ adopt: _none, ...rules }, input) => plan(rules, input);

test(`the engine keeps every promise in ${SEEDS} seeds, and there is something to adopt`, async () => {
  const all = await runs();
  expect(violations(all)).toEqual([]);
  expect(all.some(({ timeline }) => timeline.some((line) => line.includes("another syncer makes")))).toBe(true);
});

test("the simulator notices a syncer that adopts nothing", async () => {
  expect(violations(await runs(adoptsNothing))).toContain("L1");
});

test("the simulator notices a syncer that adopts copies of earlier lives", async () => {
  expect(violations(await runs(adoptsEarlierLives))).toContain("S1");
});
