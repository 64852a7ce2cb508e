/**
 * Rewrites for texts that are programs rather than expressions.
 *
 * @module
 */
import type { AssignmentExpression, ModuleDeclaration, Statement } from "acorn";
import { memberName } from "./reads.ts";
import { parseStatements, walk } from "./syntax.ts";

/** What a text is that does not parse as one expression, and what to write instead. */
export interface Advice {
  readonly message: string;
  readonly hint?: string;
}

type Item = Statement | ModuleDeclaration;

const USE_LIST_METHODS = "Use methods of lists, such as map, filter, find and reduce";
const HINTS: Readonly<Partial<Record<Item["type"], string>>> = {
  IfStatement: "Write condition ? one : other",
  SwitchStatement: "Write condition ? one : other, or look the answer up: ({a: 1, b: 2})[value]",
  VariableDeclaration: "Use the values in place, or name them as parameters: ((name) => name + name)(value)",
  FunctionDeclaration: "Put the function in parentheses and call it: ((name) => name)(value)",
  ClassDeclaration: "Put the class in parentheses",
  ForStatement: USE_LIST_METHODS,
  ForInStatement: USE_LIST_METHODS,
  ForOfStatement: USE_LIST_METHODS,
  WhileStatement: USE_LIST_METHODS,
  DoWhileStatement: USE_LIST_METHODS,
  ThrowStatement: "Return the value that should stand there",
  TryStatement: "Guard the operation with ?. and ??",
  ImportDeclaration: "Nothing can be imported; the scope is `value`, `context` and the language's own functions",
  ExportNamedDeclaration: "Leave out the export",
  ExportDefaultDeclaration: "Leave out the export",
};

/** Advice for `text`, which is not one expression; undefined when it is no program either. */
export function adviseOn(text: string): Advice | undefined {
  if (text.trim() === "") return { message: "found nothing to evaluate", hint: "Write `value` to keep the value" };
  const items = parseStatements(text)?.body;
  if (items === undefined) return undefined;
  const [first, second] = items;
  if (first === undefined) return { message: "found nothing to evaluate", hint: "Write `value` to keep the value" };
  if (second !== undefined) return { message: `found ${items.length} statements`, ...hint(adviseOnSeveral(text, items)) };
  return { message: `found ${describe(first)}`, ...hint(adviseOnOne(text, first)) };
}

function hint(text: string | undefined): { hint?: string } {
  return text === undefined ? {} : { hint: text };
}

function describe(item: Item): string {
  if (item.type === "ExpressionStatement") return "a statement";
  if (item.type === "ReturnStatement") return "a return statement";
  return `a statement (${item.type})`;
}

function adviseOnOne(text: string, item: Item): string | undefined {
  if (item.type === "ReturnStatement")
    return item.argument ? `Leave out return: ${sourceOf(text, item.argument)}` : "Write `value` to keep the value";
  if (item.type !== "ExpressionStatement") return HINTS[item.type];
  if (walk(item).some(({ node }) => node.type === "AwaitExpression")) return "Nothing here has to be waited for; leave out await";
  return `Leave out the semicolon: ${sourceOf(text, item.expression)}`;
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

/**
 * `value["k"] = "v"` as an expression that gives the changed value.
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
    if (name === undefined || /^\d+$/.test(name)) return undefined;
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
