/**
 * `endpoint-sync/testing`: patches under test with matchers, patch test files, laws, and the simulator.
 *
 * @module
 */
import { readFile } from "node:fs/promises";
import { EngineError, messageOf } from "./base/errors.ts";
import { resolveConfig } from "./engine/config/config.ts";
import type { ConfigText } from "./engine/config/config.ts";
import type { BackendsMode } from "./engine/config/backends-mode.ts";
import { resolveSettings } from "./engine/config/settings.ts";
import { createEngine } from "./engine/engine.ts";
import type { Engine } from "./engine/engine.ts";
import { SYNCED_KINDS } from "./engine/kinds/synced-kinds.ts";
import type { PatchDefinition } from "./engine/patch/patch-definition.ts";
import type { SyncedKind } from "./engine/reconcile/rules/rules.ts";
import { formatProblem } from "./schema/problem.ts";
import type { Problem } from "./schema/problem.ts";
import { loadReadPatches } from "./workbench/in-code/load-patches.ts";
import type { LoadedPatches, PatchesOptions, PatchSource } from "./workbench/in-code/load-patches.ts";
import type { PatchUnderTest } from "./workbench/in-code/patch-under-test.ts";
import type { PatchListName } from "./workbench/laws/report.ts";
import { CONFIGURATIONS } from "./workbench/simulator/configurations.ts";
import type { SimulatedConfiguration } from "./workbench/simulator/configurations.ts";
import type { Generation, Setting } from "./workbench/simulator/model/generation.ts";
import { run } from "./workbench/simulator/run.ts";
import type { Run, RunOptions } from "./workbench/simulator/run.ts";
import { shrink } from "./workbench/simulator/shrink.ts";

export type { LoadedPatches, PatchesOptions, PatchSource } from "./workbench/in-code/load-patches.ts";
export { patchMatchers } from "./workbench/in-code/matchers.ts";
export type { CostOptions, MatcherResult, PatchMatchers } from "./workbench/in-code/matchers.ts";
export type { ContextOverrides, PatchRun, PatchRunOptions, PatchUnderTest } from "./workbench/in-code/patch-under-test.ts";
export { createEngineCache } from "./workbench/patch-tests/engines.ts";
export type { EngineCache } from "./workbench/patch-tests/engines.ts";
export { runSuite } from "./workbench/patch-tests/run-suite.ts";
export type { SuiteOptions } from "./workbench/patch-tests/run-suite.ts";
export type { GoldenWrite, SuiteResult, TestFailure, TestPlace, TestResult, Verdict } from "./workbench/asserts/results.ts";
export { checkLaws } from "./workbench/laws/check-laws.ts";
export type { LawOptions, LawReport, LawResult, PairReport, PairVerdict, PatchListName } from "./workbench/laws/check-laws.ts";

export type { SimulatedConfiguration } from "./workbench/simulator/configurations.ts";
export type { Violation } from "./workbench/simulator/model/history.ts";
export type { Decision, Run } from "./workbench/simulator/run.ts";
export type { CreateCore } from "./workbench/simulator/model/replica.ts";
export type { Planner } from "./engine/reconcile/plan.ts";
export { ADOPTING } from "./workbench/simulator/configurations.ts";
export { ACTS } from "./workbench/simulator/swarm.ts";

/** Options of {@link createSimulator}. */
export interface SimulatorOptions extends Omit<RunOptions, "seed" | "settings" | "decisions"> {
  /** Each seed uses one of these. Default: {@link CONFIGURATIONS}. */
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
    const { name, configs, backends, restless, share } = configuration;
    const asked = (backends ?? [undefined]).flatMap((mode) => configs.map((config) => ({ config, mode })));
    const own = await Promise.all(asked.map(({ config, mode }) => engineOf(config, withBackends(configuration, mode), kinds)));
    engines.push(...own);
    settings.push({ name, generations: own.map(generationOf), restless, share, choosesBackends: backends !== undefined });
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

/** Options of {@link loadPatch}: the patch, and how to load it. */
export type PatchOptions = PatchesOptions &
  (
    | { readonly patch: PatchDefinition }
    | (Extract<PatchSource, { config: unknown }> & {
        /** Path of the patch, as written in the configuration or in canonical form. Default: the configuration's only patch. */
        readonly path?: string;
        /** Position in its list, instead of `path`. */
        readonly index?: number;
        /** List that contains the patch. Default: the first list with such a patch, Endpoints first. */
        readonly list?: PatchListName;
      })
  );

/** A patch under test with a sandbox of its own. */
export interface LoadedPatch extends PatchUnderTest {
  /** Frees the sandbox; the patch cannot be used afterwards. */
  dispose(): void;
}

/**
 * Loads all patches of a configuration, or patches that are not in a file.
 *
 * @throws CONFIG_FILE when a file cannot be read; CONFIG_VALUE when configuration or settings are not valid.
 * @example
 * const patches = await loadPatches({ config: "vcluster.yaml" });
 * patches.patch("subsets[*].addresses[*].ip").toHost("10.0.0.1").value;
 * patches.dispose();
 */
export async function loadPatches(options: PatchSource & PatchesOptions): Promise<LoadedPatches> {
  const { settings = {}, vcluster = { name: "blue", namespace: "vc-blue" }, kinds } = options;
  return loadReadPatches({
    config: "patches" in options ? { sync: { toHost: { endpoints: { patches: options.patches } } } } : await readConfig(options.config),
    settings: typeof settings === "string" ? await readText(settings) : settings,
    vcluster,
    ...(kinds && { kinds }),
  });
}

async function readConfig(config: Extract<PatchSource, { config: unknown }>["config"]) {
  if (typeof config === "string") return [await readText(config)];
  return isNames(config) ? Promise.all(config.map(readText)) : config;
}

function isNames(config: readonly string[] | object): config is readonly string[] {
  return Array.isArray(config);
}

async function readText(file: string): Promise<ConfigText> {
  try {
    return { text: await readFile(file, "utf8"), file };
  } catch (error) {
    throw new EngineError("CONFIG_FILE", `Cannot read ${file}: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * Loads one patch. To load several patches of one configuration, {@link loadPatches} is cheaper.
 *
 * @throws CONFIG_FILE and CONFIG_VALUE as {@link loadPatches}; USAGE when there is no such patch, or when there are several and none is
 *   named.
 * @example
 * const patch = await loadPatch({ patch: { path: "metadata.labels.team", expression: 'context.vcluster.name + "-" + value' } });
 * patch.toHost("shop").value; // "blue-shop"
 * patch.dispose();
 */
export async function loadPatch(options: PatchOptions): Promise<LoadedPatch> {
  const patches = await loadPatches("patch" in options ? { ...options, patches: [options.patch] } : options);
  try {
    const patch = "patch" in options ? patches.all[0]! : choosePatch(patches, options);
    return { ...patch, dispose: () => patches.dispose() };
  } catch (error) {
    patches.dispose();
    throw error;
  }
}

function choosePatch(patches: LoadedPatches, { path, index, list }: Exclude<PatchOptions, { patch: unknown }>): PatchUnderTest {
  const place = path ?? index;
  if (place !== undefined) return patches.patch(place, list);
  const all = patches.all.filter((patch) => list === undefined || patch.list === list);
  const [only] = all;
  if (only !== undefined && all.length === 1) return only;
  throw new EngineError("USAGE", `Expected one patch, found ${all.length}; specify its path or index`);
}
