/**
 * Checks the patches of a running sidecar in the background, and warns about pairs that would never settle. Syncing does not wait for the
 * check.
 *
 * @module
 */
import { delay } from "../../base/clock.ts";
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { syncOf } from "../../engine/config/config.ts";
import { createEngine } from "../../engine/engine.ts";
import type { LawBreach, LawReport, LawStep } from "../../workbench/laws/check-laws.ts";
import type { LoadedConfiguration } from "../input/configuration.ts";
import type { Runtime } from "../input/followed-cluster.ts";

/** Delay after the start, in milliseconds, because other work comes first. */
const START_MS = 5_000;
/** Time and values per slice; then other work proceeds for the pause. */
const SLICE_MS = 2;
const SLICE_VALUES = 10;
const PAUSE_MS = 20;

/** Values to try for each patch, and the fuel for all of them. */
const RUNS = 100;
const FUEL = 2_000_000;
/** Maximum fuel of one evaluation, for about a millisecond. Longer ones are checked only by `validate --laws`. */
const EVALUATION_FUEL = 100_000;

/** Dependencies of the check. */
export interface LawWatchOptions {
  readonly runtime: Pick<Runtime, "clock" | "logger">;
  /** Reports whether the sidecar is ready. */
  ready(): boolean;
}

/** The check of the laws that runs along with a sidecar. */
export interface LawWatch {
  /** Checks a new configuration instead of the previous one, some time from now. */
  follow(loaded: LoadedConfiguration): void;
  stop(): Promise<void>;
}

/**
 * Checks the patches some time after the sidecar is ready, and after each new configuration. Warns once about every pair of expressions
 * that oscillates, and again only after the pair has changed. Never fails.
 */
export function watchLaws(loaded: LoadedConfiguration, options: LawWatchOptions): LawWatch {
  const told = new Set<string>();
  let ended = new AbortController();
  let work: Promise<unknown> = Promise.resolve();
  const follow = (next: LoadedConfiguration) => {
    ended.abort();
    ended = new AbortController();
    const { signal: stop } = ended;
    work = Promise.all([work, watchUntil(next, { ...options, stop, told })]);
  };
  follow(loaded);
  return {
    follow,
    async stop() {
      ended.abort();
      await work;
    },
  };
}

/** Reports whether a patch can oscillate: if it has a reverse expression, or if its expression can read its own result on the host. */
function isWorthwhile({ config, kinds }: LoadedConfiguration): boolean {
  const patches = kinds.flatMap((kind) => syncOf(config, kind).patches);
  return patches.some(
    ({ expression, reverseExpression }) => reverseExpression !== undefined || expression?.includes("hostObject") === true,
  );
}

interface Watching extends LawWatchOptions {
  readonly stop: AbortSignal;
  /** Breaches that were reported, by their texts. */
  readonly told: Set<string>;
}

async function watchUntil(loaded: LoadedConfiguration, options: Watching): Promise<void> {
  if (!isWorthwhile(loaded)) return options.told.clear();
  const { clock, logger } = options.runtime;
  while (!options.stop.aborted) {
    await delay(clock, START_MS, options.stop);
    if (options.ready()) break;
  }
  if (options.stop.aborted) return;
  try {
    await checkSlowly(loaded, options);
  } catch (error) {
    logger.debug("The patches could not be checked for oscillation", { error: messageOf(error) });
  }
}

async function checkSlowly(loaded: LoadedConfiguration, { runtime: { clock, logger }, stop, told }: Watching): Promise<void> {
  // Loaded late, so that no start waits for it.
  const { breachesOf, formatLawSteps, lawChecks } = await import("../../workbench/laws/check-laws.ts");
  const { limits } = loaded.settings;
  const settings = { ...loaded.settings, limits: { ...limits, fuel: Math.min(limits.fuel, EVALUATION_FUEL) } };
  const engine = await createEngine({ ...loaded, settings });
  try {
    const checks = lawChecks(engine, { runs: RUNS, fuel: FUEL, forgiveFuel: true });
    while (!stop.aborted) {
      const report = slice(checks, clock);
      if (report !== undefined) return tell(breachesOf(report), { loaded, logger, told, formatLawSteps });
      await delay(clock, PAUSE_MS, stop);
    }
  } finally {
    engine.dispose();
  }
}

/** Tries a few values. Returns the report after the last one. */
function slice(checks: Iterator<void, LawReport>, clock: Clock): LawReport | undefined {
  const until = clock.monotonic() + SLICE_MS;
  for (let values = 0; values < SLICE_VALUES && clock.monotonic() <= until; values += 1) {
    const step = checks.next();
    if (step.done === true) return step.value;
  }
  return undefined;
}

interface Telling {
  readonly loaded: LoadedConfiguration;
  readonly logger: Runtime["logger"];
  readonly told: Set<string>;
  readonly formatLawSteps: (steps: readonly LawStep[]) => string;
}

/** Reports new breaches, and forgets fixed ones, so that they are reported again if they come back. */
function tell(breaches: readonly LawBreach[], { loaded: { config }, logger, told, formatLawSteps }: Telling): void {
  const found = breaches
    .filter(({ verdict }) => verdict === "oscillates")
    .map((breach) => ({
      ...breach,
      texts: JSON.stringify(breach.patches.map((patch) => [breach.list, syncOf(config, { section: breach.list }).patches[patch]])),
    }));
  for (const { list, patches, paths, counterExample } of found.filter(({ texts }) => !told.has(texts))) {
    const what =
      patches.length === 1
        ? "A patch never settles: expression and reverseExpression change each other's results"
        : "Patches never settle together: they change each other's results";
    logger.warn(what, {
      patch: patches.map((patch) => `${list}.patches[${patch}]`).join(", "),
      path: paths.join(", "),
      example: formatLawSteps(counterExample.steps),
      hint: "validate --laws shows more details",
    });
  }
  told.clear();
  for (const { texts } of found) told.add(texts);
}
