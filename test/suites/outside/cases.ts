/**
 * Shared parts of the suites in this folder and beside it: reproducible randomness, a table of cases, an exit code.
 *
 * @module
 */

/** Numbers that a seed repeats. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 to less than 1 (mulberry32). */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    const state = this.#state;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(limit: number): number {
    return Math.floor(this.fraction() * limit);
  }

  one<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!;
  }
}

/** One case: it throws what is wrong, and may say what it saw. */
export interface Case {
  readonly name: string;
  run(): Promise<string | void>;
}

interface Result {
  readonly name: string;
  readonly ok: boolean;
  readonly told: string;
  readonly seconds: number;
}

/** Runs the cases, some at a time, prints what became of each, and sets the exit code. */
export async function runCases(cases: readonly Case[], { lanes = 2 } = {}): Promise<void> {
  const waiting = [...cases];
  const results: Result[] = [];
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const result = await play(next);
      results.push(result);
      console.log(lineOf(result));
    }
  };
  await Promise.all(Array.from({ length: lanes }, work));
  const failed = results.filter(({ ok }) => !ok);
  if (failed.length > 0) console.log(`\nFailed:\n${failed.map(lineOf).join("\n")}`);
  console.log(`\n${results.length - failed.length} passed, ${failed.length} failed`);
  process.exitCode = failed.length === 0 && results.length > 0 ? 0 : 1;
}

async function play({ name, run }: Case): Promise<Result> {
  const from = performance.now();
  const seconds = () => (performance.now() - from) / 1000;
  try {
    const told = (await run()) ?? "";
    return { name, ok: true, told, seconds: seconds() };
  } catch (error) {
    return { name, ok: false, told: error instanceof Error ? error.message : String(error), seconds: seconds() };
  }
}

const NAME_WIDTH = 62;
const REPORTED_MAX = 900;

function lineOf({ name, ok, told, seconds }: Result): string {
  const short = told.replace(/\s+/g, " ").slice(0, REPORTED_MAX);
  return `${ok ? "passed" : "FAILED"}  ${seconds.toFixed(1).padStart(6)} s  ${name.padEnd(NAME_WIDTH)}  ${short}`.trimEnd();
}

/** The seed that was asked for, by an option or by SEED, or a new one. */
export function seedOf(asked = process.env["SEED"]): number {
  return asked === undefined ? Date.now() % 1_000_000 : Number(asked);
}

/** @throws Error when it does not hold. */
export function hold(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message);
}

/** One line of what is wrong. @throws Error unless there is nothing. */
export function holdNone(problems: readonly string[], what: string): void {
  const more = problems.length > 4 ? ` and ${problems.length - 4} more` : "";
  if (problems.length > 0) throw new Error(`${what}: ${problems.slice(0, 4).join("; ")}${more}`);
}
