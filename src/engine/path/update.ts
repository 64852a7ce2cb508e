/**
 * Compiles segments to closures that update what `find` finds, copy-on-write.
 *
 * First, all matches are found and every change is decided; then a second walk visits the same matches in the same order and copies
 * only the nodes above a change. Nothing is cloned: unchanged parts are shared with the given document.
 *
 * @module
 */
import { assert } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import { formatSegments } from "./syntax/format.ts";
import { childAt, memberOf, REMOVE, setMember, stepOfIndex, withChild } from "./node.ts";
import type { Segment } from "./syntax/segment.ts";
import type { Match } from "./walk.ts";

/** Returns the new value of one match: JSON data, or REMOVE. The same value means no change. */
export type Change = (value: unknown, path: string) => unknown;

type Answer = (value: unknown) => unknown;
type Rebuild = (node: unknown, answer: Answer) => unknown;

/** Compiles `update` for the segments that `find` was compiled from. */
export function compileUpdate(segments: readonly Segment[], find: (root: unknown) => Match[]): (root: unknown, change: Change) => unknown {
  const rebuild = rebuilderOf(segments);
  const everywhere = (root: unknown, change: Change): unknown => {
    const values = decide(find(root), change);
    if (values === undefined) return root;
    let taken = 0;
    const result = rebuild(root, () => values[taken++]);
    assert(taken === values.length, "an update callback must not change the document");
    return result === REMOVE ? undefined : result;
  };
  if (!segments.every(({ kind }) => kind === "key")) return everywhere;
  // There is at most one match, and its path is known, so one walk is enough.
  const path = formatSegments(segments);
  return (root, change) => {
    const result = rebuild(root, (value) => checked(change(value, path)));
    return result === REMOVE ? undefined : result;
  };
}

/** The results for all matches, or undefined if no match changes. */
export function decide(matches: readonly Match[], change: Change): unknown[] | undefined {
  let changed = false;
  const values = matches.map(({ value, path }) => {
    const answer = checked(change(value, path));
    changed ||= !Object.is(answer, value);
    return answer;
  });
  return changed ? values : undefined;
}

function checked(answer: unknown): unknown {
  assert(answer !== undefined, "an update callback must return JSON data or REMOVE");
  return answer;
}

function rebuilderOf(segments: readonly Segment[]): Rebuild {
  const [first, second, third] = segments.map((segment) => (segment.kind === "key" ? segment.key : undefined));
  const topped = first !== undefined && second !== undefined && third !== undefined;
  const below = segments.slice(topped ? 3 : 0).reduceRight<Rebuild>((next, segment) => rebuilder(segment, next), answerItself);
  return topped ? rebuildTop([first, second, third], below) : below;
}

function answerItself(value: unknown, answer: Answer): unknown {
  return answer(value);
}

/**
 * Rebuilds three names from the root at once, with the same result as {@link rebuildMember} for each of them.
 *
 * Every label and annotation has such a path. All closures of one function share its inline caches, and those of `rebuildMember` see
 * the shapes of all nodes of all paths. Here, each level has its own places in the code, where the few shapes of an object's first levels
 * stay cached. That halves the time of changing one annotation.
 */
function rebuildTop([first, second, third]: readonly [string, string, string], next: Rebuild): Rebuild {
  return (root, answer) => {
    const upper = isRecord(root) && Object.hasOwn(root, first) ? root[first] : undefined;
    const lower = isRecord(upper) && Object.hasOwn(upper, second) ? upper[second] : undefined;
    const child = isRecord(lower) && Object.hasOwn(lower, third) ? lower[third] : undefined;
    if (child === undefined) return root;
    const rebuilt = next(child, answer);
    if (Object.is(rebuilt, child)) return root;
    // The copies have these members, so even `__proto__` can be assigned like any other member.
    const lowerCopy = { ...(lower as Record<string, unknown>) };
    if (rebuilt === REMOVE) delete lowerCopy[third];
    else lowerCopy[third] = rebuilt;
    const upperCopy = { ...(upper as Record<string, unknown>) };
    upperCopy[second] = lowerCopy;
    const copy = { ...(root as Record<string, unknown>) };
    copy[first] = upperCopy;
    return copy;
  };
}

function rebuilder(segment: Segment, next: Rebuild): Rebuild {
  if (segment.kind === "key") return rebuildMember(segment.key, next);
  if (segment.kind === "index") return rebuildIndex(segment.index, next);
  return (node, answer) => {
    if (Array.isArray(node)) return rebuildElements(node, next, answer);
    return isRecord(node) ? rebuildMembers(node, next, answer) : node;
  };
}

function rebuildMember(key: string, next: Rebuild): Rebuild {
  return (node, answer) => {
    const child = memberOf(node, key);
    if (child === undefined) return node;
    const rebuilt = next(child, answer);
    return Object.is(rebuilt, child) ? node : withChild(node, key, rebuilt);
  };
}

function rebuildIndex(index: number, next: Rebuild): Rebuild {
  return (node, answer) => {
    const step = stepOfIndex(node, index);
    if (step === undefined) return node;
    const child = childAt(node, step);
    const rebuilt = next(child, answer);
    return Object.is(rebuilt, child) ? node : withChild(node, step, rebuilt);
  };
}

function rebuildElements(list: readonly unknown[], next: Rebuild, answer: Answer): unknown {
  let copy: unknown[] | undefined;
  let removed = false;
  for (let at = 0; at < list.length; at++) {
    const item = list[at];
    const rebuilt = item === undefined ? item : next(item, answer);
    if (Object.is(rebuilt, item)) continue;
    copy ??= list.slice();
    copy[at] = rebuilt;
    removed ||= rebuilt === REMOVE;
  }
  // Elements are removed only now, so that no index shifts before later elements are visited.
  return removed ? copy!.filter((item) => item !== REMOVE) : (copy ?? list);
}

function rebuildMembers(node: Record<string, unknown>, next: Rebuild, answer: Answer): unknown {
  let copy: Record<string, unknown> | undefined;
  for (const key of Object.keys(node)) {
    const child = node[key];
    const rebuilt = child === undefined ? child : next(child, answer);
    if (Object.is(rebuilt, child)) continue;
    copy ??= { ...node };
    setMember(copy, key, rebuilt);
  }
  return copy ?? node;
}
