/**
 * Data with its positions in the source. A node may have several parents (a YAML alias shares the node that it names), so it has a
 * position but no path. Nodes are never changed.
 *
 * @module
 */
import type { Position } from "./problem.ts";
import { positionAt, type Source } from "./source.ts";

/** The style in which a scalar is written; `"none"` if it does not come from a text. */
export type ScalarStyle = "plain" | "single-quoted" | "double-quoted" | "literal" | "folded" | "none";

interface Place {
  readonly source: Source;
  /** Offset of the first character, which is the quote in a quoted scalar. */
  readonly start: number;
}

/** A null, boolean, number or string. */
export interface ScalarNode extends Place {
  readonly kind: "scalar";
  readonly value: null | boolean | number | string;
  readonly style: ScalarStyle;
  /** The characters between the quotes, or of the block: `source.text.slice(contentStart, contentEnd)`. */
  readonly contentStart: number;
  readonly contentEnd: number;
  /** Columns before the content of a block scalar. */
  readonly indent: number;
}

/** One member of a map. The key has its own position. */
export interface MapEntry {
  readonly keySource: Source;
  readonly keyStart: number;
  readonly value: Node;
}

/** A map. Keys are text, and any text is a key like any other. */
export interface MapNode extends Place {
  readonly kind: "map";
  readonly entries: ReadonlyMap<string, MapEntry>;
}

/** A list. */
export interface ListNode extends Place {
  readonly kind: "list";
  readonly items: readonly Node[];
}

/** A value with its place. */
export type Node = ScalarNode | MapNode | ListNode;

/** The position where a value starts. */
export function startOf(node: Node): Position {
  return positionAt(node.source, node.start);
}

/** The position where the key of a member starts. */
export function keyStartOf(entry: MapEntry): Position {
  return positionAt(entry.keySource, entry.keyStart);
}

/** The value under `key`, or `undefined` when `node` is not a map or has no such key. */
export function valueAt(node: Node | undefined, key: string): Node | undefined {
  return node?.kind === "map" ? node.entries.get(key)?.value : undefined;
}

/** Reports whether a node is absent or null, which optional fields treat alike. */
export function isAbsent(node: Node | undefined): node is undefined | (ScalarNode & { value: null }) {
  return node === undefined || (node.kind === "scalar" && node.value === null);
}

/** The text of a string scalar. */
export function textOf(node: Node | undefined): string | undefined {
  return node?.kind === "scalar" && typeof node.value === "string" ? node.value : undefined;
}

/**
 * Finds the places of a member's key and value by JSON pointer (RFC 6901). Items of lists and the root have no key.
 *
 * @example
 * locate(readYaml("a:\n  b: 1\n", { file: "x.yaml", report: new Report() })!, "/a/b")?.value.column; // 6
 */
export function locate(root: Node, pointer: string): { key?: Position; value: Position } | undefined {
  let node: Node | undefined = root;
  let key: Position | undefined;
  for (const step of pointer.split("/").slice(1)) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    const entry: MapEntry | undefined = node.kind === "map" ? node.entries.get(name) : undefined;
    key = entry && keyStartOf(entry);
    node = node.kind === "list" && /^(0|[1-9][0-9]*)$/.test(name) ? node.items[Number(name)] : entry?.value;
    if (node === undefined) return undefined;
  }
  return { ...(key && { key }), value: startOf(node) };
}

/** Converts a node to plain data. A key named `__proto__` becomes an own property like any other. */
export function toJson(node: Node): unknown {
  if (node.kind === "scalar") return node.value;
  if (node.kind === "list") return node.items.map(toJson);
  const object: Record<string, unknown> = {};
  for (const [key, entry] of node.entries) setOwn(object, key, toJson(entry.value));
  return object;
}

/** Sets an own property; plain assignment to `__proto__` would change the prototype instead. */
export function setOwn(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__") Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
}

/** Merges `later` over `earlier`: maps merge member by member, anything else is replaced. Every value keeps its own place. */
export function mergeNodes(earlier: Node, later: Node): Node {
  if (earlier.kind !== "map" || later.kind !== "map") return later;
  const entries = new Map(earlier.entries);
  for (const [key, entry] of later.entries) {
    const before = entries.get(key);
    entries.set(key, before === undefined ? entry : { ...entry, value: mergeNodes(before.value, entry.value) });
  }
  return { ...later, entries };
}

/**
 * Returns the place of a character of a scalar's value, given by line and column (from 1) within the value. Exact if the value appears
 * literally in the file: plain, quoted on one line, or a literal block; otherwise the scalar's own start.
 */
export function positionInside(node: ScalarNode, place: { line: number; column: number }): Position {
  const offset = offsetInside(node, place);
  return positionAt(node.source, offset ?? node.start);
}

function offsetInside(node: ScalarNode, { line, column }: { line: number; column: number }): number | undefined {
  const content = node.source.text.slice(node.contentStart, node.contentEnd);
  if (node.style === "literal") {
    const first = positionAt(node.source, node.contentStart).line;
    const lineStart = node.source.lineStarts[first - 1 + line - 1];
    // A parser that expected more text reports a place after the last line break, where the next key is.
    const end = node.contentStart + content.trimEnd().length;
    return lineStart === undefined ? end : Math.min(end, lineStart + node.indent + column - 1);
  }
  // A value folded from several lines has no column.
  if (line !== 1 || /[\r\n]/.test(content)) return undefined;
  if (node.style === "plain") return node.contentStart + column - 1;
  const escape = ESCAPES[node.style as keyof typeof ESCAPES];
  return escape && node.contentStart + skipCharacters(content, column - 1, escape);
}

/** One character of a quoted scalar as it is written, escapes included. */
const ESCAPES = {
  "single-quoted": /''|[^]/y,
  "double-quoted": /\\(?:x..|u....|U.{8}|[^])|[^]/y,
} as const;

/** Number of characters of `content` that represent the first `count` characters of the value. */
function skipCharacters(content: string, count: number, escape: RegExp): number {
  let [offset, seen] = [0, 0];
  while (seen < count && offset < content.length) {
    escape.lastIndex = offset;
    const written = escape.exec(content)?.[0] ?? "";
    // \U0001F600 is one escape and two UTF-16 units.
    seen += /^\\U(?!0000)/.test(written) ? 2 : 1;
    offset += Math.max(1, written.length);
  }
  return offset + (count - seen);
}
