/**
 * The laws of patches beside a sidecar at work: a warning for a pair that would never rest, at no one's expense.
 *
 * @module
 */
import { delay } from "../../base/clock.ts";
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { createEngine } from "../../engine.ts";
import type { LawReport, LawStep } from "../../testing/laws/check-laws.ts";
import type { LoadedConfiguration } from "../configuration.ts";
import type { Runtime } from "../followed-cluster.ts";

/** After the start there is other work to do first, in milliseconds. */
const START_MS = 5_000;
/** So long, and so many values, at a time; then everybody else has their turn for the pause. */
const SLICE_MS = 2;
const SLICE_VALUES = 10;
const PAUSE_MS = 20;

/** Values to try for each patch, and steps in which that must be done. */
const RUNS = 100;
const FUEL = 2_000_000;
/** No single evaluation may take longer than a millisecond or so; what needs more is left to `validate --laws`. */
const EVALUATION_FUEL = 100_000;

/** What the check needs of the sidecar. */
export interface LawWatchOptions {
  readonly runtime: Pick<Runtime, "clock" | "logger">;
  /** The sidecar does its work. */
  ready(): boolean;
}

/** Warns once of every pair that oscillates, some time after the sidecar is ready. Answers how to end it; never fails. */
export function watchLaws(loaded: LoadedConfiguration, options: LawWatchOptions): () => Promise<void> {
  const ended = new AbortController();
  const watch = isWorthwhile(loaded) ? watchUntil(loaded, { ...options, stop: ended.signal }) : Promise.resolve();
  return () => {
    ended.abort();
    return watch;
  };
}

/** A reference is the engine's own pair, and what has no way back can only answer its own result. */
function isWorthwhile({ config: { endpoints, services, endpointSlices } }: LoadedConfiguration): boolean {
  const patches = [endpoints, services, endpointSlices].flatMap((sync) => sync.patches);
  return patches.some(
    ({ expression, reverseExpression }) => reverseExpression !== undefined || expression?.includes("hostObject") === true,
  );
}

interface Stoppable extends LawWatchOptions {
  readonly stop: AbortSignal;
}

async function watchUntil(loaded: LoadedConfiguration, options: Stoppable): Promise<void> {
  const { clock, logger } = options.runtime;
  do await delay(clock, START_MS, options.stop);
  while (!options.stop.aborted && !options.ready());
  if (options.stop.aborted) return;
  try {
    await checkSlowly(loaded, options);
  } catch (error) {
    logger.debug("The laws of the patches could not be checked", { error: messageOf(error) });
  }
}

async function checkSlowly(loaded: LoadedConfiguration, { runtime: { clock, logger }, stop }: Stoppable): Promise<void> {
  // Loaded late, so that no start waits for it.
  const { formatLawSteps, lawChecks } = await import("../../testing/laws/check-laws.ts");
  const { limits } = loaded.settings;
  const settings = { ...loaded.settings, limits: { ...limits, fuel: Math.min(limits.fuel, EVALUATION_FUEL) } };
  const engine = await createEngine({ ...loaded, settings });
  try {
    const checks = lawChecks(engine, { runs: RUNS, fuel: FUEL, forgiveFuel: true });
    while (!stop.aborted) {
      const report = slice(checks, clock);
      if (report !== undefined) return tell(report, { logger, formatLawSteps });
      await delay(clock, PAUSE_MS, stop);
    }
  } finally {
    engine.dispose();
  }
}

/** A few values; the report after the last one. */
function slice(checks: Iterator<void, LawReport>, clock: Clock): LawReport | undefined {
  const until = clock.monotonic() + SLICE_MS;
  for (let values = 0; values < SLICE_VALUES && clock.monotonic() <= until; values += 1) {
    const step = checks.next();
    if (step.done === true) return step.value;
  }
  return undefined;
}

interface Telling {
  readonly logger: Runtime["logger"];
  readonly formatLawSteps: (steps: readonly LawStep[]) => string;
}

function tell({ pairs }: LawReport, { logger, formatLawSteps }: Telling): void {
  for (const { list, patch, path, verdict, counterExample } of pairs) {
    if (verdict !== "oscillates" || counterExample === undefined) continue;
    logger.warn("A patch never comes to rest: expression and reverseExpression change each other's results", {
      patch: `${list}.patches[${patch}]`,
      path,
      example: formatLawSteps(counterExample.steps),
      hint: "validate --laws tells more",
    });
  }
}
