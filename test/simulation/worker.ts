/** One thread of `npm run sim`: runs every n-th seed and reports in batches. */
import { parentPort, workerData } from "node:worker_threads";
import { createSimulator } from "../../src/testing.ts";
import type { Run } from "../../src/testing.ts";

/** What a thread is told to do. */
export interface WorkerTask {
  readonly first: number;
  readonly last: number;
  readonly stride: number;
  readonly steps: number;
  readonly replicas: number;
}

/** What a thread reports after some seeds. */
export interface WorkerReport {
  readonly seeds: number;
  readonly steps: number;
  readonly writes: number;
  readonly elapsedMs: number;
  /** In how many of these seeds each act happened. */
  readonly fired: Readonly<Record<string, number>>;
  readonly failed: readonly Run[];
}

const BATCH = 250;

// Nobody reads the stacks of errors that a simulated server answers, and they are costly.
Error.stackTraceLimit = 0;

const { first, last, stride, steps, replicas } = workerData as WorkerTask;
const simulator = await createSimulator({ steps, replicas });
let report = nothing();
for (let seed = first; seed <= last; seed += stride) {
  report = added(report, await simulator.run(seed));
  if (report.seeds < BATCH) continue;
  parentPort!.postMessage(report);
  report = nothing();
}
parentPort!.postMessage(report);
simulator.dispose();

function nothing(): WorkerReport {
  return { seeds: 0, steps: 0, writes: 0, elapsedMs: 0, fired: {}, failed: [] };
}

function added(report: WorkerReport, run: Run): WorkerReport {
  const fired = { ...report.fired };
  for (const name of run.fired.keys()) fired[name] = (fired[name] ?? 0) + 1;
  return {
    seeds: report.seeds + 1,
    steps: report.steps + run.decisions.length,
    writes: report.writes + run.writes,
    elapsedMs: report.elapsedMs + run.elapsedMs,
    fired,
    failed: run.violation === undefined ? report.failed : [...report.failed, run],
  };
}
