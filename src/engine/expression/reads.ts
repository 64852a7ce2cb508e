/**
 * Determines the parts of `context` that an expression can see, so that only these are copied into the sandbox.
 *
 * The result may contain too much, but never too little: any use that is not clearly a chain of named members makes it "all".
 *
 * @module
 */
import type { AnyNode, MemberExpression } from "acorn";
import { isReference } from "./names.ts";
import type { SyntaxStep } from "./syntax.ts";

/** Paths of members below `context`, or all of it. */
export type Reads = readonly (readonly string[])[] | "all";

/**
 * Returns the members of `context` that the nodes can read.
 *
 * For a call, the path ends before the name of the method, because the method can read the whole object that it is called on. If the
 * expression declares the name `context`, all of `context` counts as read, so scopes need not be distinguished.
 */
export function findReads(steps: readonly SyntaxStep[]): Reads {
  const paths: (readonly string[])[] = [];
  const inner = new Set<AnyNode>();
  for (const step of steps) {
    const { node, parent } = step;
    if (inner.has(node) || (node.type === "Identifier" && !isReference(step))) continue;
    const path = staticPath(node, inner);
    if (path === undefined) continue;
    const read = isCalled(node, parent) ? path.slice(0, -1) : path;
    if (read.length === 0) return "all";
    paths.push(read);
  }
  return withoutCovered(paths);
}

/**
 * Returns the names from `context` to `node`; undefined if `node` is not such a chain. Adds the nodes of the chain to `inner`, because the
 * result for the whole chain covers them.
 */
function staticPath(node: AnyNode, inner: Set<AnyNode>): string[] | undefined {
  const names: string[] = [];
  let at = node;
  while (at.type === "MemberExpression" || at.type === "ChainExpression") {
    if (at.type === "MemberExpression") {
      const name = memberName(at);
      // In `context[key].name`, only `context` itself is a static path, so it counts as read as a whole.
      if (name === undefined) return undefined;
      names.push(name);
      inner.add(at.property);
    }
    inner.add(at);
    at = at.type === "MemberExpression" ? at.object : at.expression;
  }
  if (at.type !== "Identifier" || at.name !== "context") return undefined;
  inner.add(at);
  return names.reverse();
}

/** The name of a member that is written as `.name`, `["name"]`, `[0]` or with a template without substitutions. */
export function memberName(node: MemberExpression): string | undefined {
  const { property } = node;
  if (!node.computed) return property.type === "Identifier" ? property.name : undefined;
  if (property.type === "Literal")
    return typeof property.value === "string" || typeof property.value === "number" ? String(property.value) : undefined;
  if (property.type === "TemplateLiteral" && property.expressions.length === 0) return property.quasis[0]?.value.cooked ?? undefined;
  return undefined;
}

function isCalled(node: AnyNode, parent: AnyNode | undefined): boolean {
  if (parent?.type === "CallExpression") return parent.callee === node;
  return parent?.type === "TaggedTemplateExpression" && parent.tag === node;
}

/** A tree of paths with one name per level. A path ends at the value `undefined`. */
interface Branches extends Map<string, Branches | undefined> {}

/** Returns the paths without duplicates and without those below another path. */
function withoutCovered(paths: readonly (readonly string[])[]): (readonly string[])[] {
  const root: Branches = new Map();
  return [...paths].sort((left, right) => left.length - right.length).filter((path) => addPath(root, path));
}

/** Adds a path. Returns false if a path that was added before covers it. */
function addPath(root: Branches, path: readonly string[]): boolean {
  let at = root;
  for (const [index, name] of path.entries()) {
    if (at.has(name) && at.get(name) === undefined) return false;
    const isLast = index === path.length - 1;
    const below = at.get(name) ?? new Map<string, never>();
    at.set(name, isLast ? undefined : below);
    at = below;
  }
  return true;
}
