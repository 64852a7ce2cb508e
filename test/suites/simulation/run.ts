/**
 * Many seeds of the simulator on several threads:
 *
 *   npm run sim -- --seeds 10000 [--from 1] [--steps 200] [--replicas 2] [--workers 2] [--minutes 60] [--record runs.json]
 *
 * Prints the rate, a table of how often each fault happened, for the first seed that fails the shortest timeline that breaks the
 * same promise, and a line that sums it all up. The exit code is 1 when a seed failed, also when an act happened in less than 1 %
 * of 1,000 seeds or more. With `--record` what is done is kept in that file, and a run that was ended goes on where it was. With
 * `--minutes` it ends after that time, and the summary names the last seed.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { ACTS, createSimulator } from "../../../src/testing.ts";
import { openRecord, remaining, sourcesOf, type Chunk, type Report } from "./record.ts";
import type { WorkerTask } from "./worker.ts";

const PROGRESS_MS = 10_000;
/** Seeds that a thread runs before it says so. */
const CHUNK_SEEDS = 100;
/** Rooms that a simulation has nothing of. */
const UNUSED = ["cli", "kube/client", "management"];
/** Share of the seeds in which everything must happen, if there are enough of them to tell. */
const FIRED_MIN = 0.01;
const ENOUGH_SEEDS = 1_000;

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "2000" },
    from: { type: "string", default: "1" },
    steps: { type: "string", default: "200" },
    replicas: { type: "string", default: "2" },
    workers: { type: "string", default: "2" },
    minutes: { type: "string", default: "Infinity" },
    record: { type: "string" },
  },
});
const [seeds, from, steps, replicas, workers] = [values.seeds, values.from, values.steps, values.replicas, values.workers].map(Number) as [
  number,
  number,
  number,
  number,
  number,
];

const range: Chunk = { first: from, last: from + seeds - 1 };
const sources = sourcesOf(join(import.meta.dirname, "../../../src"), UNUSED);
const record = values.record === undefined ? undefined : openRecord(values.record, { ...range, steps, replicas, sources });
const total = { seeds: 0, steps: 0, writes: 0, elapsedMs: 0, threadMs: 0 };
/** In how many seeds each act happened, and how often. */
const fired = { seeds: new Map<string, number>(), times: new Map<string, number>() };
const failed: Report["failed"][number][] = [];

for (const report of record?.reports ?? []) add(report);
const known = total.seeds;
if (known > 0) console.log(`${known} seeds are recorded in ${values.record!} already`);
const chunks = [...remaining(range, record?.reports ?? [], CHUNK_SEEDS)];
const startMs = performance.now();
const endMs = startMs + Number(values.minutes) * 60_000;
/** The last seed that was run. */
let last = (record?.reports ?? []).reduce((most, report) => Math.max(most, report.last), 0);
const progress = setInterval(
  () => console.log(`${total.seeds} of ${seeds} seeds, ${rate()} seeds/s, ${failed.length} failed`),
  PROGRESS_MS,
);
await Promise.all(Array.from({ length: Math.min(workers, chunks.length) }, (_none, index) => work(index)));
clearInterval(progress);
await report();

function work(index: number): Promise<void> {
  const task: WorkerTask = { steps, replicas };
  const thread = new Worker(new URL("./worker.ts", import.meta.url), { workerData: task });
  const next = () => {
    const chunk = chunks.shift();
    if (chunk === undefined) void thread.terminate();
    else thread.postMessage(chunk);
  };
  next();
  return new Promise((resolve, reject) => {
    let left = true;
    thread.on("message", (part: Report) => {
      record?.add(part);
      add(part);
      last = Math.max(last, part.last);
      if (performance.now() > endMs) chunks.length = 0;
      left = chunks.length > 0;
      next();
    });
    thread.on("error", reject);
    thread.on("exit", (code) => (left ? reject(new Error(`Thread ${index} ended with ${code}`)) : resolve()));
  });
}

function add(part: Report): void {
  total.seeds += part.last - part.first + 1;
  total.steps += part.steps;
  total.writes += part.writes;
  total.elapsedMs += part.elapsedMs;
  total.threadMs += part.ms;
  for (const what of ["seeds", "times"] as const)
    for (const [name, count] of Object.entries(part[what])) fired[what].set(name, (fired[what].get(name) ?? 0) + count);
  failed.push(...part.failed);
  for (const { seed, setting, violation } of part.failed)
    console.log(`seed ${seed} (${setting}): ${violation.oracle} ${violation.message}`);
}

/** Of this run alone, without what was recorded before. */
function rate(): string {
  return ((total.seeds - known) / ((performance.now() - startMs) / 1000)).toFixed(0);
}

async function report(): Promise<void> {
  const seconds = (performance.now() - startMs) / 1000;
  console.log(`\n${total.seeds - known} seeds, ${replicas} replicas, ${workers} threads, ${seconds.toFixed(1)} s, ${rate()} seeds/s`);
  console.log(
    `${(total.steps / total.seeds).toFixed(0)} steps, ${(total.writes / total.seeds).toFixed(1)} writes of replicas and ` +
      `${(total.elapsedMs / total.seeds / 1000).toFixed(0)} s of virtual time per seed\n`,
  );
  for (const kind of ["fault", "user", "move"] as const) {
    const title = kind === "fault" ? "Faults" : kind === "user" ? "Users" : "Moves";
    console.log(`${title}, by the share of seeds in which they happened, and how often`);
    for (const { name } of ACTS.filter((act) => act.kind === kind)) {
      console.log(`  ${share(name).padStart(6)} %  ${String(fired.times.get(name) ?? 0).padStart(10)}  ${name}`);
    }
  }
  const rare = ACTS.map(({ name }) => name).filter((name) => (fired.seeds.get(name) ?? 0) < FIRED_MIN * total.seeds);
  if (total.seeds >= ENOUGH_SEEDS && rare.length > 0) fail(`\nToo rare: ${rare.join(", ")}`);
  if (failed.length > 0) await reportFailed();
  console.log(`\n${summary()}`);
}

function share(name: string): string {
  return ((100 * (fired.seeds.get(name) ?? 0)) / total.seeds).toFixed(1);
}

function faults(): readonly string[] {
  return ACTS.filter(({ kind }) => kind === "fault").map(({ name }) => name);
}

/** All that is worth to be kept of a run, those parts included that were recorded before. */
function summary(): string {
  const kinds = faults().filter((name) => fired.times.has(name));
  const count = kinds.reduce((sum, name) => sum + fired.times.get(name)!, 0);
  const perThread = (total.seeds / (total.threadMs / 1000)).toFixed(0);
  return (
    `Seeds ${range.first} to ${last}: ${total.seeds} run with ${steps} steps and ${replicas} replicas, ${perThread} seeds/s per thread, ` +
    `${count} faults of ${kinds.length} kinds, sources ${sources}, ${failed.length} violations`
  );
}

async function reportFailed(): Promise<void> {
  failed.sort((left, right) => left.seed - right.seed);
  const simulator = await createSimulator({ steps, replicas });
  const { timeline, violation, decisions } = await simulator.shrink(await simulator.run(failed[0]!.seed));
  fail(`\nSeed ${failed[0]!.seed} in ${decisions.length} steps:\n${timeline.join("\n")}\n${violation!.oracle}: ${violation!.message}`);
  simulator.dispose();
}

function fail(text: string): void {
  console.log(text);
  process.exitCode = 1;
}
