import type { Cost } from "./meter.ts";

/** Cost of one size of an input. */
export interface Sample extends Cost {
  readonly size: number;
}

/** The steepest growth of a series, by one measure. */
export interface Growth {
  readonly measure: keyof Cost;
  /** How many times as much twice the size costs, beyond what the smallest one costs. Of bytes: on average over some doublings. */
  readonly ratio: number;
  /** The doubled size. */
  readonly size: number;
  readonly allowed: number;
}

/** Twice the input may cost so many times as much. Sorting is a little more than linear. */
const STEPS_RATIO_MAX = 2.2;
/** The same of bytes, over several doublings: tables double when they are full, at some sizes and not at others. */
const BYTES_RATIO_MAX = 2.4;
const BYTES_DOUBLINGS = 4;

/** The same of CPU time: what no longer fits into the caches of a processor costs more each time. */
const CPU_RATIO_MAX = 2.6;

/** Less than so many times what the smallest size costs is no growth. */
const STEPS_FLOOR = 1;
/** Noise of the engine's own allocations. */
const BYTES_FLOOR = 2_000_000;
/** Milliseconds of CPU time that are noise. */
const CPU_FLOOR_MS = 20;

/**
 * The steepest growth by steps and bytes, or by CPU time if `cpu`. The first sample is of the smallest input there is; its cost is fixed, and counts in none.
 * Each further one is twice as large as the one before.
 */
export function steepest([smallest, ...rest]: readonly Sample[], cpu = false): readonly Growth[] {
  const floors: Cost = { steps: smallest!.steps * STEPS_FLOOR, bytes: BYTES_FLOOR, cpuMs: CPU_FLOOR_MS };
  const growthOf = (measure: keyof Cost, doublings: number, allowed: number): Growth => {
    const own = rest.map((sample) => Math.max(sample[measure] - smallest![measure], floors[measure]));
    const ratios = own.slice(doublings).map((cost, index) => ({ ratio: cost / own[index]!, size: rest[index + doublings]!.size }));
    const { ratio, size } = ratios.reduce((left, right) => (right.ratio > left.ratio ? right : left), { ratio: 1, size: smallest!.size });
    return { measure, ratio: ratio ** (1 / doublings), size, allowed };
  };
  if (cpu) return [growthOf("cpuMs", 1, CPU_RATIO_MAX)];
  return [growthOf("steps", 1, STEPS_RATIO_MAX), growthOf("bytes", Math.min(BYTES_DOUBLINGS, rest.length - 1), BYTES_RATIO_MAX)];
}
