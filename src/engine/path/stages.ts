import { appendKey, WHOLE_OBJECT } from "./syntax/format.ts";
import { memberOf } from "./node.ts";
import type { Segment } from "./syntax/segment.ts";

/**
 * One selection and the names that follow it. Names have a constant text, so a path costs one concatenation per selection,
 * not one per segment: `subsets[*].addresses[*].ip` has three stages.
 */
export interface Stage {
  /** Selection from the node that the previous stage reached: the node itself, one child, or every child. */
  readonly select: "itself" | "index" | "wildcard";
  /** The index when `select` is "index", else 0. */
  readonly index: number;
  /** The text of the names that follow. */
  readonly tail: string;
  /** Follows those names; `undefined` when one of them is absent. */
  readonly read: (node: unknown) => unknown;
}

/** Groups segments into stages. The first stage selects the root itself. */
export function stagesOf(segments: readonly Segment[]): Stage[] {
  const selections = segments.flatMap((segment, at) => (segment.kind === "key" ? [] : [at]));
  const starts = [-1, ...selections];
  return starts.map((start, number) => {
    const keys = segments.slice(start + 1, starts[number + 1] ?? segments.length).map((segment) => (segment as { key: string }).key);
    const first = segments[start];
    const select = first === undefined ? "itself" : first.kind === "index" ? "index" : "wildcard";
    return { select, index: first?.kind === "index" ? first.index : 0, tail: tailOf(keys, start), read: reader(keys) };
  });
}

// Behind a selection even the first name is joined to what stands before it.
function tailOf(keys: readonly string[], start: number): string {
  return start === -1 ? keys.reduce(appendKey, "") : keys.reduce(appendKey, WHOLE_OBJECT).slice(WHOLE_OBJECT.length);
}

// The first two arms are the ones nearly every path takes; they spare a loop for each match.
function reader(keys: readonly string[]): (node: unknown) => unknown {
  const [first, ...rest] = keys;
  if (first === undefined) return (node) => node;
  if (rest.length === 0) return (node) => memberOf(node, first);
  return (node) => {
    let value = node;
    for (let at = 0; at < keys.length && value !== undefined; at++) value = memberOf(value, keys[at]!);
    return value;
  };
}
