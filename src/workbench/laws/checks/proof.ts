/**
 * Proves from the text of a pair of expressions that one undoes the other for every value.
 *
 * @module
 */
import { memberName } from "../../../engine/expression/reads.ts";
import type { Schema } from "../../../schema/schema.ts";
import { parseExpression, type SyntaxStep } from "../../../engine/expression/syntax.ts";

type AnyNode = SyntaxStep["node"];

/** The two expressions of a patch. */
export interface ExpressionPair {
  readonly expression: string;
  readonly reverseExpression: string;
}

/**
 * A proof about a pair, found without trying values. `inverse`: every value comes back. `exceptions`: only these values must be tried,
 * because both expressions return all others unchanged.
 */
export type PairProof = { readonly kind: "inverse" } | { readonly kind: "exceptions"; readonly values: readonly unknown[] };

/**
 * Looks for a proof that `reverseExpression` undoes `expression` for all values of the shape. Returns undefined if the source
 * text proves nothing; values must then be tried.
 *
 * @example
 * provePair({ expression: '"x-" + value', reverseExpression: "value.slice(2)" }, { type: "text", format: "text" }); // { kind: "inverse" }
 * provePair({ expression: 'value === 80 ? 8080 : value', reverseExpression: "value" }, PORT); // { kind: "exceptions", values: [80, 8080] }
 */
export function provePair({ expression, reverseExpression }: ExpressionPair, shape: Schema): PairProof | undefined {
  const [there, back] = [parseExpression(expression), parseExpression(reverseExpression)];
  if ("message" in there || "message" in back) return undefined;
  const type = shape.type === "integer" ? "number" : shape.type === "string" ? "text" : undefined;
  if (type !== undefined && undoes(stepsOf(there.root, type), stepsOf(back.root, type))) return { kind: "inverse" };
  const values = new Set<unknown>();
  return isPlainBut(there.root, values) && isPlainBut(back.root, values) ? { kind: "exceptions", values: [...values] } : undefined;
}

/** One operation of an expression on its value, in a form that can be compared. */
type Step =
  | { readonly does: "prefix" | "suffix"; readonly text: string }
  | { readonly does: "cutStart" | "cutEnd"; readonly length: number }
  | { readonly does: "add"; readonly number: number }
  | { readonly does: "btoa" | "atob" | "encodeURIComponent" | "decodeURIComponent" };

const OPPOSITE: Readonly<Record<string, string>> = { btoa: "atob", encodeURIComponent: "decodeURIComponent" };
const CALLS = ["btoa", "atob", "encodeURIComponent", "decodeURIComponent"] as const;

function undoes(there: readonly Step[] | undefined, back: readonly Step[] | undefined): boolean {
  if (there === undefined || back === undefined || there.length !== back.length) return false;
  return there.every((step, at) => isUndoneBy(step, back.at(-1 - at)!));
}

function isUndoneBy(step: Step, back: Step): boolean {
  if (step.does === "prefix") return back.does === "cutStart" && back.length === step.text.length;
  if (step.does === "suffix") return back.does === "cutEnd" && back.length === step.text.length;
  if (step.does === "add") return back.does === "add" && back.number === -step.number;
  return OPPOSITE[step.does] === back.does;
}

/** The steps from `value` outwards, in the order in which they happen; undefined if one is unknown. */
function stepsOf(node: AnyNode, type: "text" | "number"): readonly Step[] | undefined {
  if (isValue(node)) return [];
  const known = type === "number" ? numberStep(node) : (affixSteps(node) ?? cutStep(node) ?? callStep(node));
  if (known === undefined) return undefined;
  const inner = stepsOf(known.inner, type);
  return inner && [...inner, ...known.steps];
}

interface Known {
  readonly inner: AnyNode;
  readonly steps: readonly Step[];
}

function numberStep(node: AnyNode): Known | undefined {
  if (node.type !== "BinaryExpression" || (node.operator !== "+" && node.operator !== "-")) return undefined;
  const { left, right, operator } = node;
  if (isInteger(right)) return { inner: left as AnyNode, steps: [{ does: "add", number: operator === "+" ? right.value : -right.value }] };
  return operator === "+" && isInteger(left) ? { inner: right, steps: [{ does: "add", number: left.value }] } : undefined;
}

/** Larger numbers lose digits when ports are added to them. */
const INTEGER_MAX = 2 ** 52;

