/**
 * A function of expressions that nothing of this product knows: all that it takes is this entry. Nothing here needs Node: a browser runs the
 * same file.
 *
 * @module
 */
import { checkExpression } from "../../../src/engine/expression/check.ts";
import { HOST_FUNCTIONS, type HostFunction } from "../../../src/engine/expression/functions/host-functions.ts";
import type { EvaluationContext } from "../../../src/engine/sandbox/context.ts";
import type { Priced } from "../../../src/engine/sandbox/outcome/outcome.ts";
import { Instance } from "../../../src/engine/sandbox/realm/instance.ts";
import { loadRealm } from "../../../src/engine/sandbox/realm/load.ts";
import { buildRealm } from "../../../src/engine/sandbox/realm/realm.ts";

export const REVERSED: HostFunction = {
  name: "reversed",
  signature: "(text: string): string",
  about: "The text from its end.",
  guest: " return host(flat(text)); ",
  fuel: 5_000,
  answer: { fromText: (text) => [...text].reverse().join("") },
};

/** Every function, and one more. */
export const WITH_FOURTH: readonly HostFunction[] = [...HOST_FUNCTIONS, REVERSED];

const CONTEXT: EvaluationContext = {
  vcluster: { name: "my-vcluster", namespace: "team-x", config: {} },
  hostObject: null,
  virtualObject: null,
  path: "",
};

/** Evaluates an expression of the value "abc" that can call the fourth function. */
export async function evaluateWithFourth(text: string, fuel: number): Promise<Priced> {
  const { module } = await loadRealm(64 * 1024);
  const options = { module, memoryBytes: 32 * 2 ** 20, stackBytes: 64 * 1024, functions: WITH_FOURTH, outside: {} };
  const instance = new Instance(options, buildRealm(options));
  return instance.evaluate(checkExpression(text), { value: "abc", valueExists: true, context: CONTEXT, fuel, resultBytes: 1_000 });
}

/** An expression with the fourth function, its result and its steps, which must be the same in every engine. */
export const FOURTH = { expression: "reversed(btoa(value)) + typeof atob", value: "jJWYfunction", fuel: 5_454 } as const;

/** How the fourth function differs from what it should do, in words; none if it does not. */
export async function findDifferencesOfFourth(): Promise<string[]> {
  const { expression, value, fuel } = FOURTH;
  const got = await evaluateWithFourth(expression, 100_000);
  const isEqual = got.kind === "value" && got.value === value && got.fuel === fuel;
  return isEqual ? [] : [`${expression}: expected ${value} for ${fuel} steps, got ${JSON.stringify(got)}`];
}
