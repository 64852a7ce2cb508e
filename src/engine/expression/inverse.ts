import type { AnyNode } from "acorn";
import { parseExpression } from "./syntax.ts";

/**
 * Returns the expression that undoes `text`, if it is obvious: `text` adds a prefix or a suffix, or converts to or from base64.
 *
 * @example
 * inverseOf('"blue-" + value'); // 'value.slice("blue-".length)'
 */
export function inverseOf(text: string): string | undefined {
  const parsed = parseExpression(text);
  if ("message" in parsed) return undefined;
  const { root } = parsed;
  const sourceOf = ({ start, end }: AnyNode) => parsed.text.slice(start, end);
  if (root.type === "CallExpression" && root.callee.type === "Identifier" && root.arguments.length === 1 && isValue(root.arguments[0]!)) {
    if (root.callee.name === "btoa") return "atob(value)";
    return root.callee.name === "atob" ? "btoa(value)" : undefined;
  }
  if (root.type !== "BinaryExpression" || root.operator !== "+") return undefined;
  const { left, right } = root;
  if (isText(left) && isValue(right)) return `value.slice(${sourceOf(left)}.length)`;
  return isValue(left) && isText(right) ? `value.slice(0, -${sourceOf(right)}.length)` : undefined;
}

function isValue(node: AnyNode): boolean {
  return node.type === "Identifier" && node.name === "value";
}

function isText(node: AnyNode): boolean {
  return node.type === "Literal" && typeof node.value === "string" && node.value !== "";
}
