/**
 * Shows how an expression computed its result: the values of its parts, drawn below its text.
 *
 * @module
 */
import { isEngineError } from "../../base/errors.ts";
import { jsonEqual } from "../../base/json.ts";
import { readTrace, traceExpression, type Trace, type TracedExpression } from "../../engine/expression/trace/trace.ts";
import { LIMIT_RANGES } from "../../engine/sandbox/limits.ts";
import type { SandboxLimits, Scope } from "../../engine/sandbox/sandbox.ts";
import { draw } from "./drawing.ts";
import type { Explanation } from "./types.ts";

export type { Explanation } from "./types.ts";

/** The part of the sandbox that explanations need. */
export interface Evaluator {
  /** @throws EXPRESSION_SYNTAX, EXPRESSION_FUEL */
  compile(text: string): { readonly text: string };
  /** @throws EXPRESSION_ERROR, EXPRESSION_RESULT and the errors of limits. */
  evaluate(expression: { readonly text: string }, scope: Scope): { readonly value: unknown };
}

/** Factor by which watching makes an expression longer and increases its steps. */
const FACTOR = 10;

/**
 * Limits for tracing an expression that runs within `limits`. Compile explained and covered expressions in a separate
 * sandbox with these limits: the watched text is longer and takes more steps.
 */
export function watchingLimits(limits: SandboxLimits): SandboxLimits {
  const larger = (name: "fuel" | "sourceBytes" | "resultBytes" | "memoryBytes", factor: number) =>
    Math.min(LIMIT_RANGES[name][1], limits[name] * factor);
  return {
    ...limits,
    fuel: larger("fuel", FACTOR),
    sourceBytes: larger("sourceBytes", 4 * FACTOR),
    resultBytes: larger("resultBytes", FACTOR),
    memoryBytes: larger("memoryBytes", 2),
  };
}

/**
 * Evaluates `text` and returns the values of its parts. If it throws, these are the values up to the exception.
 *
 * There are no values if the text exceeds a limit, or if watching would change its behaviour (an expression that reads its
 * own source).
 *
 * @example
 * explain(sandbox, 'value.length > 3 ? "long" : value', { value: "ab", context }).drawing;
 * // value.length > 3 ? "long" : value
 * // |     |      |              |
 * // "ab"  2      false          "ab"
 */
export function explain(sandbox: Evaluator, text: string, scope: Scope): Explanation {
  const watched = watch(sandbox, text, scope);
  if (watched === undefined || !isFaithful(sandbox, text, scope, watched.trace)) return { values: [], drawing: draw(text, []) };
  const { points } = watched.traced;
  const values = points.flatMap(({ kind, start, end, label, anchor }, index) => {
    const { count, first, last } = watched.trace.seen[index]!;
    if (kind !== "value" || count === 0 || first === undefined || last === undefined) return [];
    return [{ start, end, text: label, anchor, count, first, last }];
  });
  values.sort((left, right) => left.start - right.start || left.end - right.end);
  return { values: values.map(({ anchor: _, ...value }) => value), drawing: draw(text, values) };
}

interface Watched {
  readonly traced: TracedExpression;
  readonly trace: Trace;
}

function watch(sandbox: Evaluator, text: string, scope: Scope): Watched | undefined {
  try {
    const traced = traceExpression(text, { branches: false });
    return { traced, trace: readTrace(sandbox.evaluate(sandbox.compile(traced.text), scope).value) };
  } catch (error) {
    if (isEngineError(error)) return undefined;
    throw error;
  }
}

/** Reports whether the original behaves like the watched expression. */
function isFaithful(sandbox: Evaluator, text: string, scope: Scope, { outcome }: Trace): boolean {
  try {
    const { value } = sandbox.evaluate(sandbox.compile(text), scope);
    return outcome.kind === "value" && (!("value" in outcome) || jsonEqual(outcome.value, value));
  } catch (error) {
    if (!isEngineError(error)) throw error;
    if (error.code === "EXPRESSION_RESULT") return outcome.kind === "noJson" || outcome.kind === "value";
    return outcome.kind === "threw" && (error.code === "EXPRESSION_STACK" || error.message.includes(outcome.message.slice(0, 100)));
  }
}
