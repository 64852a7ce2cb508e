/** Evaluates random expressions and judges what comes of them. */
import { createContext, runInContext } from "node:vm";
import { isEngineError } from "../../../src/base/errors.ts";
import { createSandbox, type Sandbox } from "../../../src/engine/sandbox/sandbox.ts";
import { createSeededChance } from "../../apiserver/seeded-chance.ts";
import { pick, below, shrink, textOf, type Tree } from "./grammar.ts";
import { damage } from "./damage.ts";
import { HOSTILE } from "./hostile-grammar.ts";
import { watchMemory, type MemoryWatch } from "./memory-watch.ts";
import { SENTINEL } from "./sentinel.ts";
import { CONTEXT, toHostDns } from "./support.ts";
import { TAME, tameValue } from "./tame-grammar.ts";

/** Steps of one evaluation: enough for every mechanism, little enough for a million evaluations. */
const FUEL = 200_000;

const MEMORY_MAX = 32 * 2 ** 20;

/** How an evaluation may end other than with a value. */
const CODES: readonly string[] = ["SYNTAX", "ERROR", "RESULT", "FUEL", "MEMORY", "STACK"].map((what) => `EXPRESSION_${what}`);

/** One evaluation in so many is done again elsewhere, and one in so many is followed by a look at what it left. */
const AGAIN_EVERY = 16;
const LOOK_EVERY = 64;

const VALUES: readonly unknown[] = [
  "abc",
  "a".repeat(3000),
  "\ud800\0\ufeff",
  ["x", { y: [1] }, null],
  { a: 1, length: 3, toString: "s", __proto__: null },
  5,
  null,
];

/** One random expression and its value; the same seed and number give the same one. */
export interface FuzzCase {
  readonly seed: number;
  readonly number: number;
  readonly tree: Tree;
  readonly text: string;
  readonly value: unknown;
  /** Whether another engine must agree. */
  readonly tame: boolean;
}

/** Result of a case. */
export interface Verdict {
  /** "value", or the code of an error. */
  readonly outcome: string;
  readonly fuel: number;
  /** The violation, if any. */
  readonly problem?: string;
}

/** Result of one evaluation, in a comparable form. */
interface Run {
  readonly outcome: string;
  /** JSON text, or null. */
  readonly json: string | null;
  readonly fuel: number;
  readonly problem?: string;
}

/** The case of a seed with a number. */
export function makeCase(seed: number, number: number): FuzzCase {
  const chance = createSeededChance(Math.imul(seed, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca6b));
  const tame = chance.fraction() < 0.4;
  const depth = 2 + below(chance, 4);
  const tree = tame ? TAME.derive("start", { depth, chance }) : HOSTILE.derive("start", { depth, chance });
  const value = tame ? tameValue(chance) : pick(chance, VALUES);
  const text = textOf(tree);
  if (tame || chance.fraction() >= 0.04) return { seed, number, tree, text, value, tame };
  const damaged = damage(text, chance);
  return { seed, number, tree: { symbol: "start", parts: [damaged] }, text: damaged, value, tame };
}

/** Runs cases in one sandbox with a long past. */
export class Fuzzer {
  readonly #sandbox: Sandbox;
  readonly #other: Sandbox;
  readonly #memory: MemoryWatch;
  readonly #atRest: string;
  #elsewhere = createContext({ input: "" });
  #largest = 0;

