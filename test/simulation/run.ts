/**
 * Many seeds of the simulator on several threads:
 *
 *   npm run sim -- --seeds 10000 [--from 1] [--steps 200] [--replicas 2] [--workers 2]
 *
 * Prints the rate, a table of how often each fault happened, and for the first seed that fails the shortest timeline that breaks
 * the same promise. The exit code is 1 then, also when a fault happened in less than 1 % of 1,000 seeds or more.
 */
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { ACTS, createSimulator } from "../../src/testing.ts";
import type { Run } from "../../src/testing.ts";
import type { WorkerReport, WorkerTask } from "./worker.ts";

const PROGRESS_MS = 10_000;
/** Share of the seeds in which every fault must happen, if there are enough of them to tell. */
const FIRED_MIN = 0.01;
const ENOUGH_SEEDS = 1_000;

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "2000" },
    from: { type: "string", default: "1" },
    steps: { type: "string", default: "200" },
    replicas: { type: "string", default: "2" },
    workers: { type: "string", default: "2" },
  },
});
const [seeds, from, steps, replicas, workers] = [values.seeds, values.from, values.steps, values.replicas, values.workers].map(Number) as [
  number,
  number,
  number,
  number,
  number,
];

const startMs = performance.now();
const total = { seeds: 0, steps: 0, writes: 0, elapsedMs: 0 };
const fired = new Map<string, number>();
const failed: Run[] = [];
const progress = setInterval(() => console.log(`${total.seeds} seeds, ${rate()} seeds/s, ${failed.length} failed`), PROGRESS_MS);
await Promise.all(Array.from({ length: workers }, (_none, index) => work(index)));
clearInterval(progress);
await report();

function work(index: number): Promise<void> {
  const task: WorkerTask = { first: from + index, last: from + seeds - 1, stride: workers, steps, replicas };
  const thread = new Worker(new URL("./worker.ts", import.meta.url), { workerData: task });
  return new Promise((resolve, reject) => {
    thread.on("message", (part: WorkerReport) => add(part));
    thread.on("error", reject);
    thread.on("exit", (code) => (code === 0 ? resolve() : reject(new Error(`Thread ${index} ended with ${code}`))));
  });
}

function add(part: WorkerReport): void {
  total.seeds += part.seeds;
  total.steps += part.steps;
  total.writes += part.writes;
  total.elapsedMs += part.elapsedMs;
  for (const [name, count] of Object.entries(part.fired)) fired.set(name, (fired.get(name) ?? 0) + count);
  failed.push(...part.failed);
  for (const { seed, setting, violation } of part.failed)
    console.log(`seed ${seed} (${setting}): ${violation!.oracle} ${violation!.message}`);
}

function rate(): string {
  return (total.seeds / ((performance.now() - startMs) / 1000)).toFixed(0);
}

async function report(): Promise<void> {
  const seconds = (performance.now() - startMs) / 1000;
  console.log(`\n${total.seeds} seeds from ${from}, ${replicas} replicas, ${workers} threads, ${seconds.toFixed(1)} s`);
  console.log(
    `${rate()} seeds/s, ${(total.steps / total.seeds).toFixed(0)} steps, ${(total.writes / total.seeds).toFixed(1)} writes of replicas and ` +
      `${(total.elapsedMs / total.seeds / 1000).toFixed(0)} s of virtual time per seed\n`,
  );
  for (const kind of ["fault", "user", "move"] as const) {
    console.log(`${kind === "fault" ? "Faults" : kind === "user" ? "Users" : "Moves"}, by the share of seeds in which they happened`);
    for (const { name } of ACTS.filter((act) => act.kind === kind)) console.log(`  ${share(name).padStart(6)} %  ${name}`);
  }
  const rare = ACTS.filter(({ name, kind }) => kind === "fault" && (fired.get(name) ?? 0) < FIRED_MIN * total.seeds);
  if (total.seeds >= ENOUGH_SEEDS && rare.length > 0) fail(`\nToo rare: ${rare.map(({ name }) => name).join(", ")}`);
  console.log(`\n${failed.length} seeds failed`);
  if (failed.length > 0) await reportFailed();
}

function share(name: string): string {
  return ((100 * (fired.get(name) ?? 0)) / total.seeds).toFixed(1);
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
