/**
 * Compiles stages to closures that find matches. No code is generated from text.
 *
 * @module
 */
import { isRecord } from "../../base/json.ts";
import { appendKey, appendStep, WHOLE_OBJECT } from "./syntax/format.ts";
import { childAt, stepOfIndex, memberOf } from "./node.ts";
import type { Segment } from "./syntax/segment.ts";

/** One place in a document that a path matches. */
export interface Match {
  /** The concrete path, canonical: it parses back to exactly this node. */
  readonly path: string;
  readonly value: unknown;
}

type Visit = (node: unknown, path: string, found: Match[]) => void;

/** Compiles `find`: all matches in document order. */
export function compileFind(stages: readonly Stage[]): (root: unknown) => Match[] {
  const visit = stages.reduceRight<Visit>((next, stage) => visitor(stage, next), collect);
  return (root) => {
    const found: Match[] = [];
    visit(root, "", found);
    return found;
  };
}

function collect(value: unknown, path: string, found: Match[]): void {
  found.push({ path: path === "" ? WHOLE_OBJECT : path, value });
}

function visitor(stage: Stage, next: Visit): Visit {
  if (stage.select === "wildcard") return visitAll(stage, next);
  if (stage.select === "index") return visitOne(stage, next);
  const { read, tail } = stage;
  return (node, path, found) => {
    const value = read(node);
    if (value !== undefined) next(value, path + tail, found);
  };
}

function visitAll(stage: Stage, next: Visit): Visit {
  const elements = next === collect ? collectElements(stage) : visitElements(stage, next);
  const members = visitMembers(stage, next);
  return (node, path, found) => {
    if (Array.isArray(node)) elements(node, path, found);
    else if (isRecord(node)) members(node, path, found);
  };
}

type VisitList = (list: readonly unknown[], path: string, found: Match[]) => void;

function visitElements({ read, tail }: Stage, next: Visit): VisitList {
  const close = `]${tail}`;
  return (list, path, found) => {
    const open = `${path}[`;
    for (let at = 0; at < list.length; at++) {
      const value = read(list[at]);
      if (value !== undefined) next(value, open + at + close, found);
    }
  };
}

/** Like {@link visitElements}, for the end of a path. One call less per match saves a quarter of the time for a long list. */
function collectElements({ read, tail }: Stage): VisitList {
  const close = `]${tail}`;
  return (list, path, found) => {
    const open = `${path}[`;
    for (let at = 0; at < list.length; at++) {
      const value = read(list[at]);
      if (value !== undefined) found.push({ path: open + at + close, value });
    }
  };
}

function visitMembers({ read, tail }: Stage, next: Visit): (node: Record<string, unknown>, path: string, found: Match[]) => void {
  return (node, path, found) => {
    for (const key of Object.keys(node)) {
      const value = read(node[key]);
      if (value !== undefined) next(value, appendKey(path, key) + tail, found);
    }
  };
}

function visitOne({ index, read, tail }: Stage, next: Visit): Visit {
  return (node, path, found) => {
    const step = stepOfIndex(node, index);
    if (step === undefined) return;
    const value = read(childAt(node, step));
    if (value !== undefined) next(value, appendStep(path, step) + tail, found);
  };
}

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

// After a selection, even the first name is joined to the text before it.
function tailOf(keys: readonly string[], start: number): string {
  return start === -1 ? keys.reduce(appendKey, "") : keys.reduce(appendKey, WHOLE_OBJECT).slice(WHOLE_OBJECT.length);
}

// Nearly every path needs one of the first two functions, which have no loop.
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
