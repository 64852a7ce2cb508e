/**
 * Finds the points of the engine whose number of turns depends on what was evaluated before, for `src/engine/sandbox/quickjs/overhead-points.ts`.
 * Needed when the engine's file changes: `node test/engine/sandbox/find-overhead-points.ts [seed]`, again and again, until it finds nothing.
 *
 * Random expressions are evaluated each in a fresh instance, then in several orders in one instance that has a past. A point that
 * differs belongs into the table: a loop by its number, or the outermost function that does nothing else as "call".
 */
import * as fc from "fast-check";
import { isEngineError } from "../../../src/base/errors.ts";
import { checkExpression, type CheckedExpression } from "../../../src/engine/expression/check.ts";
import { HOST_FUNCTIONS } from "../../../src/engine/expression/functions/host-functions.ts";
import { Instance } from "../../../src/engine/sandbox/realm/instance.ts";
import { meterModule } from "../../../src/engine/sandbox/quickjs/meter.ts";
import { OVERHEAD_POINTS } from "../../../src/engine/sandbox/quickjs/overhead-points.ts";
import { buildRealm } from "../../../src/engine/sandbox/realm/realm.ts";
import { readEngineFile } from "../../../src/engine/sandbox/quickjs/wasm-file.ts";
import { counterName, instrumentEngine } from "./instrumented-engine.ts";
import { randomExpression, randomValue } from "./random-expression.ts";
import { CONTEXT, toHostDns } from "./support.ts";

const IMPORTED_FUNCTIONS = 19;
const EXPRESSIONS = 2000;
const ORDERS = 3;
const FUEL = 5_000_000;

/** Expressions that give an instance a past: many names, many shapes, a scattered heap, strange hash chains. */
const PAST = [
  "(() => { const o = {}; for (let i = 0; i < 3000; i++) o['k' + i * 7] = i; return Object.keys(o).length })()",
  "(() => { const a = []; for (let i = 0; i < 2000; i++) { const o = {}; o['p' + i] = 1; o['q' + (i % 50)] = 2; a.push(o) } return a.length })()",
  "Array.from({ length: 3000 }, (_, i) => 'x'.repeat(i % 300)).length",
  "(() => { const m = new Map(); for (let i = 0; i < 2000; i++) m.set('z' + i, { a: i, b: function () {} }); return m.size })()",
  "[...'abcdefghij'.repeat(300)].map(c => ({ [c + 'x']: c })).length",
];

interface Case {
  readonly expression: CheckedExpression;
  readonly value: unknown;
}

const engine = instrumentEngine(await readEngineFile(), { imported: IMPORTED_FUNCTIONS, overhead: OVERHEAD_POINTS });
// Metered as well, so that no expression runs forever; the instrumentation itself counts as little as it can.
const options = {
  module: new WebAssembly.Module(meterModule(engine.bytes)),
  memoryBytes: 2 ** 26,
  stackBytes: 2 ** 16,
  functions: HOST_FUNCTIONS,
  outside: { toHostDns },
};
const image = buildRealm(options);

/** The exports of the instance that was made last: the product keeps them to itself. */
let latestExports: Record<string, unknown> = {};
const { Instance: WasmInstance } = WebAssembly;
Object.assign(WebAssembly, {
  Instance: class extends WasmInstance {
    constructor(...values: ConstructorParameters<typeof WasmInstance>) {
      super(...values);
      latestExports = this.exports;
    }
  },
});

/** An instance whose points can be read. */
class Observed {
  readonly #instance = new Instance(options, image);
  readonly #counters = engine.points.map((_, index) => latestExports[counterName(index)] as { value: number });

  /** Turns of every point while the expression ran; undefined when it was stopped. */
  run({ expression, value }: Case): number[] | undefined {
    const running = this.#instance.engine;
    const read = () => this.#counters.map((counter) => counter.value);
    const refuel = running.refuel.bind(running);
    let before: number[] | undefined;
    let turns: number[] | undefined;
    // The instance refuels with the limit just before the call, and with fuel of its own right after it.
    running.refuel = (steps) => {
      if (steps === FUEL) before = read();
      else if (before !== undefined) turns ??= read().map((count, index) => count - before![index]!);
      refuel(steps);
    };
    try {
      this.#instance.evaluate(expression, { value, valueExists: true, context: CONTEXT, fuel: FUEL, resultBytes: 2 ** 20 });
    } catch {
      return undefined;
    } finally {
      running.refuel = refuel;
    }
    return turns;
  }
}

function casesOf(seed: number): Case[] {
  const rows = fc.sample(fc.tuple(randomExpression, randomValue), { numRuns: EXPRESSIONS, seed });
  return rows.flatMap(([text, value]) => {
    try {
      return [{ expression: checkExpression(text), value }];
    } catch (error) {
      if (isEngineError(error, "EXPRESSION_SYNTAX")) return [];
      throw error;
    }
  });
}

/** Every `step`th case, then the others in the same manner: another order for every step that is prime to their number. */
function reorder<Item>(items: readonly Item[], step: number): Item[] {
  return items.map((_, index) => items[(index * step) % items.length]!);
}

const seed = Number(process.argv[2] ?? 1);
const cases = casesOf(seed);
const wanted = new Map(cases.map((each) => [each, new Observed().run(each)]));
const found = new Map<string, { times: number; most: number; example: string }>();
for (const step of [1, 7, 1013].slice(0, ORDERS)) {
  let observed = new Observed();
  for (const text of PAST) observed.run({ expression: checkExpression(text), value: null });
  for (const each of reorder(cases, step)) {
    const want = wanted.get(each);
    const got = observed.run(each);
    if (got === undefined) observed = new Observed();
    if (got === undefined || want === undefined) continue;
    for (const [index, { function: number, loop }] of engine.points.entries()) {
      const difference = Math.abs(got[index]! - want[index]!);
      if (difference === 0 || isOverhead(number, loop)) continue;
      const name = `function ${number}, ${loop === 0 ? "entry" : `loop ${loop}`}`;
      const { times = 0, most = 0 } = found.get(name) ?? {};
      found.set(name, { times: times + 1, most: Math.max(most, difference), example: each.expression.text });
    }
  }
}

function isOverhead(number: number, loop: number): boolean {
  const entry = OVERHEAD_POINTS.get(number);
  return entry !== undefined && entry !== "call" && entry.includes(loop);
}

for (const [name, { times, most, example }] of found)
  console.log(`${name}: differs ${times} times, by up to ${most}, as in ${example.slice(0, 100)}`);
console.log(`${cases.length} expressions, seed ${seed}: ${found.size} points depend on the past`);