  private constructor(sandboxes: readonly [Sandbox, Sandbox], memory: MemoryWatch) {
    [this.#sandbox, this.#other] = sandboxes;
    this.#memory = memory;
    this.#atRest = this.#look();
  }

  /** A fuzzer; {@link Fuzzer.stop} it. */
  static async start(): Promise<Fuzzer> {
    const memory = watchMemory();
    const limits = { fuel: FUEL };
    return new Fuzzer([await createSandbox({ toHostDns, limits }), await createSandbox({ toHostDns, limits })], memory);
  }

  stop(): void {
    this.#memory.stop();
  }

  /** Bytes of the largest memory that any evaluation so far had. */
  get largestMemory(): number {
    return this.#largest;
  }

  /** Evaluates a case and judges it. */
  judge({ text, value, tame, number }: FuzzCase): Verdict {
    const run = this.#run(this.#sandbox, text, value);
    const { outcome, fuel } = run;
    const problem =
      run.problem ??
      this.#checkMemory() ??
      (tame ? this.#compareElsewhere(run, text, value) : undefined) ??
      (number % AGAIN_EVERY === 0 ? this.#compareAgain(run, text, value) : undefined) ??
      (number % LOOK_EVERY === 0 && this.#look() !== this.#atRest ? "an evaluation left something behind" : undefined);
    return { outcome, fuel, ...(problem !== undefined && { problem }) };
  }

  /** The shortest text found that has a problem like the case's. */
  shrink(fuzzCase: FuzzCase): string {
    const holds = (text: string) => this.judge({ ...fuzzCase, text, number: 0 }).problem !== undefined;
    return holds(fuzzCase.text) ? textOf(shrink(fuzzCase.tree, holds)) : fuzzCase.text;
  }

  #run(sandbox: Sandbox, text: string, value: unknown): Run {
    try {
      const evaluated = sandbox.evaluate(sandbox.compile(text), { value, context: CONTEXT });
      const json = JSON.stringify(evaluated.value);
      const problem =
        evaluated.fuel > FUEL ? `took ${evaluated.fuel} steps` : json === undefined ? "gave a value that JSON cannot represent" : undefined;
      return { outcome: "value", json, fuel: evaluated.fuel, ...(problem !== undefined && { problem }) };
    } catch (error) {
      if (!isEngineError(error)) return { outcome: "exception", json: null, fuel: 0, problem: `threw ${String(error)}` };
      const fuel = Number(error.details["fuel"] ?? 0);
      const known = CODES.includes(error.code) && !error.message.includes("broke the engine");
      return {
        outcome: error.code,
        json: null,
        fuel,
        ...(!known && { problem: `threw ${error.code}: ${error.message} ${String(error.cause)}` }),
      };
    }
  }

  #checkMemory(): string | undefined {
    const largest = this.#memory.largest();
    this.#largest = Math.max(this.#largest, largest);
    return largest > MEMORY_MAX ? `took ${largest} bytes of memory` : undefined;
  }

  #compareAgain(run: Run, text: string, value: unknown): string | undefined {
    const again = this.#run(this.#other, text, value);
    const [before, after] = [run, again].map((one) => JSON.stringify(one));
    return before === after ? undefined : `gave ${before}, then in another sandbox ${after}`;
  }

  #compareElsewhere({ outcome, json }: Run, text: string, value: unknown): string | undefined {
    // The other engine has no fuel: an expression that needs much of it here is not compared.
    if (!["value", "EXPRESSION_ERROR", "EXPRESSION_RESULT"].includes(outcome)) return undefined;
    const here = json ?? outcome;
    if (here === this.#answerElsewhere(text, value)) return undefined;
    // There expressions can change the built-ins for those that follow: only a fresh world counts.
    this.#elsewhere = createContext({ input: "" });
    const there = this.#answerElsewhere(text, value);
    return here === there ? undefined : `gave ${here}, another engine ${there}`;
  }

  #answerElsewhere(text: string, value: unknown): string {
    const program = `(() => {
      let result;
      try { result = (function (value) { "use strict"; return (${text}\n) })(JSON.parse(input)) } catch { return "EXPRESSION_ERROR" }
      if (typeof result === "number" && !Number.isFinite(result)) return "EXPRESSION_RESULT";
      try {
        const json = JSON.stringify(result) ?? "EXPRESSION_RESULT";
        return json === "null" && result !== null ? "EXPRESSION_RESULT" : json;
      } catch { return "EXPRESSION_RESULT" }
    })()`;
    this.#elsewhere["input"] = JSON.stringify(value);
    return runInContext(program, this.#elsewhere, { timeout: 30_000 }) as string;
  }

  #look(): string {
    return JSON.stringify(this.#run(this.#sandbox, SENTINEL, 1));
  }
}
