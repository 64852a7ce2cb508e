import { run, type Decision, type Run, type RunOptions } from "./run.ts";

/** Maximum number of runs that a shrink tries, by default. */
const SHRINK_TRIES = 2_000;

/**
 * Finds a shorter run that breaks the same promise. It removes parts of the run, large ones first, as long as the promise is still
 * broken (delta debugging). Steps that depend on a removed part are skipped.
 */
export async function shrink(failed: Run, options: RunOptions, triesMax = SHRINK_TRIES): Promise<Run> {
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
