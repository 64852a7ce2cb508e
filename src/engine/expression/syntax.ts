/**
 * The interface to acorn: parses text into a syntax tree, and finds constructs that the tree must not contain.
 *
 * @module
 */
import { parse, type AnyNode, type Expression, type Options, type Program } from "acorn";
import { messageOf } from "../../base/errors.ts";

/** A place in a text, in UTF-16 units from 0. */
export type Offset = number;

/** The reason why a text is not an expression that can be run. */
export interface SyntaxProblem {
  readonly message: string;
  readonly offset: Offset;
  readonly hint?: string;
}

/** Precedes the text while it is parsed: strict mode, and one parenthesis that must enclose the whole text. */
const BEFORE = '"use strict";(';
/** The line end closes a line comment at the end of the text. */
const AFTER = "\n)";

/** Maximum nesting. Deeper trees could overflow the stack of code that walks or compiles them. */
export const EXPRESSION_DEPTH_MAX = 200;

/** Closing parentheses that {@link unopened} tries, because each try parses the text again. */
const UNOPENED_TRIES = 20;

const OPTIONS: Options = { ecmaVersion: 2023, sourceType: "script", allowHashBang: false };

/** A tree whose offsets count from the start of {@link text}, not of the expression. */
export interface ParsedExpression {
  readonly root: Expression;
  /** The parsed text: the expression in its enclosure. */
  readonly text: string;
  /** Where the expression starts in `text`. */
  readonly start: Offset;
}

/** Parses `text` as one expression and returns its tree, or its syntax problem. */
export function parseExpression(text: string): ParsedExpression | SyntaxProblem {
  const tooDeep = findDeepParenthesis(text);
  if (tooDeep !== undefined) return tooDeep;
  const htmlComments: Offset[] = [];
  const onComment = (_block: boolean, _text: string, start: Offset) => {
    // The engine and acorn could disagree about where an HTML comment ends.
    if (!source.startsWith("/", start)) htmlComments.push(start - BEFORE.length);
  };
  const source = BEFORE + text + AFTER;
  const tree = attempt(() => parse(source, { ...OPTIONS, onComment }), BEFORE.length);
  if (htmlComments[0] !== undefined) return { message: "found a comment in HTML form", offset: htmlComments[0], hint: "Write /* … */" };
  if ("message" in tree) return tree.offset < text.length ? tree : (unopened(text) ?? { ...tree, offset: text.length });
  const root = enclosedExpression(tree);
  if (root === undefined) return unopened(text) ?? { message: "its parentheses do not match", offset: 0 };
  return { root, text: source, start: BEFORE.length };
}

/**
 * Reports parentheses that are nested too deeply. The tree does not contain parentheses, and how many the parser can handle depends on the
 * platform, but the result must not. Parentheses in strings count too: no expression needs two hundred of them.
 */
function findDeepParenthesis(text: string): SyntaxProblem | undefined {
  let depth = 0;
  for (let offset = 0; offset < text.length; offset += 1) {
    if (text[offset] === "(") depth += 1;
    if (text[offset] === ")") depth -= 1;
    if (depth > EXPRESSION_DEPTH_MAX) return { message: `it is nested deeper than ${EXPRESSION_DEPTH_MAX} levels`, offset };
  }
  return undefined;
}

/** The statements of `text`, when it is a program rather than an expression. */
export function parseStatements(text: string): Program | undefined {
  const tree = attempt(
    () => parse(text, { ...OPTIONS, allowReturnOutsideFunction: true, allowAwaitOutsideFunction: true, allowImportExportEverywhere: true }),
    0,
  );
  return "message" in tree ? undefined : tree;
}

function attempt(run: () => Program, shift: number): Program | SyntaxProblem {
  try {
    return run();
  } catch (error) {
    // The parser overflowed the stack, which it reports in one of two ways.
    if (error instanceof RangeError || /stack space/.test(messageOf(error))) return { message: "it is nested too deeply", offset: 0 };
    if (!(error instanceof SyntaxError)) throw error;
    const offset = (error as SyntaxError & { pos?: number }).pos ?? 0;
    return { message: lowerFirst(error.message.replace(/ \(\d+:\d+\)$/, "")), offset: Math.max(0, offset - shift) };
  }
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}

/** The one expression inside our parenthesis. `a),(b` would start at the parenthesis itself. */
function enclosedExpression(tree: Program): Expression | undefined {
  const [, statement, ...more] = tree.body;
  if (statement?.type !== "ExpressionStatement" || more.length > 0) return undefined;
  return statement.expression.start >= BEFORE.length ? statement.expression : undefined;
}

/** Reports the first closing parenthesis that has no opening one: the text before it is complete. Checks only the first few. */
function unopened(text: string): SyntaxProblem | undefined {
  let at = -1;
  for (let tries = 0; tries < UNOPENED_TRIES; tries += 1) {
    at = text.indexOf(")", at + 1);
    if (at < 0) return undefined;
    const before = attempt(() => parse(`(${text.slice(0, at)}\n)`, OPTIONS), 0);
    if (!("message" in before)) return { message: "found a closing parenthesis without an opening one", offset: at };
  }
  return undefined;
}

/** A node with its parent. */
export interface SyntaxStep {
  readonly node: AnyNode;
  readonly parent: AnyNode | undefined;
  readonly depth: number;
  /** True if the node is in a function that has its own `arguments`. */
  readonly inFunction: boolean;
}

/** Lists `root` and every node below it, in source order. */
export function walk(root: AnyNode): SyntaxStep[] {
  const steps: SyntaxStep[] = [];
  const open: SyntaxStep[] = [{ node: root, parent: undefined, depth: 0, inFunction: false }];
  for (let step = open.pop(); step !== undefined; step = open.pop()) {
    const { node, depth } = step;
    steps.push(step);
    const inFunction = step.inFunction || node.type === "FunctionExpression" || node.type === "FunctionDeclaration";
    for (const child of childrenOf(node).reverse()) open.push({ node: child, parent: node, depth: depth + 1, inFunction });
  }
  return steps;
}

/** The nodes directly below `node`, in the order of its fields. */
export function childrenOf(node: AnyNode): AnyNode[] {
  return Object.values(node).flat().filter(isNode);
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}
