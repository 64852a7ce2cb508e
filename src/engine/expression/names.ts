/**
 * The names that an expression declares, and those that it uses.
 *
 * Scopes are not distinguished: a name that is declared anywhere counts as declared everywhere. That is enough for warnings.
 *
 * @module
 */
import type { AnyNode, Pattern } from "acorn";
import type { SyntaxStep } from "./syntax.ts";

/** Reports whether an identifier is a variable, not a member, a key or a label. */
export function isReference({ node, parent }: SyntaxStep): boolean {
  if (parent === undefined) return true;
  if (parent.type === "MemberExpression") return parent.object === node || parent.computed;
  if (HOLDS_KEY.has(parent.type)) return !("key" in parent) || parent.key !== node || ("computed" in parent && parent.computed);
  return !HOLDS_LABEL.has(parent.type);
}

const HOLDS_KEY: ReadonlySet<string> = new Set(["Property", "MethodDefinition", "PropertyDefinition"]);
const HOLDS_LABEL: ReadonlySet<string> = new Set(["LabeledStatement", "BreakStatement", "ContinueStatement", "MetaProperty"]);

/** Returns every name that a parameter, variable, function, class or catch clause declares. */
export function declaredNames(steps: readonly SyntaxStep[]): Set<string> {
  const names = new Set<string>();
  for (const { node } of steps) for (const pattern of patternsOf(node)) collectNames(pattern, names);
  return names;
}

function patternsOf(node: AnyNode): readonly (Pattern | null | undefined)[] {
  if (node.type === "CatchClause") return [node.param];
  if (node.type === "VariableDeclarator" || node.type === "ClassExpression" || node.type === "ClassDeclaration") return [node.id];
  const isFunction = node.type === "FunctionExpression" || node.type === "FunctionDeclaration" || node.type === "ArrowFunctionExpression";
  return isFunction ? [node.id, ...node.params] : [];
}

function collectNames(pattern: Pattern | null | undefined, names: Set<string>): void {
  switch (pattern?.type) {
    case "Identifier":
      names.add(pattern.name);
      break;
    case "ObjectPattern":
      for (const property of pattern.properties) collectNames(property.type === "Property" ? property.value : property.argument, names);
      break;
    case "ArrayPattern":
      for (const element of pattern.elements) collectNames(element, names);
      break;
    case "RestElement":
      collectNames(pattern.argument, names);
      break;
    case "AssignmentPattern":
      collectNames(pattern.left, names);
      break;
    case "MemberExpression":
    case undefined:
      break;
  }
}
