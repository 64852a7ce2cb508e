/**
 * Explains a path that matches nothing: how far it leads, and which path of the same document was probably meant.
 *
 * @module
 */
import { isRecord } from "../../base/json.ts";
import { suggest } from "../../base/suggest.ts";
import { formatSegments, formatSteps } from "./syntax/format.ts";
import { childAt, memberOf, stepOfIndex } from "./node.ts";
import type { Segment, PathStep } from "./syntax/segment.ts";

/** Maximum number of corrections in one path, and of keys that one name is compared with. */
const CORRECTIONS_MAX = 3;
const KEYS_MAX = 1000;

/** How far a path leads in a document, and a correction. */
export interface Nearest {
  /** The concrete path of the deepest node that is reached; `$` if not even the first segment is found. */
  readonly reached: string;
  /** A similar path that leads further, if there is one. */
  readonly suggestion?: string;
}

/** The first of the deepest nodes that some segments reach. */
interface Reach {
  readonly steps: readonly PathStep[];
  readonly node: unknown;
}

/**
 * Finds out how far a path leads in a document, for messages such as "stopped at spec.containers[0], did you mean …". Suggestions cover
 * misspelt names, a missing `[*]`, and dots inside a key. Paths with JSONPath operators are not followed.
 *
 * @example
 * nearestPath(compilePath("subsets.addresses[*].ip"), { subsets: [{ addresses: [{ ip: "10.0.0.1" }] }] });
 * // { reached: "subsets", suggestion: "subsets[*].addresses[*].ip" }
 */
export function nearestPath(path: { readonly segments: readonly Segment[]; readonly canonical: string }, root: unknown): Nearest {
  const { segments, canonical } = path;
  if (formatSegments(segments) !== canonical) return { reached: formatSteps([]) };
  const reach = reachOf(segments, root);
  const reached = formatSteps(reach.steps);
  const mended = mend({ segments, reach, root, corrections: CORRECTIONS_MAX });
  return mended === undefined ? { reached } : { reached, suggestion: formatSegments(mended) };
}

function reachOf(segments: readonly Segment[], root: unknown): Reach {
  let best: Reach = { steps: [], node: root };
  const visit = (node: unknown, steps: readonly PathStep[]): void => {
    if (steps.length > best.steps.length) best = { steps, node };
    const segment = segments[steps.length];
    if (segment === undefined) return;
    for (const step of stepsOf(node, segment)) {
      visit(childAt(node, step), [...steps, step]);
      if (best.steps.length === segments.length) return;
    }
  };
  visit(root, []);
  return best;
}

function stepsOf(node: unknown, segment: Segment): PathStep[] {
  if (segment.kind === "wildcard") {
    if (Array.isArray(node)) return [...node.keys()].filter((at) => childAt(node, at) !== undefined);
    return isRecord(node) ? Object.keys(node).filter((key) => node[key] !== undefined) : [];
  }
  const step = segment.kind === "key" ? segment.key : stepOfIndex(node, segment.index);
  return step === undefined || childAt(node, step) === undefined ? [] : [step];
}

interface Attempt {
  readonly segments: readonly Segment[];
  readonly reach: Reach;
  readonly root: unknown;
  readonly corrections: number;
}

/** Returns segments that lead further than the attempt's, to the end if any correction does; undefined if there are none. */
function mend({ segments, reach, root, corrections }: Attempt): readonly Segment[] | undefined {
  const depth = reach.steps.length;
  if (depth === segments.length || corrections === 0) return undefined;
  let further: readonly Segment[] | undefined;
  for (const candidate of candidates(segments, { ...reach, depth })) {
    const next = reachOf(candidate, root);
    const better =
      next.steps.length === candidate.length ? candidate : mend({ segments: candidate, reach: next, root, corrections: corrections - 1 });
    if (better !== undefined && reachOf(better, root).steps.length === better.length) return better;
    if (next.steps.length > depth) further ??= better ?? candidate;
  }
  return further;
}

/** Returns the paths that result from correcting the segment at `depth` to match the node there. */
function candidates(segments: readonly Segment[], { node, depth }: { node: unknown; depth: number }): Segment[][] {
  const [head, failed, rest] = [segments.slice(0, depth), segments[depth]!, segments.slice(depth + 1)];
  if (failed.kind === "wildcard") return [];
  if (Array.isArray(node)) return failed.kind === "key" ? [[...head, { kind: "wildcard" }, failed, ...rest]] : [];
  if (!isRecord(node)) return [];
  const joined = dottedKey([failed, ...rest], node);
  const similar = failed.kind === "key" ? suggest(failed.key, Object.keys(node).slice(0, KEYS_MAX)) : undefined;
  return [
    ...(joined === undefined ? [] : [[...head, joined.segment, ...segments.slice(depth + joined.length)]]),
    ...(similar === undefined ? [] : [[...head, { kind: "key", key: similar } as const, ...rest]]),
  ];
}

/** `example`, `com/x` → the key "example.com/x", if the node has it. */
function dottedKey(segments: readonly Segment[], node: unknown): { segment: Segment; length: number } | undefined {
  let key = "";
  for (const [at, segment] of segments.entries()) {
    if (segment.kind === "wildcard") return undefined;
    key += `${at === 0 ? "" : "."}${segment.kind === "key" ? segment.key : segment.index}`;
    if (at > 0 && memberOf(node, key) !== undefined) return { segment: { kind: "key", key }, length: at + 1 };
  }
  return undefined;
}
