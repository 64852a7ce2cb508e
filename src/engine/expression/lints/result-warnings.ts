/**
 * Warnings about results that are not values, or are probably not the intended ones.
 *
 * @module
 */
import type { AnyNode, ArrowFunctionExpression, Expression, FunctionExpression, MemberExpression } from "acorn";
import { FINDINGS_MAX, type LintFinding } from "./finding.ts";
import { rewriteAssignment } from "./hints.ts";
import { memberName } from "../reads.ts";
import { childrenOf } from "../syntax.ts";

/** Returns the first {@link FINDINGS_MAX} findings about the result of an expression. `text` is the parsed text. */
export function warnOfResult(root: Expression, text: string): LintFinding[] {
  const whole = neverJson(root);
  if (whole !== undefined) return [{ message: `the result can only be ${whole}`, offset: endOf(root).start, hint: "Return the new value" }];
  const found: LintFinding[] = [];
  for (const end of endsOf(root)) {
    if (found.length >= FINDINGS_MAX) break;
    found.push(...warnOfEnd(end, root, text));
  }
  return found;
}

function warnOfEnd(end: Expression, root: Expression, text: string): LintFinding[] {
  const source = text.slice(end.start, end.end);
  const found = (message: string, hint: string): LintFinding[] => [{ message, offset: end.start, hint }];
  if (end.type === "AssignmentExpression" && end.left.type === "MemberExpression") {
    const rewrite = rewriteAssignment(text, end);
    return rewrite === undefined ? [] : found("the result of an assignment is its right side, not the changed value", `Write ${rewrite}`);
  }
  if (end !== endOf(root) && neverJson(end) === "undefined")
    return found("the result is undefined here, which is an error", "Write null to delete the field, or value to keep it");
  if (end.type === "UnaryExpression" && end.operator === "delete" && end.argument.type === "MemberExpression" && isInValue(end.argument))
    return found("the result of delete is true, not the changed value", `Write ${withoutMember(end.argument, source)}`);
  const method = calledMethod(end);
  if (method !== undefined && isValue(method.object)) {
    const hint = lengthHint(method.name, argumentsOf(end, text));
    if (hint !== undefined) return found(`the result of ${method.name}() is not the changed list`, `Write ${hint}`);
  }
  if (canBeAbsent(end))
    return found("the result can be undefined, which is an error", `Write ${source} ?? …, with null to delete the field`);
  return [];
}

/** The node whose value is the result: the last expression of a sequence, or the expression itself. */
function endOf(root: Expression): Expression {
  return root.type === "SequenceExpression" ? endOf(root.expressions.at(-1)!) : root;
}

/** The nodes whose values can be the result. */
function endsOf(root: Expression): Expression[] {
  const end = endOf(root);
  if (end.type === "ConditionalExpression") return [...endsOf(end.consequent), ...endsOf(end.alternate)];
  if (end.type !== "LogicalExpression") return [end];
  // An absent left side is the result of `&&`, but not of the other operators.
  return [...(end.operator === "&&" && end.left.type === "ChainExpression" ? [end.left] : []), ...endsOf(end.right)];
}

function neverJson(root: Expression): string | undefined {
  const node = endOf(root);
  if (node.type === "ConditionalExpression") return neverJson(node.consequent) === undefined ? undefined : neverJson(node.alternate);
  if (node.type === "ArrowFunctionExpression" || node.type === "FunctionExpression") return "a function";
  if (node.type === "ClassExpression") return "a class";
  if (node.type === "Identifier") return ["undefined", "NaN", "Infinity"].find((name) => name === node.name);
  if (node.type === "Literal") return typeof node.value === "bigint" ? "a BigInt" : undefined;
  if (node.type === "UnaryExpression") return node.operator === "void" ? "undefined" : undefined;
  if (node.type !== "CallExpression") return undefined;
  const isNothing = calledMethod(node)?.name === "forEach" || (isFunction(node.callee) && returnsNothing(node.callee));
  return isNothing ? "undefined" : undefined;
}

