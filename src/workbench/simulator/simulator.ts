/**
 * The simulator: two API servers in this process, two syncers between them, and faults of every kind, chosen by a seed.
 *
 * @module
 */
import { EngineError } from "../../base/errors.ts";
import type { BackendsMode } from "../../engine/config/backends-mode.ts";
import { resolveConfig } from "../../engine/config/config.ts";
import { resolveSettings } from "../../engine/config/settings.ts";
import { createEngine, type Engine } from "../../engine/engine.ts";
import { SYNCED_KINDS } from "../../engine/kinds/synced-kinds.ts";
import type { SyncedKind } from "../../engine/reconcile/rules/rules.ts";
import { formatProblem, type Problem } from "../../schema/problem.ts";
import { CONFIGURATIONS, type SimulatedConfiguration } from "./configurations.ts";
import type { Generation, Setting } from "./model/generation.ts";
import { run, type Run, type RunOptions, type Decision } from "./run.ts";

/** Options of {@link createSimulator}. */
export interface SimulatorOptions extends Omit<RunOptions, "seed" | "settings" | "decisions"> {
  /** The configurations to simulate; each seed uses one. Default: {@link CONFIGURATIONS}. */
  readonly configurations?: readonly SimulatedConfiguration[];
  /** The kinds that the configurations can sync. Default: all synced kinds. */
  readonly kinds?: readonly SyncedKind[];
}

/** Runs seeds, one after the other. */
export interface Simulator {
  run(seed: number): Promise<Run>;
  /** Repeats a recorded run exactly. */
  replay(recorded: Pick<Run, "seed" | "decisions">): Promise<Run>;
  /** The shortest run found that breaks the same promise as `failed`. */
  shrink(failed: Run): Promise<Run>;
  /** Frees the sandboxes. */
  dispose(): void;
}

const VCLUSTER = { name: "blue", namespace: "vc" };

/**
 * Creates a simulator: two API servers in this process, two syncers between them, and faults of every kind, chosen by a seed.
 *
 * @throws CONFIG_VALUE when a configuration is not valid.
 * @example
 * const simulator = await createSimulator({ steps: 500 });
 * const { violation, timeline } = await simulator.run(1);
 * simulator.dispose();
 */
export async function createSimulator({ configurations = CONFIGURATIONS, kinds, ...options }: SimulatorOptions = {}): Promise<Simulator> {
  const engines: Engine[] = [];
  const settings: Setting[] = [];
  for (const configuration of configurations) {
    const { name, configs, backends, restless, share, pods, orphans } = configuration;
    const asked = (backends ?? [undefined]).flatMap((mode) => configs.map((config) => ({ config, mode })));
    const own = await Promise.all(asked.map(({ config, mode }) => engineOf(config, withBackends(configuration, mode), kinds)));
    engines.push(...own);
    settings.push({ name, generations: own.map(generationOf), restless, share, pods, orphans, choosesBackends: backends !== undefined });
  }
  const all = { ...options, settings };
  return {
    run: (seed) => run({ ...all, seed }),
    replay: ({ seed, decisions }) => run({ ...all, seed, decisions }),
    shrink: (failed) => shrink(failed, { ...all, seed: failed.seed }),
    dispose: () => engines.forEach((engine) => engine.dispose()),
  };
}

function withBackends(configuration: SimulatedConfiguration, backends: BackendsMode | undefined): SimulatedConfiguration {
  return backends === undefined ? configuration : { ...configuration, settings: { ...configuration.settings, backends } };
}

function generationOf({ rules, references, backends, settings: { loopGuard, deleteBrake } }: Engine): Generation {
  return { rules, references, backends, loopGuard, deleteBrake };
}

async function engineOf(
  config: object,
  { settings: given = {}, services = "managed", adopt }: SimulatedConfiguration,
  kinds: readonly SyncedKind[] = SYNCED_KINDS,
): Promise<Engine> {
  const settings = resolveSettings(given);
  if (!settings.ok) throw invalid(settings.problems);
  const resolved = resolveConfig(config, { settings: settings.settings, vcluster: VCLUSTER, kinds });
  if (!resolved.ok) throw invalid(resolved.problems);
  return createEngine({
    config: resolved.config,
    settings: settings.settings,
    vcluster: VCLUSTER,
    services,
    kinds,
    ...(adopt && { adopt }),
  });
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
 * Runs one seed. To run many seeds, {@link createSimulator} is cheaper.
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

/** Maximum number of runs that a shrink tries, by default. */
const SHRINK_TRIES = 2_000;

/**
 * Finds a shorter run that breaks the same promise. It removes parts of the run, large ones first, as long as the promise is still
 * broken (delta debugging). Steps that depend on a removed part are skipped.
 */
async function shrink(failed: Run, options: RunOptions, triesMax = SHRINK_TRIES): Promise<Run> {
  let best = failed;
  let tries = 0;

  async function attempt(decisions: readonly Decision[]): Promise<boolean> {
    if (tries >= triesMax) return false;
    tries += 1;
    const again = await run({ ...options, seed: failed.seed, decisions });
    if (again.violation?.oracle !== failed.violation?.oracle || again.decisions.length >= best.decisions.length) return false;
    best = again;
    return true;
  }

  for (let size = Math.ceil(best.decisions.length / 2); size >= 1 && tries < triesMax;) {
    let smaller = false;
    // Start at the end, because later events depend on earlier ones.
    for (let end = best.decisions.length; end > 0; end -= size) {
      const start = Math.max(0, end - size);
      smaller = (await attempt([...best.decisions.slice(0, start), ...best.decisions.slice(end)])) || smaller;
    }
    if (size === 1 && !smaller) break;
    size = size === 1 ? 1 : Math.ceil(size / 2);
  }
  return best;
}
