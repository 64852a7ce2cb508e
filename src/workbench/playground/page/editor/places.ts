/**
 * Finds the positions of the values that a path selects in a YAML text. It works on the syntax tree, so also on texts with errors.
 *
 * @module
 */
import { parsePath } from "../../../../engine/path/syntax/parse.ts";
import type { Segment } from "../../../../engine/path/syntax/segment.ts";
import { SYNCED_KINDS } from "../../../../engine/kinds/synced-kinds.ts";
import type { PatchListName } from "../../../laws/report.ts";
import { documentsIn, items, members, scalar, type SyntaxNode } from "./yaml-tree.ts";

/** A range of a text: offsets in UTF-16 units, `to` excluded. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * The spans of the values that `path` finds in the first object of the list's kind; none when the path or the object does not exist.
 * YAML aliases are not followed.
 */
export function matchSpans(text: string, list: PatchListName, path: string): Span[] {
  let segments: readonly Segment[];
  try {
    segments = path === "$" ? [] : parsePath(path);
  } catch {
    return [];
  }
  const object = objectOf(text, list);
  return object === undefined ? [] : find(object, segments, text).map(({ from, to }) => trimmed(text, from, to));
}

/** Maximum number of levels of a text that are read as data; deeper ones are left out. */
const LEVELS_MAX = 40;

/** The data of the first object of the list's kind, up to a limited depth; undefined if there is none. */
export function writtenObject(text: string, list: PatchListName): unknown {
  const object = objectOf(text, list);
  return object && dataOf(object, text, LEVELS_MAX);
}

/** The data of the first document in a text, up to a limited depth; undefined if there is none. */
export function writtenData(text: string): unknown {
  const document = documentsIn(text)[0];
  return document && dataOf(document, text, LEVELS_MAX);
}

function objectOf(text: string, list: PatchListName): SyntaxNode | undefined {
  const roots = documentsIn(text);
  const kind = SYNCED_KINDS.find(({ section }) => section === list)?.resource.kind;
  return roots.find((node) => node !== undefined && scalar(members(node, text).get("kind"), text) === kind);
}

function dataOf(node: SyntaxNode, text: string, levels: number): unknown {
  if (levels === 0) return undefined;
  const list = items(node);
  if (list !== undefined) return list.map((item) => dataOf(item, text, levels - 1));
  if (node.name.endsWith("Mapping"))
    return Object.fromEntries([...members(node, text)].map(([key, value]) => [key, dataOf(value, text, levels - 1)]));
  const found = scalar(node, text) ?? "";
  return node.name.startsWith("Quoted") ? found : plainScalar(found);
}

function plainScalar(text: string): unknown {
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return Number(text);
  if (text === "true" || text === "false") return text === "true";
  return text === "" || text === "~" || text === "null" ? null : text;
}

/** A patch of a configuration, as written in the text. */
export interface WrittenPatch {
  readonly list: PatchListName;
  /** Position in its list. */
  readonly patch: number;
  readonly span: Span;
  /** As written; undefined if there is none. */
  readonly path: string | undefined;
  /** Spans of the expressions that the patch has. */
  readonly expressions: Readonly<Partial<Record<"expression" | "reverseExpression", Span>>>;
}

/** All patches of a configuration, in the order of the lists. */
export function writtenPatches(text: string): WrittenPatch[] {
  const document = documentsIn(text)[0];
  if (document === undefined) return [];
  return SYNCED_KINDS.flatMap(({ section: list }) => {
    const path: Segment[] = ["sync", "toHost", list, "patches"].map((key) => ({ kind: "key", key }));
    const patches = find(document, [...path, { kind: "wildcard" }], text);
    return patches.map((node, patch) => {
      const fields = members(node, text);
      const span = (name: string) => {
        const value = fields.get(name);
        return value && trimmed(text, value.from, value.to);
      };
      const { expression, reverseExpression } = { expression: span("expression"), reverseExpression: span("reverseExpression") };
      return {
        list,
        patch,
        span: trimmed(text, node.from, node.to),
        path: scalar(fields.get("path"), text),
        expressions: { ...(expression && { expression }), ...(reverseExpression && { reverseExpression }) },
      };
    });
  });
}

function find(node: SyntaxNode, segments: readonly Segment[], text: string): SyntaxNode[] {
  const [segment, ...rest] = segments;
  if (segment === undefined) return [node];
  return children(node, segment, text).flatMap((child) => find(child, rest, text));
}

function children(node: SyntaxNode, segment: Segment, text: string): SyntaxNode[] {
  const list = items(node);
  if (list !== undefined) {
    if (segment.kind === "wildcard") return list;
    const item = segment.kind === "index" ? list.at(segment.index) : undefined;
    return item === undefined ? [] : [item];
  }
  const map = members(node, text);
  if (segment.kind === "wildcard") return [...map.values()];
  const member = map.get(segment.kind === "key" ? segment.key : String(segment.index));
  return member === undefined ? [] : [member];
}

function trimmed(text: string, from: number, to: number): Span {
  const found = text.slice(from, to);
  return { from: from + found.length - found.trimStart().length, to: from + found.trimEnd().length };
}
