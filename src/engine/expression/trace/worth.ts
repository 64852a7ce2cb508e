/**
 * Selects the parts of an expression that are worth showing, and the places where readers expect them.
 *
 * @module
 */
import type { AnyNode } from "acorn";
import { SCOPE } from "../left-out.ts";
import { childrenOf } from "../syntax.ts";

const SHOWN: ReadonlySet<string> = new Set([
  ...[
    "Identifier",
    "MemberExpression",
    "CallExpression",
    "ChainExpression",
    "NewExpression",
    "TaggedTemplateExpression",
    "TemplateLiteral",
  ],
  ...["BinaryExpression", "LogicalExpression", "UnaryExpression", "UpdateExpression", "AssignmentExpression"],
  ...["ArrayExpression", "ObjectExpression"],
]);

/** Names whose values are well known, or that are too large to show. */
const KNOWN: ReadonlySet<string> = new Set([...[...SCOPE].filter((name) => !name.startsWith("value")), "context", "arguments"]);

/** Reports whether a trace should show the value of a node, because the source text does not show it. */
export function isWorthShowing(node: AnyNode): boolean {
  if (!SHOWN.has(node.type)) return false;
  if (node.type === "Identifier") return !KNOWN.has(node.name);
  if (node.type === "UnaryExpression") return node.operator !== "void" && node.argument.type !== "Literal";
  if (node.type === "MemberExpression" || node.type === "CallExpression") return true;
  return childrenOf(node).some((child) => {
    const part = child.type === "Property" && !child.computed ? child.value : child;
    return part.type !== "Literal" && part.type !== "TemplateElement";
  });
}

/** Reports whether a function or class gets its name from its position. */
export function takesName(node: AnyNode): boolean {
  if (node.type === "ArrowFunctionExpression") return true;
  return (node.type === "FunctionExpression" || node.type === "ClassExpression") && !node.id;
}

/** The place where a reader expects the value of `node`, as an offset in `source`: the operator, or the last name of a chain. */
export function anchorOf(node: AnyNode, source: string): number {
  switch (node.type) {
    case "ChainExpression":
      return anchorOf(node.expression, source);
    case "MemberExpression":
      return node.computed ? placeOf("[", { source, start: node.object.end, end: node.property.start }) : node.property.start;
    case "CallExpression":
      return node.callee.type === "MemberExpression" ? anchorOf(node.callee, source) : node.callee.start;
    case "BinaryExpression":
    case "LogicalExpression":
    case "AssignmentExpression":
      return placeOf(node.operator, { source, start: node.left.end, end: node.right.start });
    default:
      return node.start;
  }
}

/** Returns the offset of `sign` between two offsets, ignoring comments. */
function placeOf(sign: string, { source, start, end }: { source: string; start: number; end: number }): number {
  const bare = source.slice(start, end).replace(/\/\*[^]*?\*\/|\/\/.*/g, (comment) => " ".repeat(comment.length));
  return start + Math.max(0, bare.indexOf(sign));
}
