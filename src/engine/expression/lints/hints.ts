/**
 * Rewrites for texts that are programs rather than expressions.
 *
 * @module
 */
import type { AssignmentExpression, ExpressionStatement, ModuleDeclaration, ReturnStatement, Statement } from "acorn";
import { memberName } from "../reads.ts";
import { parseExpression, parseStatements, walk } from "../syntax.ts";

/** Description of a text that is not one expression, and its correction. */
export interface Advice {
  readonly message: string;
  readonly hint?: string;
}

type Item = Statement | ModuleDeclaration;

const USE_LIST_METHODS = "Use methods of lists, such as map, filter, find and reduce";
const HINTS: Readonly<Partial<Record<Item["type"], string>>> = {
  IfStatement: "Write condition ? one : other",
  SwitchStatement: "Write condition ? one : other, or look up the result: ({a: 1, b: 2})[value]",
  VariableDeclaration: "Use the values in place, or name them as parameters: ((name) => name + name)(value)",
  FunctionDeclaration: "Put the function in parentheses and call it: ((name) => name)(value)",
  ClassDeclaration: "Put the class in parentheses",
  ForStatement: USE_LIST_METHODS,
  ForInStatement: USE_LIST_METHODS,
  ForOfStatement: USE_LIST_METHODS,
  WhileStatement: USE_LIST_METHODS,
  DoWhileStatement: USE_LIST_METHODS,
  BlockStatement: "Remove the braces; an object is written as ({key: value})",
  ThrowStatement: "Return a value instead of throwing",
  TryStatement: "Guard the operation with ?. and ??",
  ImportDeclaration: "Nothing can be imported; the scope is `value`, `context` and the language's own functions",
  ExportNamedDeclaration: "Leave out the export",
  ExportDefaultDeclaration: "Leave out the export",
};

const EMPTY: Advice = { message: "found nothing to evaluate", hint: "Write `value` to keep the value" };

/** Returns advice for `text`, which is not one expression; undefined if the parser's own message is better. */
export function adviseOn(text: string): Advice | undefined {
  const items = text.trim() === "" ? [] : parseStatements(text)?.body;
  if (items === undefined) return undefined;
  const [first, second] = items;
  if (first === undefined) return EMPTY;
  if (second !== undefined) return { message: `found ${items.length} statements`, ...optionalHint(adviseOnSeveral(text, items)) };
  if (first.type === "ExpressionStatement") return adviseOnExpression(text, first);
  if (first.type === "ReturnStatement") return { message: "found a return statement", hint: adviseOnReturn(text, first) };
  return { message: `found a statement (${first.type})`, ...optionalHint(HINTS[first.type]) };
}

function optionalHint(hint: string | undefined): { hint?: string } {
  return hint === undefined ? {} : { hint };
}

function adviseOnReturn(text: string, { argument }: ReturnStatement): string {
  return argument ? `Leave out return: ${sourceOf(text, argument)}` : "Write `value` to keep the value";
}

function adviseOnExpression(text: string, { expression }: ExpressionStatement): Advice | undefined {
  const waits = walk(expression).some(({ node }) => node.type === "AwaitExpression");
  if (waits) return { message: "await is not available", hint: "There is nothing to await here; leave out await" };
  const source = sourceOf(text, expression);
  // A text that fails even without the semicolon fails for another reason, such as strict mode.
  if ("message" in parseExpression(source)) return undefined;
  return { message: "found a statement", hint: `Leave out the semicolon: ${source}` };
}

function adviseOnSeveral(text: string, items: readonly Item[]): string | undefined {
  const foreign = items.find((item) => HINTS[item.type] !== undefined);
  if (foreign !== undefined) return HINTS[foreign.type];
  const expressions = items.flatMap((item) => {
    if (item.type === "ExpressionStatement") return [item.expression];
    return item.type === "ReturnStatement" && item.argument ? [item.argument] : [];
  });
  const [first, last] = expressions;
  if (expressions.length === 2 && first?.type === "AssignmentExpression" && last?.type === "Identifier" && last.name === "value") {
    const rewrite = rewriteAssignment(text, first);
    if (rewrite !== undefined) return `Write ${rewrite}`;
  }
  return expressions.length === 0 ? undefined : `Write (${expressions.map((expression) => sourceOf(text, expression)).join(", ")})`;
}

function sourceOf(text: string, node: { readonly start: number; readonly end: number }): string {
  return text.slice(node.start, node.end);
}

/** Maximum length of a chain that is rewritten: the rewrite repeats the chain at each of its members. */
const REWRITTEN_MEMBERS_MAX = 10;

/**
 * Rewrites an assignment such as `value["k"] = "v"` as an expression whose result is the changed value.
 *
 * @example
 * // value.a.b = 1   →   ({...value, a: {...value.a, b: 1}})
 */
export function rewriteAssignment(text: string, assignment: AssignmentExpression): string | undefined {
  const { left, right, operator } = assignment;
  if (operator !== "=" || left.type !== "MemberExpression") return undefined;
  const names: string[] = [];
  let target: typeof left | { type: string } = left;
  while (target.type === "MemberExpression" && "object" in target) {
    const name = memberName(target);
    if (name === undefined || /^\d+$/.test(name) || names.length === REWRITTEN_MEMBERS_MAX) return undefined;
    names.unshift(name);
    target = target.object;
  }
  if (!("name" in target) || target.name !== "value") return undefined;
  return `(${spread("value", names, sourceOf(text, right))})`;
}

function spread(object: string, names: readonly string[], right: string): string {
  const [name, ...deeper] = names as [string, ...string[]];
  const plain = /^[A-Za-z_$][\w$]*$/.test(name);
  const inner = deeper.length === 0 ? right : spread(plain ? `${object}.${name}` : `${object}[${JSON.stringify(name)}]`, deeper, right);
  return `{...${object}, ${plain ? name : JSON.stringify(name)}: ${inner}}`;
}
