/**
 * Expressions that run but hardly do what was meant.
 *
 * @module
 */
import type { AnyNode, Expression } from "acorn";
import { rewriteAssignment } from "./hints.ts";
import { SCOPE } from "./left-out.ts";
import { adviseOnName } from "./name-advice.ts";
import { isReference } from "./names.ts";
import type { Step } from "./syntax.ts";

/** A finding with its offset in the parsed text. */
export interface Finding {
  readonly message: string;
  readonly offset: number;
  readonly hint: string;
}

/** What the warnings look at. */
export interface Findable {
  readonly root: Expression;
  readonly steps: readonly Step[];
  readonly declared: ReadonlySet<string>;
  /** The parsed text, which the offsets count in. */
  readonly text: string;
}

/** All findings, in source order. */
export function findWarnings(findable: Findable): Finding[] {
  const { root, steps, text } = findable;
  const found = [...steps.flatMap((step) => [...warnIn(step.node, text), ...warnUnknown(step, findable)]), ...warnResult(root, text)];
  return found.sort((left, right) => left.offset - right.offset);
}

function warnIn(node: AnyNode, text: string): Finding[] {
  if (node.type !== "BinaryExpression" || node.operator !== "in" || node.right.type !== "ArrayExpression") return [];
  const list = text.slice(node.right.start, node.right.end);
  const item = text.slice(node.left.start, node.left.end);
  const message = "`in` asks for an index of the list, not for one of its elements";
  return [{ message, offset: node.start, hint: `Write ${list}.includes(${item})` }];
}

function warnUnknown(step: Step, { declared }: Findable): Finding[] {
  const { node, parent } = step;
  if (node.type !== "Identifier" || !isReference(step) || declared.has(node.name) || SCOPE.has(node.name) || node.name === "arguments")
    return [];
  // `typeof name` is how one asks whether a name exists.
  if (parent?.type === "UnaryExpression" && parent.operator === "typeof") return [];
  return [{ message: `\`${node.name}\` does not exist in an expression`, offset: node.start, hint: adviseOnName(node.name) }];
}

function warnResult(root: Expression, text: string): Finding[] {
  const end = resultOf(root);
  if (end.type === "AssignmentExpression" && end.left.type === "MemberExpression") {
    const rewrite = rewriteAssignment(text, end);
    if (rewrite === undefined) return [];
    return [
      { message: "the result of an assignment is its right side, not the changed value", offset: end.start, hint: `Write ${rewrite}` },
    ];
  }
  const what = neverJson(end);
  return what === undefined ? [] : [{ message: `the result can only be ${what}`, offset: end.start, hint: "Return the new value" }];
}

/** The node whose value is the result, where that is plain. */
function resultOf(root: Expression): Expression {
  return root.type === "SequenceExpression" ? resultOf(root.expressions.at(-1)!) : root;
}

function neverJson(node: Expression): string | undefined {
  if (node.type === "ConditionalExpression") return neverJson(node.consequent) === undefined ? undefined : neverJson(node.alternate);
  if (node.type === "ArrowFunctionExpression" || node.type === "FunctionExpression") return "a function";
  if (node.type === "ClassExpression") return "a class";
  if (node.type === "Identifier") return ["undefined", "NaN", "Infinity"].find((name) => name === node.name);
  if (node.type === "Literal") return typeof node.value === "bigint" ? "a BigInt" : undefined;
  const isNothing =
    (node.type === "UnaryExpression" && node.operator === "void") || (node.type === "CallExpression" && endsInForEach(node.callee));
  return isNothing ? "undefined" : undefined;
}

function endsInForEach(callee: AnyNode): boolean {
  return callee.type === "MemberExpression" && callee.property.type === "Identifier" && callee.property.name === "forEach";
}
