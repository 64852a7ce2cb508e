/**
 * A small bench harness. All cases of a group run interleaved in one process, round after round, each round in another order, and
 * are compared within a round: what slows the machine for a moment slows its neighbours too.
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
}

/** What a bench file exports: which question it answers, and the groups that do, built when asked for. */
export interface Bench {
  readonly question: string;
  readonly groups: () => readonly Group[] | Promise<readonly Group[]>;
}

/** How long to measure. */
export interface MeasureOptions {
  /** Rounds per group. Default 15. */
  readonly rounds?: number;
  /** Aim for the time of one case in one round, in milliseconds; 0 runs it once. Default 10. */
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

let kept: unknown;

/** Measures every case of a group. */
export async function measure(group: Group, { rounds = 15, sampleMs = 10 }: MeasureOptions = {}): Promise<Row[]> {
  const repeats = new Map<Case, number>();
  for (const item of group.cases) repeats.set(item, await calibrate(item, sampleMs));
  const samples = new Map<Case, number[]>(group.cases.map((item) => [item, []]));
  for (let round = 0; round < rounds; round++) {
    for (const item of rotated(group.cases, round)) samples.get(item)!.push((await time(item, repeats.get(item)!)) / repeats.get(item)!);
  }
  const baseline = group.cases.find(({ name }) => name === group.baseline);
  if (baseline === undefined) throw new Error(`Group "${group.title}" has no case "${group.baseline}"`);
  return group.cases.map((item) => toRow(item.name, samples.get(item)!, samples.get(baseline)!));
}

/** How often a case fits into `sampleMs`; running it to find out also warms it up. */
async function calibrate(item: Case, sampleMs: number): Promise<number> {
  if (sampleMs === 0) return 1;
  let repeats = 1;
  for (;;) {
    const elapsed = await time(item, repeats);
    if (elapsed >= sampleMs) return Math.max(1, Math.round((repeats * sampleMs) / elapsed));
    repeats *= 2;
  }
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

function toRow(name: string, samplesMs: readonly number[], baselineMs: readonly number[]): Row {
  const ratios = samplesMs.map((sample, round) => sample / baselineMs[round]!).sort((left, right) => left - right);
  const sorted = samplesMs.toSorted((left, right) => left - right);
  return { name, medianUs: middle(sorted) * 1000, ratio: middle(ratios), ratioLow: ratios[0]!, ratioHigh: ratios.at(-1)! };
}

function middle(sorted: readonly number[]): number {
  return sorted[sorted.length >> 1]!;
}

/** A group's results as a Markdown table. */
export function toMarkdown(group: Group, rows: readonly Row[]): string {
  const lines = rows.map(
    ({ name, medianUs, ratio, ratioLow, ratioHigh }) =>
      `| ${name} | ${digits(medianUs)} | ${digits(ratio)} | ${digits(ratioLow)} to ${digits(ratioHigh)} |`,
  );
  const head = `| ${group.title} | median, µs | × ${group.baseline} | lowest to highest |\n| --- | ---: | ---: | ---: |`;
  return [head, ...lines].join("\n");
}

function digits(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
