/**
 * Runs seeds of the simulator one after the other until one fails, and prints what came of it as JSON:
 *
 *   node test/suites/mutants/seeds.ts --seeds 2000
 */
import { parseArgs } from "node:util";
import { createSimulator } from "../../../src/testing.ts";

/** The output. */
export interface SeedsReport {
  /** Seeds that were run. */
  readonly ran: number;
  /** Name of the oracle that the last of them failed, or "threw". */
  readonly oracle?: string;
  readonly message?: string;
}

// Stacks of errors that a simulated server answers are never read, and costly.
Error.stackTraceLimit = 0;

const { values } = parseArgs({ options: { seeds: { type: "string", default: "2000" } } });
console.log(JSON.stringify(await runSeeds(Number(values.seeds))));

/** One replica alone has no other to make up for what it forgets; two get in each other's way. */
async function runSeeds(seeds: number): Promise<SeedsReport> {
  const simulators = [await createSimulator({ replicas: 1 }), await createSimulator({ replicas: 2 })];
  try {
    for (let seed = 1; seed <= seeds; seed += 1) {
      const failure = await failureOf(() => simulators[seed % 2]!.run(seed));
      if (failure !== undefined) return { ran: seed, ...failure };
    }
    return { ran: seeds };
  } finally {
    for (const simulator of simulators) simulator.dispose();
  }
}

async function failureOf(run: () => ReturnType<Awaited<ReturnType<typeof createSimulator>>["run"]>) {
  try {
    const { violation } = await run();
    return violation && { oracle: violation.oracle, message: violation.message };
  } catch (error) {
    return { oracle: "threw", message: String(error) };
  }
}