/** A chain with `?.`, or a call that may find nothing. */
function canBeAbsent(node: Expression): boolean {
  if (node.type === "ChainExpression") return true;
  return ["find", "findLast"].includes(calledMethod(node)?.name ?? "");
}

function calledMethod(node: AnyNode): { readonly name: string; readonly object: AnyNode } | undefined {
  if (node.type !== "CallExpression" || node.callee.type !== "MemberExpression") return undefined;
  const name = memberName(node.callee);
  return name === undefined ? undefined : { name, object: node.callee.object };
}

function argumentsOf(node: Expression, text: string): string {
  return node.type === "CallExpression" ? node.arguments.map(({ start, end }) => text.slice(start, end)).join(", ") : "";
}

function lengthHint(method: string, given: string): string | undefined {
  if (method === "push") return `[...value, ${given}]`;
  return method === "unshift" ? `[${given}, ...value]` : undefined;
}

function withoutMember(member: MemberExpression, source: string): string {
  const name = memberName(member);
  return name === undefined || !isValue(member.object)
    ? `(${source}, value)`
    : `(({ ${JSON.stringify(name)}: _, ...rest }) => rest)(value)`;
}

function isValue(node: AnyNode): boolean {
  return node.type === "Identifier" && node.name === "value";
}

function isInValue(node: AnyNode): boolean {
  return isValue(node) || (node.type === "MemberExpression" && isInValue(node.object));
}

/** Methods whose callback must return a value. */
const ASKS: ReadonlySet<string> = new Set([
  ...["map", "filter", "flatMap", "find", "findIndex", "findLast", "findLastIndex", "some", "every", "reduce", "reduceRight"],
  ...["sort", "toSorted", "replace", "replaceAll"],
]);

/** Warns about a callback with braces that returns nothing although its result is needed. */
export function warnOfSilentCallback(node: AnyNode): LintFinding[] {
  const method = calledMethod(node);
  if (node.type !== "CallExpression" || method === undefined || !ASKS.has(method.name)) return [];
  return node.arguments.filter(isFunction).flatMap((callback) => {
    if (!returnsNothing(callback)) return [];
    const message = `the function that ${method.name}() calls returns nothing`;
    return [{ message, offset: callback.start, hint: "Leave out the braces (write an object as ({…})), or write return" }];
  });
}

function isFunction(node: AnyNode): node is ArrowFunctionExpression | FunctionExpression {
  return node.type === "ArrowFunctionExpression" || node.type === "FunctionExpression";
}

function returnsNothing({ body, generator }: ArrowFunctionExpression | FunctionExpression): boolean {
  return body.type === "BlockStatement" && !generator && !returnsSomething(body);
}

/** Reports whether a statement returns a value or throws, except in functions inside it. */
function returnsSomething(node: AnyNode): boolean {
  if (node.type === "ReturnStatement") return node.argument !== null && node.argument !== undefined;
  if (node.type === "ThrowStatement") return true;
  if (isFunction(node) || node.type === "FunctionDeclaration" || node.type === "ClassBody") return false;
  return childrenOf(node).some(returnsSomething);
}

/** Methods that do not change the string or list that they are called on. */
const PURE: ReadonlySet<string> = new Set([
  ...["replace", "replaceAll", "trim", "trimStart", "trimEnd", "toUpperCase", "toLowerCase", "slice", "substring", "concat", "padStart"],
  ...["padEnd", "split", "join", "toSorted", "toReversed", "toSpliced", "with", "repeat", "normalize"],
]);

/** Warns about results that are computed and discarded without any other effect. */
export function warnOfUnused(node: AnyNode): LintFinding[] {
  const unused =
    node.type === "SequenceExpression" ? node.expressions.slice(0, -1) : node.type === "ExpressionStatement" ? [node.expression] : [];
  return unused.flatMap((part) => {
    const name = calledMethod(part)?.name;
    if (name === undefined || !PURE.has(name)) return [];
    const message = `the result of ${name}() is not used, and the call has no other effect`;
    return [{ message, offset: part.start, hint: "Return the result, or assign it to the variable that it should replace" }];
  });
}