function isInteger(node: AnyNode): node is AnyNode & { readonly value: number } {
  return node.type === "Literal" && Number.isInteger(node.value) && (node.value as number) < INTEGER_MAX;
}

function affixSteps(node: AnyNode): Known | undefined {
  if (node.type === "TemplateLiteral" && node.expressions.length === 1) {
    const [before = "", after = ""] = node.quasis.map(({ value }) => value.cooked ?? "");
    return { inner: node.expressions[0]!, steps: affixes(before, after) };
  }
  if (node.type !== "BinaryExpression" || node.operator !== "+") return undefined;
  if (isText(node.left)) return { inner: node.right, steps: affixes(node.left.value, "") };
  return isText(node.right) ? { inner: node.left as AnyNode, steps: affixes("", node.right.value) } : undefined;
}

function affixes(before: string, after: string): readonly Step[] {
  const start = before === "" ? [] : [{ does: "prefix", text: before } as const];
  return [...start, ...(after === "" ? [] : [{ does: "suffix", text: after } as const])];
}

/** `slice(2)`, `slice("x-".length)`, `substring(2)`, `slice(0, -2)`. */
function cutStep(node: AnyNode): Known | undefined {
  if (node.type !== "CallExpression" || node.callee.type !== "MemberExpression" || node.callee.optional) return undefined;
  const method = memberName(node.callee);
  const inner = node.callee.object as AnyNode;
  const numbers = node.arguments.map((argument) => lengthIn(argument));
  const [first, second] = numbers;
  if (first === undefined || numbers.includes(undefined)) return undefined;
  if (numbers.length === 1 && first > 0 && (method === "slice" || method === "substring"))
    return { inner, steps: [{ does: "cutStart", length: first }] };
  if (method !== "slice" || numbers.length !== 2 || second! >= 0 || first < 0) return undefined;
  const start = first === 0 ? [] : [{ does: "cutStart", length: first } as const];
  return { inner, steps: [{ does: "cutEnd", length: -second! }, ...start] };
}

/** A number, its negative, or the length of a literal. */
function lengthIn(node: AnyNode): number | undefined {
  if (node.type === "UnaryExpression" && node.operator === "-") {
    const number = lengthIn(node.argument);
    return number === undefined ? undefined : -number;
  }
  if (node.type === "MemberExpression" && memberName(node) === "length" && isText(node.object as AnyNode))
    return (node.object as AnyNode & { readonly value: string }).value.length;
  return isInteger(node) ? node.value : undefined;
}

function callStep(node: AnyNode): Known | undefined {
  if (node.type !== "CallExpression" || node.callee.type !== "Identifier" || node.arguments.length !== 1) return undefined;
  const { name } = node.callee;
  const does = CALLS.find((call) => call === name);
  return does && { inner: node.arguments[0]!, steps: [{ does }] };
}

/**
 * Reports whether an expression returns every value unchanged, except the literals that it compares `value` with. Adds these literals, and
 * the literals that it returns for them, to `values`.
 */
function isPlainBut(node: AnyNode, values: Set<unknown>): boolean {
  if (isValue(node)) return true;
  if (node.type !== "ConditionalExpression") return false;
  const test = comparison(node.test);
  if (test === undefined) return false;
  const [same, other] = test.equal ? [node.consequent, node.alternate] : [node.alternate, node.consequent];
  values.add(test.literal);
  if (!isLiteral(same)) return isPlainBut(same, values) && isPlainBut(other, values);
  values.add(same.value);
  return isPlainBut(other, values);
}

function comparison(node: AnyNode): { readonly literal: unknown; readonly equal: boolean } | undefined {
  if (node.type !== "BinaryExpression" || (node.operator !== "===" && node.operator !== "!==")) return undefined;
  const sides = [node.left as AnyNode, node.right];
  const literal = sides.find(isLiteral);
  return literal !== undefined && sides.some(isValue) ? { literal: literal.value, equal: node.operator === "===" } : undefined;
}

function isLiteral(node: AnyNode): node is AnyNode & { readonly value: string | number | boolean } {
  return node.type === "Literal" && ["string", "number", "boolean"].includes(typeof node.value);
}

function isText(node: AnyNode): node is AnyNode & { readonly value: string } {
  return node.type === "Literal" && typeof node.value === "string" && node.value !== "";
}

function isValue(node: AnyNode): boolean {
  return node.type === "Identifier" && node.name === "value";
}
