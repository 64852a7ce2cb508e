/**
 * Each dimension of what callers send to the management API, doubled from small to its limit, and what every size costs: blocks of code
 * that run and items that native methods walk over, and bytes that are allocated. No clock is asked.
 *
 *   npm run test:growth [-- --only TEXT] [--doublings 3] [--cpu]
 *
 * `--cpu` judges the CPU time of the process instead, which also knows WebAssembly, compression and cryptography: the last two doublings,
 * by the least of three times; twice the size may take 2.6 times as much. The exit code is 1 when twice the size costs more than 2.2 times as much, when a size below the limit is refused, or one beyond it is
 * taken. `--doublings` measures so many of the largest alone. Wired squares, which have to be found, come first.
 */
import { parseArgs } from "node:util";
import { hold, runCases } from "../outside/cases.ts";
import { steepest, type Sample } from "./judge.ts";
import { Meter } from "./meter.ts";
import type { Dimension } from "./dimension.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    doublings: { type: "string" },
    where: { type: "boolean", default: false },
    cpu: { type: "boolean", default: false },
  },
});
const { cpu } = values;
const doublings = Number(values.doublings ?? (cpu ? 2 : 100));
const meter = new Meter({ counts: !cpu });
// Measured code is compiled after the meter was made.
const { Ground } = await import("./ground.ts");
const { DIMENSIONS } = await import("./dimensions.ts");
const { stopSides } = await import("./two-sides.ts");
const { WIRED, WIRED_NATIVE } = await import("./squares.ts");
/** For dimensions that leave nothing behind. */
const shared = await Ground.start();

/** Number of places shown for a failing dimension. */
const DEAREST = 5;
/** Sizes of the wired squares. */
const WIRED_SIZES: readonly number[] = cpu ? [1, 128, 256, 512] : [1, 32, 64, 128, 256, 512, 1_024];

function sizesOf([smallest, first, largest]: Dimension["sizes"]): number[] {
  const doubled: number[] = [];
  for (let size = first; size <= largest; size *= 2) doubled.push(size);
  return [smallest, ...doubled.slice(-doublings - 1)];
}

/** How often a dimension is measured at most, if what it costs is too much. CPU time is noisy: three times at least. */
const TRIES = cpu ? 6 : 3;
const TRIES_MIN = cpu ? 3 : 1;

/**
 * Measures a dimension. What the same work costs depends on what the event loop happens to bundle, a little, so the least that a size
 * cost in a few tries is what it costs.
 */
async function measure(dimension: Dimension): Promise<string> {
  let least: readonly Sample[] = [];
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const samples = await measureOnce(dimension);
    least = samples.map((sample, index) => cheaper(sample, least[index] ?? sample));
    if (attempt + 1 >= TRIES_MIN && isRight(dimension, least)) break;
  }
  const told = textOf(dimension, least);
  if (isRight(dimension, least)) return told;
  const series = least.map(({ size, steps, bytes, cpuMs }) => `${size}: ${cpu ? cpuMs.toFixed(1) : `${steps}/${bytes}`}`).join(", ");
  throw new Error(`${told}; ${cpu ? "ms" : "steps/bytes"} by size: ${series}${await placesOf(dimension)}`);
}

function cheaper(left: Sample, right: Sample): Sample {
  const [steps, bytes, cpuMs] = (["steps", "bytes", "cpuMs"] as const).map((what) => Math.min(left[what], right[what]));
  return { size: left.size, steps: steps!, bytes: bytes!, cpuMs: cpuMs! };
}

/** On a ground of its own, if it leaves something behind. */
async function onGround<Result>(
  dimension: Dimension,
  work: (ground: Parameters<Dimension["work"]>[0]) => Promise<Result>,
): Promise<Result> {
  if (dimension.grow === undefined) return work(shared);
  const ground = await Ground.start();
  try {
    return await work(ground);
  } finally {
    await ground.stop();
  }
}

async function measureOnce(dimension: Dimension): Promise<readonly Sample[]> {
  const { answered, beyond, sizes } = dimension;
  return onGround(dimension, async (ground) => {
    const samples: Sample[] = [];
    let before = 0;
    for (const size of sizesOf(sizes)) {
      await dimension.grow?.(ground, size, before);
      before = size;
      const work = await dimension.work(ground, size);
      // The very first time also pays for what is made once. Further sizes are new to whatever remembers texts.
      if (samples.length === 0) await work();
      const { result, ...cost } = await meter.measure(work);
      const right = answered === undefined ? result.code < 300 : result.code === answered;
      hold(right, `${size} is answered ${result.code}: ${result.text}`);
      samples.push({ size, ...cost });
    }
    if (beyond !== undefined) {
      const { code, text } = await (await dimension.work(ground, 2 * sizes[2]))();
      hold(code === beyond, `${2 * sizes[2]} is answered ${code}: ${text}`);
    }
    return samples;
  });
}

function isRight({ stepsMax }: Dimension, samples: readonly Sample[]): boolean {
  if (!cpu && stepsMax !== undefined) return samples.every(({ steps }) => steps <= stepsMax);
  return steepest(samples, cpu).every(({ ratio, allowed }) => ratio <= allowed);
}

function textOf({ stepsMax }: Dimension, samples: readonly Sample[]): string {
  const last = samples.at(-1)!;
  const growths = cpu || stepsMax === undefined ? steepest(samples, cpu) : [];
  const text = growths.map(({ measure, ratio, size }) => `${measure} x ${ratio.toFixed(2)} at ${size}, `).join("");
  return `${text}${last.size}: ${cpu ? `${last.cpuMs.toFixed(1)} ms` : `${last.steps} steps, ${(last.bytes / 1e6).toFixed(1)} MB`}`;
}

/** The functions that take the most steps of the largest size, on request. */
async function placesOf(dimension: Dimension): Promise<string> {
  if (!values.where) return "";
  const [smallest, , largest] = dimension.sizes;
  const dearest = await onGround(dimension, async (ground) => {
    await dimension.grow?.(ground, largest, smallest);
    return meter.dearest(await dimension.work(ground, largest), DEAREST);
  });
  return `; most of it: ${dearest.join(", ")}`;
}

/** A net with a hole finds nothing: each wired square has to be seen, and nothing else. */
async function tryMeter(): Promise<string> {
  const wired = cpu ? WIRED_NATIVE : WIRED;
  for (const { name, square, work } of wired) {
    const samples: Sample[] = [];
    for (const size of WIRED_SIZES) {
      work(size);
      let least = await meter.measure(async () => work(size));
      for (let attempt = 1; attempt < TRIES_MIN; attempt += 1) {
        const again = await meter.measure(async () => work(size));
        if (again.cpuMs < least.cpuMs) least = again;
      }
      samples.push({ size, ...least });
    }
    const growths = steepest(samples, cpu);
    const isFound = growths.some(({ ratio, allowed }) => ratio > allowed);
    hold(isFound === square, `${name}: ${growths.map(({ measure, ratio }) => `${measure} x ${ratio.toFixed(2)}`).join(", ")}`);
  }
  return `${wired.length} kinds of work`;
}

const dimensions = DIMENSIONS.filter(({ name }) => name.includes(values.only));
await runCases(
  [
    { name: "the meter finds wired squares, and nothing else", run: tryMeter },
    ...dimensions.map((dimension) => ({ name: dimension.name, run: () => measure(dimension) })),
  ],
  { lanes: 1 },
);
await shared.stop();
await stopSides();
process.exit();
