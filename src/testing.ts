/**
 * The simulator: `endpoint-sync/testing`.
 *
 * @module
 */
import { EngineError } from "./base/errors.ts";
import { resolveConfig } from "./config/config.ts";
import { resolveSettings } from "./config/settings.ts";
import { createEngine } from "./engine.ts";
import type { Engine } from "./engine.ts";
import { formatProblem } from "./schema/problem.ts";
import type { Problem } from "./schema/problem.ts";
import { CONFIGURATIONS } from "./testing/simulator/configurations.ts";
import type { SimulatedConfiguration } from "./testing/simulator/configurations.ts";
import type { Generation, Setting } from "./testing/simulator/generation.ts";
import { run } from "./testing/simulator/run.ts";
import type { Run, RunOptions } from "./testing/simulator/run.ts";
import { shrink } from "./testing/simulator/shrink.ts";

export type { SimulatedConfiguration } from "./testing/simulator/configurations.ts";
export type { Violation } from "./testing/simulator/history.ts";
export type { Decision, Run } from "./testing/simulator/run.ts";
export type { CreateCore } from "./testing/simulator/replica.ts";
export type { Planner } from "./reconcile/machine.ts";
export { ADOPTING } from "./testing/simulator/configurations.ts";
export { ACTS } from "./testing/simulator/swarm.ts";

/** What is simulated. */
export interface SimulatorOptions extends Omit<RunOptions, "seed" | "settings" | "decisions"> {
  /** Default: {@link CONFIGURATIONS}, of which each seed takes one. */
  readonly configurations?: readonly SimulatedConfiguration[];
}

/** Runs seeds, one after the other. */
export interface Simulator {
  run(seed: number): Promise<Run>;
  /** The very same run again, from what was recorded. */
  replay(recorded: Run): Promise<Run>;
  /** The shortest run found that breaks the same promise as `failed`. */
  shrink(failed: Run): Promise<Run>;
  /** Frees the sandboxes. */
  dispose(): void;
}

const VCLUSTER = { name: "blue", namespace: "vc" };

/**
 * A simulator: two API servers in this process, two syncers between them, and everything that can go wrong, as a seed says.
 *
 * @throws CONFIG_VALUE when a configuration is not valid.
 * @example
 * const simulator = await createSimulator({ steps: 500 });
 * const { violation, timeline } = await simulator.run(1);
 * simulator.dispose();
 */
export async function createSimulator({ configurations = CONFIGURATIONS, ...options }: SimulatorOptions = {}): Promise<Simulator> {
  const engines: Engine[] = [];
  const settings: Setting[] = [];
  for (const configuration of configurations) {
    const own = await Promise.all(configuration.configs.map((config) => engineOf(config, configuration)));
    engines.push(...own);
    settings.push({ name: configuration.name, generations: own.map(generationOf) });
  }
  const all = { ...options, settings };
  return {
    run: (seed) => run({ ...all, seed }),
    replay: ({ seed, decisions }) => run({ ...all, seed, decisions }),
    shrink: (failed) => shrink(failed, { ...all, seed: failed.seed }),
    dispose: () => engines.forEach((engine) => engine.dispose()),
  };
}

function generationOf({ rules, references, settings: { loopGuard, deleteBrake } }: Engine): Generation {
  return { rules, references, loopGuard, deleteBrake };
}

async function engineOf(config: object, { settings: given = {}, services = "managed", adopt }: SimulatedConfiguration): Promise<Engine> {
  const settings = resolveSettings(given);
  if (!settings.ok) throw invalid(settings.problems);
  const resolved = resolveConfig(config, { settings: settings.settings, vcluster: VCLUSTER });
  if (!resolved.ok) throw invalid(resolved.problems);
  return createEngine({ config: resolved.config, settings: settings.settings, vcluster: VCLUSTER, services, ...(adopt && { adopt }) });
}

function invalid(problems: readonly Problem[]): EngineError {
  return new EngineError(
    "CONFIG_VALUE",
    `Cannot simulate the configuration: ${problems.map((problem) => formatProblem(problem)).join("; ")}`,
  );
}

/** One seed of a simulation. */
export interface SimulateOptions extends SimulatorOptions {
  readonly seed: number;
}

/**
 * Runs one seed. Many seeds are cheaper with {@link createSimulator}.
 *
 * @throws CONFIG_VALUE when a configuration is not valid.
 * @example
 * const { violation } = await simulate({ seed: 7 });
 */
export async function simulate({ seed, ...options }: SimulateOptions): Promise<Run> {
  const simulator = await createSimulator(options);
  try {
    return await simulator.run(seed);
  } finally {
    simulator.dispose();
  }
}
