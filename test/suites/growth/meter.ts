import { Session, type Profiler } from "node:inspector";
import { GCProfiler } from "node:v8";
import { beginWalking, countWalked, walkedSoFar } from "./walked.ts";

/** Cost of a piece of work. */
export interface Cost {
  /** Blocks of code that ran, and items that native methods walked over. No clock is asked. */
  readonly steps: number;
  /** Bytes that were allocated on the heap of JavaScript. */
  readonly bytes: number;
  /** CPU time of the process in milliseconds, WebAssembly, compression and cryptography included. */
  readonly cpuMs: number;
}

/** Files of which every block that runs is a step. */
const COUNTED = /^file:.*\/(src|node_modules|growth\/squares\.ts)/;

/**
 * Counts what work costs. Is to be made before what is measured is imported: code that V8 compiled earlier has no counters. Needs the
 * flag `--expose-gc`.
 */
export class Meter {
  readonly #session = new Session();
  readonly #counts: boolean;

  /** Unless it `counts`, there are no steps: counters cost time themselves. */
  constructor({ counts }: { readonly counts: boolean }) {
    this.#counts = counts;
    if (!counts) return;
    this.#session.connect();
    this.#post("Profiler.enable");
    this.#post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
    countWalked();
  }

  /** Cost of doing it once, and its result. One-time work is charged to the first run. */
  async measure<Result>(work: () => Promise<Result>): Promise<Cost & { readonly result: Result }> {
    globalThis.gc!();
    this.#blocks();
    const collections = new GCProfiler();
    collections.start();
    const before = process.memoryUsage().heapUsed;
    if (this.#counts) beginWalking();
    const since = process.cpuUsage();
    const result = await work();
    const { user, system } = process.cpuUsage(since);
    const walked = this.#counts ? walkedSoFar() : 0;
    const kept = process.memoryUsage().heapUsed - before;
    const sizes = collections
      .stop()
      .statistics.map(({ beforeGC, afterGC }) => [beforeGC, afterGC].map((at) => at.heapStatistics.usedHeapSize));
    const bytes = sizes.reduce((sum, [full = 0, left = 0]) => sum + full - left, kept);
    return { steps: walked + this.#blocks(), bytes, cpuMs: (user + system) / 1_000, result };
  }

  /** The places that take the most steps, for people. */
  async dearest(work: () => Promise<unknown>, most: number): Promise<readonly string[]> {
    const places = new Map<string, number>();
    this.#blocks();
    beginWalking(places);
    await work();
    walkedSoFar();
    this.#blocks(places);
    const sorted = [...places].sort(([, left], [, right]) => right - left).slice(0, most);
    return sorted.map(([place, steps]) => `${Math.round(steps)} ${place}`);
  }

  /** Blocks that ran since the last call; by function on request. */
  #blocks(places?: Map<string, number>): number {
    if (!this.#counts) return 0;
    const { result } = this.#post("Profiler.takePreciseCoverage") as Profiler.TakePreciseCoverageReturnType;
    let sum = 0;
    for (const { url, functions } of result) {
      if (!COUNTED.test(url)) continue;
      for (const { functionName, ranges } of functions) {
        const own = ranges.reduce((blocks, { count }) => blocks + count, 0);
        sum += own;
        places?.set(`${functionName} in ${url.split("/").slice(-2).join("/")}:${ranges[0]!.startOffset}`, own);
      }
    }
    return sum;
  }

  /** In a session with its own process the answer is there at once. */
  #post(method: string, parameters: object = {}): unknown {
    let answer: unknown;
    this.#session.post(method, parameters, (error, result) => {
      if (error !== null) throw new Error(`${method}: ${error.message}`);
      answer = result;
    });
    return answer;
  }
}
