/**
 * Cache of engines by their input: creating one costs as much as several thousand tests.
 *
 * @module
 */
import { canonicalJson } from "../../base/json.ts";
import type { Config } from "../../engine/config/config.ts";
import type { Settings } from "../../engine/config/settings.ts";
import { createEngine, type Engine } from "../../engine/engine.ts";
import { SYNCED_KINDS } from "../../engine/kinds/synced-kinds.ts";
import type { SyncedKind } from "../../engine/reconcile/rules/rules.ts";
import { createSandbox, type Sandbox } from "../../engine/sandbox/sandbox.ts";
import type { VCluster } from "../../engine/translate/name.ts";
import { watchingLimits } from "../explain/explain.ts";

/** The input that an engine is created from. */
export interface EngineIngredients {
  readonly config: Config;
  readonly settings: Settings;
  readonly vcluster: VCluster;
}

/** Options shared by all engines of a cache. */
export interface EngineCacheOptions {
  /** The kinds that configurations can sync. Default: all that are synced. */
  readonly kinds?: readonly SyncedKind[];
}

/** Engines that several test files share. */
export interface EngineCache {
  /** The kinds that configurations can sync. */
  readonly kinds: readonly SyncedKind[];
  /**
   * The engine of this configuration; equivalent configurations share one engine.
   *
   * @throws EXPRESSION_FUEL when compiling the expressions takes more than `limits.configurationFuel`.
   */
  engineFor(ingredients: EngineIngredients): Promise<Engine>;
  /** A sandbox for expressions of the test file itself. */
  sandbox(): Promise<Sandbox>;
  /** A sandbox for tracing the expressions of an engine in this cache. */
  watchingSandbox(engine: Engine): Promise<Sandbox>;
  /** Frees all sandboxes; no engine in this cache can be used afterwards. */
  dispose(): void;
}

/**
 * Creates an empty cache of engines.
 *
 * @example
 * const engines = createEngineCache();
 * for (const file of files) await runSuite(file, { read, engines });
 * engines.dispose();
 */
export function createEngineCache({ kinds = SYNCED_KINDS }: EngineCacheOptions = {}): EngineCache {
  const engines = new Map<string, Promise<Engine>>();
  const watching = new Map<Engine, Promise<Sandbox>>();
  let sandbox: Promise<Sandbox> | undefined;
  const disposals: (() => void)[] = [];
  const kept = async <Made extends { dispose(): void }>(making: Promise<Made>): Promise<Made> => {
    const made = await making;
    disposals.push(() => made.dispose());
    return made;
  };
  return {
    kinds,
    engineFor(ingredients) {
      const key = canonicalJson(ingredients);
      const known = engines.get(key) ?? kept(createEngine({ ...ingredients, kinds }));
      engines.set(key, known);
      return known;
    },
    sandbox: () => (sandbox ??= kept(createSandbox())),
    watchingSandbox(engine) {
      const { settings, translator } = engine;
      const options = { limits: watchingLimits(settings.limits), toHostDns: (name: string) => translator.dns(name) };
      const known = watching.get(engine) ?? kept(createSandbox(options));
      watching.set(engine, known);
      return known;
    },
    dispose: () => disposals.forEach((dispose) => dispose()),
  };
}
