/**
 * Evaluates random expressions by the hundred thousand and prints what came of them:
 *
 *     npm run fuzz -- --seed 1 --count 1000000
 *     npm run fuzz -- --seed 1 --from 4711 --count 1      one case again, with its text
 *
 * Fails when a case ends in another way than a value or a code of the closed list, hangs, takes more than 32 MiB, leaves anything
 * behind, answers differently the second time or elsewhere, or when the memory of the process grows.
 */
import { writeSync } from "node:fs";
import { parseArgs } from "node:util";
import { Worker, isMainThread, workerData } from "node:worker_threads";
import { Fuzzer, makeCase, type FuzzCase } from "./fuzz.ts";

/** A case that takes longer has hung. With the fuel it has, a case takes milliseconds. */
const HANG_MS = 30_000;

const REPORT_EVERY = 50_000;
const PROBLEMS_SHOWN = 20;
const MIB = 2 ** 20;

/** How much larger the process may be in the last quarter of a run than in the second. Short runs tell nothing. */
const GROWTH_MAX = 1.15;
const GROWTH_FROM = 200_000;

interface Job {
  readonly seed: number;
  readonly from: number;
  readonly count: number;
  /** The number of the case that is being evaluated, shared with the thread that watches. */
  readonly progress: Int32Array;
}

if (isMainThread) watch(readJob());
else await run(workerData as Job);

function readJob(): Job {
  const { values } = parseArgs({ options: { seed: { type: "string" }, from: { type: "string" }, count: { type: "string" } } });
  const { seed = "1", from = "0", count = "20000" } = values;
  return { seed: Number(seed), from: Number(from), count: Number(count), progress: new Int32Array(new SharedArrayBuffer(4)) };
}

/** Lets a thread do the job and ends the process when a case takes too long. */
function watch(job: Job): void {
  // With a small young generation, pages that garbage touches for the first time do not pass for growth.
  const resourceLimits = { stackSizeMb: 1, maxYoungGenerationSizeMb: 16 };
  const worker = new Worker(new URL(import.meta.url), { workerData: job, resourceLimits });
  let seen = { number: -1, since: performance.now() };
  const timer = setInterval(() => {
    const number = Atomics.load(job.progress, 0);
    if (number !== seen.number) seen = { number, since: performance.now() };
    else if (performance.now() - seen.since > HANG_MS)
      fail(`Case ${number} of seed ${job.seed} hangs:\n${makeCase(job.seed, number).text}`);
  }, 1000);
  worker.on("error", (error) => fail(`Case ${Atomics.load(job.progress, 0)} of seed ${job.seed} ended the run: ${String(error.stack)}`));
  worker.on("exit", (code) => {
    clearInterval(timer);
    if (code !== 0) fail(`The run ended with code ${code} at case ${Atomics.load(job.progress, 0)} of seed ${job.seed}`);
  });
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}

async function run({ seed, from, count, progress }: Job): Promise<void> {
  const fuzzer = await Fuzzer.start();
  const started = performance.now();
  const outcomes = new Map<string, number>();
  const sizes: number[] = [];
  let problems = 0;
  let slowest = { ms: 0, number: 0 };
  for (let number = from; number < from + count; number += 1) {
    Atomics.store(progress, 0, number);
    const fuzzCase = makeCase(seed, number);
    const before = performance.now();
    const { outcome, problem } = fuzzer.judge(fuzzCase);
    const ms = performance.now() - before;
    if (ms > slowest.ms) slowest = { ms, number };
    const kind = `${fuzzCase.tame ? "tame" : "hostile"} ${outcome}`;
    outcomes.set(kind, (outcomes.get(kind) ?? 0) + 1);
    if (count === 1) say(`${fuzzCase.text}\nwith ${JSON.stringify(fuzzCase.value)}: ${outcome}`);
    if (problem !== undefined && ++problems <= PROBLEMS_SHOWN) tell(fuzzCase, problem, fuzzer);
    if ((number + 1 - from) % REPORT_EVERY === 0) {
      sizes.push(process.memoryUsage.rss());
      say(`${number + 1 - from} cases, ${Math.round((performance.now() - started) / 1000)} s, RSS ${mib(sizes.at(-1)!)} MiB`);
    }
  }
  fuzzer.stop();
  const seconds = (performance.now() - started) / 1000;
  say(`seed ${seed}, ${count} cases from ${from} in ${seconds.toFixed(0)} s with Node ${process.version}`);
  for (const [kind, times] of [...outcomes].sort()) say(`  ${kind}: ${times}`);
  say(`largest memory of an engine: ${mib(fuzzer.largestMemory)} MiB; slowest case: ${slowest.number}, ${slowest.ms.toFixed(0)} ms`);
  const growth = growthOf(sizes, count);
  say(`growth of the process: ${growth?.toFixed(3) ?? "too short a run"}; problems: ${problems}`);
  if (problems > 0 || (growth ?? 0) > GROWTH_MAX) process.exitCode = 1;
}

function tell(fuzzCase: FuzzCase, problem: string, fuzzer: Fuzzer): void {
  const { seed, number, text, value } = fuzzCase;
  say(
    `Case ${number} of seed ${seed} ${problem}\n  value: ${JSON.stringify(value)}\n  text: ${text}\n  shrunk: ${fuzzer.shrink(fuzzCase)}`,
  );
}

/** The largest size in the last quarter over the largest in the second. */
function growthOf(sizes: readonly number[], count: number): number | undefined {
  if (count < GROWTH_FROM) return undefined;
  const quarter = sizes.length / 4;
  return Math.max(...sizes.slice(Math.floor(3 * quarter))) / Math.max(...sizes.slice(Math.floor(quarter), Math.floor(2 * quarter)));
}

/** A thread that never waits gets nothing through `console`. */
function say(line: string): void {
  writeSync(1, `${line}\n`);
}

function mib(bytes: number): string {
  return (bytes / MIB).toFixed(1);
}
