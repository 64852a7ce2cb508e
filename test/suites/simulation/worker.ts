/** One thread of `npm run sim`: runs the given seeds, a chunk at a time. */
import { parentPort, workerData } from "node:worker_threads";
import { createSimulator, type Run } from "../../../src/testing.ts";
import type { Chunk, Report } from "./record.ts";

/** Settings shared by all chunks. */
export interface WorkerTask {
  readonly steps: number;
  readonly replicas: number;
}

// Stacks of errors that a simulated server answers are never read, and costly.
Error.stackTraceLimit = 0;

const simulator = await createSimulator(workerData as WorkerTask);
parentPort!.on("message", (chunk: Chunk) => void work(chunk));
parentPort!.on("close", () => simulator.dispose());

async function work({ first, last }: Chunk): Promise<void> {
  const startMs = performance.now();
  let report: Report = { first, last, ms: 0, steps: 0, writes: 0, elapsedMs: 0, seeds: {}, times: {}, failed: [] };
  for (let seed = first; seed <= last; seed += 1) report = added(report, await simulator.run(seed));
  parentPort!.postMessage({ ...report, ms: Math.round(performance.now() - startMs) });
}

function added(report: Report, { seed, setting, violation, fired, decisions, writes, elapsedMs }: Run): Report {
  const [seeds, times] = [{ ...report.seeds }, { ...report.times }];
  for (const [name, count] of fired) {
    seeds[name] = (seeds[name] ?? 0) + 1;
    times[name] = (times[name] ?? 0) + count;
  }
  return {
    ...{ ...report, seeds, times },
    steps: report.steps + decisions.length,
    writes: report.writes + writes,
    elapsedMs: report.elapsedMs + elapsedMs,
    failed: violation === undefined ? report.failed : [...report.failed, { seed, setting, violation }],
  };
}
