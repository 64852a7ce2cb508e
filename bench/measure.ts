/**
 * A small bench harness. All cases of a group run interleaved in one process, round after round, each round in a different order, and are
 * compared within a round, so a short slowdown of the machine affects all of them.
 *
 * @module
 */

/** One way to do the work of a group. */
export interface Case {
  readonly name: string;
  /** Does the work once. Its result is kept, so that nothing is optimised away; a promise is awaited. */
  readonly run: () => unknown;
}

/** Several ways to do one work. */
export interface Group {
  readonly title: string;
  /** Name of the case that the others are compared with. */
  readonly baseline: string;
  readonly cases: readonly Case[];
  /** Name of the case that is this package's, for the plot. Default: the group is not plotted. */
  readonly ours?: string;
  /** Condition on the figures. Default: none. */
  readonly goals?: readonly Goal[];
}

/** A bound on the time of one case beside that of another. Where a case is missing, because its peer is, the goal is left out. */
export interface Goal {
  readonly of: string;
  readonly against: string;
  /** `of` takes at most so many times as long as `against`. */
  readonly atMost?: number;
  /** `of` is at least so many times as fast as `against`. */
  readonly atLeast?: number;
}

/** Exports of a bench file: the question it answers, and the groups that do, built on demand. */
export interface Bench {
  readonly question: string;
  readonly groups: () => readonly Group[] | Promise<readonly Group[]>;
  /** Ends what the groups have started. Default: nothing has to be ended. */
  readonly stop?: () => Promise<void>;
}

/** How long to measure. */
export interface MeasureOptions {
  /** Rounds per group. Default 15; fewer, but at least 5, where they would take longer than {@link GROUP_MS}. */
  readonly rounds?: number;
  /** Aim for the time of one sample, in milliseconds; 0 runs each case once. Default 4. */
  readonly sampleMs?: number;
}

/** The result of one case. */
export interface Row {
  readonly name: string;
  /** Median time of one run, in microseconds. */
  readonly medianUs: number;
  /** Median, lowest and highest of time / baseline's time, per round. */
  readonly ratio: number;
  readonly ratioLow: number;
  readonly ratioHigh: number;
}

/** The results of a group: data, so that they can come from another process. */
export interface Measured extends Omit<Group, "cases"> {
  /** Per case the time of one run in each round, in milliseconds. */
  readonly times: Readonly<Record<string, readonly number[]>>;
}

/** Samples of one case in one round, of which the shortest counts: other load only ever adds. */
const SAMPLES = 3;

/** A sample that takes as long as this is not taken again, in milliseconds. */
const LONG_MS = 500;

/** The longest that the rounds of one group aim for. */
const GROUP_MS = 20_000;

let kept: unknown;

/** Measures every case of a group. */
export async function measure({ cases, ...about }: Group, { rounds = 15, sampleMs = 4 }: MeasureOptions = {}): Promise<Measured> {
  const repeats = new Map<Case, number>();
  let roundMs = 0;
  for (const item of cases) {
    repeats.set(item, await calibrate(item, sampleMs));
    if (rounds > 1) roundMs += SAMPLES * (await time(item, repeats.get(item)!));
  }
  const affordable = Math.min(rounds, Math.max(5, Math.floor(GROUP_MS / roundMs)));
  const times: Record<string, number[]> = Object.fromEntries(cases.map(({ name }) => [name, []]));
  for (let round = 0; round < affordable; round++) {
    for (const item of rotated(cases, round)) times[item.name]!.push(await sample(item, repeats.get(item)!, rounds > 1 ? SAMPLES : 1));
  }
  return { ...about, times };
}

/** The rows of a group's table. */
export function rowsOf({ baseline, times }: Measured): Row[] {
  return Object.keys(times).map((name) => compare(name, times[name]!, times[baseline]!));
}

/** Median over the rounds of the time of one case divided by that of another; undefined where one of them is missing. */
export function ratioOf({ times }: Measured, of: string, against: string): number | undefined {
  const [own, other] = [times[of], times[against]];
  return own && other && compare(of, own, other).ratio;
}

/** How often a case fits into `sampleMs`; running it to find out also warms it up. */
async function calibrate(item: Case, sampleMs: number): Promise<number> {
  if (sampleMs === 0) return 1;
  let repeats = 1;
  for (;;) {
    let elapsed = await time(item, repeats);
    // Once more, for the machine may have been busy with something else.
    if (elapsed >= sampleMs) elapsed = Math.min(elapsed, await time(item, repeats));
    if (elapsed >= sampleMs) return Math.max(1, Math.round((repeats * sampleMs) / elapsed));
    repeats *= 2;
  }
}

/** Time of one run, in milliseconds. */
async function sample(item: Case, repeats: number, samples: number): Promise<number> {
  let shortest = await time(item, repeats);
  if (shortest < LONG_MS) for (let at = 1; at < samples; at++) shortest = Math.min(shortest, await time(item, repeats));
  return shortest / repeats;
}

async function time(item: Case, repeats: number): Promise<number> {
  const from = performance.now();
  for (let run = 0; run < repeats; run++) {
    kept = item.run();
    if (kept instanceof Promise) await kept;
  }
  return performance.now() - from;
}

function rotated<T>(items: readonly T[], by: number): T[] {
  const at = by % items.length;
  return [...items.slice(at), ...items.slice(0, at)];
}

function compare(name: string, samplesMs: readonly number[], baselineMs: readonly number[]): Row {
  const ratios = samplesMs.map((sample, round) => sample / baselineMs[round]!).sort((left, right) => left - right);
  const sorted = samplesMs.toSorted((left, right) => left - right);
  return { name, medianUs: middle(sorted) * 1000, ratio: middle(ratios), ratioLow: ratios[0]!, ratioHigh: ratios.at(-1)! };
}

function middle(sorted: readonly number[]): number {
  return sorted[sorted.length >> 1]!;
}

/** A figure with three digits, or all before the point. */
export function digits(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
