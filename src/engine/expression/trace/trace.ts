/**
 * Instruments an expression to record how it computes its result.
 *
 * Guarantees:
 * - The traced expression does what the original does, in the same order: same value, same exception, same changes of its input.
 *   The exceptions are texts of its own source: a function turned into text, and the places in an error's `stack`.
 * - The result is again one expression and adds no free names, so it runs wherever the original runs. It takes more steps, has a longer
 * text, and needs slightly more stack.
 *
 * @module
 */
import { isRecord } from "../../../base/json.ts";
import { EngineError } from "../../../base/errors.ts";
import { Instrumenter } from "./instrument.ts";
import { EXPRESSION_DEPTH_MAX, parseExpression, walk, type SyntaxStep } from "../syntax.ts";
import { TracePlaces } from "./trace-places.ts";
import type { TracePoint } from "./trace-point.ts";
import { surround } from "./trace-source.ts";

export type { TracePoint } from "./trace-point.ts";

/** An expression that records the values of its parts. */
export interface TracedExpression {
  /** One expression for the sandbox; {@link readTrace} reads its value. */
  readonly text: string;
  readonly points: readonly TracePoint[];
}

/** Options of a trace. */
export interface TraceOptions {
  /** Values of sub-expressions. Default true. */
  readonly values?: boolean;
  /** Both sides of choices. Default true. */
  readonly branches?: boolean;
}

/** Observation at one point. */
export interface Sighting {
  /** Number of times that the point was reached. */
  readonly count: number;
  /** The first and the last value, in JavaScript's notation, truncated if long. Absent at branches, and if `count` is 0. */
  readonly first?: string;
  readonly last?: string;
}

/** Result of evaluating a traced expression. */
export interface Trace {
  /** Outcome of the original: a value, an exception, or a result that has no JSON form. `value` is absent when it is very long. */
  readonly outcome:
    | { readonly kind: "value"; readonly value?: unknown }
    | { readonly kind: "threw"; readonly name: string; readonly message: string }
    | { readonly kind: "noJson" };
  /** One for each point. */
  readonly seen: readonly Sighting[];
}

/** Maximum nesting of calls, which make the tree deeper; the depth of the tree is limited. */
const NESTING_MAX = 50;
/** Levels of the tree, and parentheses, that surround the expression. */
const SURROUNDING_DEPTH = 16;
/** Maximum levels of the tree, and parentheses, that each call adds. */
const CALL_DEPTH = 4;

/**
 * Returns `text` with calls that record the value of each part. If a text is nested so deeply that the calls would exceed the limit, it has
 * fewer points, or none.
 *
 * @throws EXPRESSION_SYNTAX when `text` is not one expression.
 * @example
 * traceExpression("value.a + 1").points.map(({ label }) => label); // ["value", "value.a", "value.a + 1"]
 */
export function traceExpression(text: string, { values = true, branches = true }: TraceOptions = {}): TracedExpression {
  const parsed = parseExpression(text);
  if ("message" in parsed)
    throw new EngineError("EXPRESSION_SYNTAX", `Cannot trace an expression: ${parsed.message}`, { details: { text } });
  const steps = walk(parsed.root);
  const prefix = freePrefix(steps);
  const nesting = freeNesting(text, steps);
  const places = new TracePlaces({ source: parsed.text, start: parsed.start, prefix, nesting });
  const body = new Instrumenter(places, { values, branches }).value(parsed.root);
  const { points, differences } = places;
  return { text: surround(body, { prefix, places: points.length, differences, values }), points };
}

/** Reads the trace from the value of a traced expression. */
export function readTrace(value: unknown): Trace {
  if (!isRecord(value) || !Array.isArray(value["seen"])) throw new TypeError("This is not the value of a traced expression");
  const seen = (value["seen"] as readonly (readonly [number, string?, string?])[]).map(([count, first, last]) => ({
    count,
    ...(first !== undefined && last !== undefined && { first, last }),
  }));
  const { kind, json, name, message } = value as Record<string, string | undefined>;
  if (kind === "threw") return { outcome: { kind, name: name ?? "", message: message ?? "" }, seen };
  if (kind === "noJson") return { outcome: { kind }, seen };
  return { outcome: { kind: "value", ...(json !== undefined && { value: JSON.parse(json) as unknown }) }, seen };
}

/** A prefix that no name of the expression begins with. */
function freePrefix(steps: readonly SyntaxStep[]): string {
  let prefix = "$";
  while (steps.some(({ node }) => node.type === "Identifier" && node.name.startsWith(prefix))) prefix += "$";
  return prefix;
}

/** Returns how deeply calls may nest in a text. */
function freeNesting(text: string, steps: readonly SyntaxStep[]): number {
  const depth = steps.reduce((deepest, step) => Math.max(deepest, step.depth), 0);
  let open = 0;
  let parentheses = 0;
  for (const unit of text) {
    if (unit === "(") parentheses = Math.max(parentheses, (open += 1));
    if (unit === ")") open -= 1;
  }
  const room = EXPRESSION_DEPTH_MAX - SURROUNDING_DEPTH - Math.max(depth, parentheses);
  return Math.max(0, Math.min(NESTING_MAX, Math.floor(room / CALL_DEPTH)));
}
