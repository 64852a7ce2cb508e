/**
 * The syntax tree of a YAML text, even if the text contains errors.
 *
 * @module
 */
import { yamlLanguage } from "@codemirror/lang-yaml";

/** A node of the tree: its name, and where it begins and ends. */
export type SyntaxNode = ReturnType<typeof yamlLanguage.parser.parse>["topNode"];

/** Names of the nodes beside a value that are not values. */
const ASIDE = new Set(["Comment", "Anchor", "Tag", ":", "-", "?", ",", "[", "]", "{", "}"]);

/** The value of each document in a text; undefined for an empty document. */
export function documentsIn(text: string): (SyntaxNode | undefined)[] {
  return yamlLanguage.parser.parse(text).topNode.getChildren("Document").map(valueIn);
}

/** The values of a list, in block or flow style; undefined when the node is not a list. */
export function items(node: SyntaxNode): SyntaxNode[] | undefined {
  if (!node.name.endsWith("Sequence")) return undefined;
  return node.getChildren("Item").flatMap((item) => valueIn(item) ?? []);
}

/** The values of a map by their keys; those without a value are left out. */
export function members(node: SyntaxNode, text: string): Map<string, SyntaxNode> {
  const found = new Map<string, SyntaxNode>();
  for (const pair of node.getChildren("Pair")) {
    const name = pairKey(pair, text);
    const value = valueIn(pair);
    if (name !== undefined && value !== undefined && value.name !== "Key") found.set(name, value);
  }
  return found;
}

/** The key of a pair in a map; undefined when there is none. */
export function pairKey(pair: SyntaxNode, text: string): string | undefined {
  const key = pair.getChild("Key");
  return key === null ? undefined : scalar(key.firstChild ?? undefined, text);
}

/** The value of a document, an item or a pair: its last child that is a value. */
export function valueIn(node: SyntaxNode): SyntaxNode | undefined {
  for (let child = node.lastChild; child !== null; child = child.prevSibling)
    if (!ASIDE.has(child.name) && child.name !== "Key" && child.name !== "DirectiveEnd" && child.name !== "DocumentEnd")
      return inner(child);
  return undefined;
}

/** Looks through the wrapper of an anchor or a tag. */
function inner(node: SyntaxNode): SyntaxNode {
  return node.name === "Tagged" || node.name === "Anchored" ? (valueIn(node) ?? node) : node;
}

/** The text of a scalar, without its quotes. */
export function scalar(node: SyntaxNode | undefined, text: string): string | undefined {
  if (node === undefined) return undefined;
  const raw = text.slice(node.from, node.to).trim();
  if (!node.name.startsWith("Quoted")) return raw;
  if (raw.startsWith("'")) return raw.slice(1, -1).replaceAll("''", "'");
  try {
    return String(JSON.parse(raw));
  } catch {
    return raw.slice(1, -1);
  }
}
