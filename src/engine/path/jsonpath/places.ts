/**
 * Collects places of a document, found in any order and possibly repeatedly, in a tree that has the structure of the document.
 *
 * @module
 */
import { isRecord } from "../../../base/json.ts";
import { appendStep } from "../syntax/format.ts";
import { childAt, REMOVE, withChildren } from "../node.ts";
import type { PathStep } from "../syntax/segment.ts";
import type { Match } from "../walk.ts";

/** A node of the document with the matches at it and below it. */
export interface JsonPathNode {
  found: boolean;
  readonly below: Map<PathStep, JsonPathNode>;
}

/** Creates an empty collection of places. */
export function noPlaces(): JsonPathNode {
  return { found: false, below: new Map() };
}

/**
 * Adds the place at `keys` below `root`, if each key is an own element or member of the value before it: neither `length` nor a character
 * of a string counts as found. The index of a list element may also be a string of digits.
 */
export function addPlace(places: JsonPathNode, root: unknown, keys: readonly PathStep[]): void {
  const steps = stepsTo(root, keys);
  if (steps === undefined) return;
  let place = places;
  for (const step of steps) {
    const next = place.below.get(step) ?? noPlaces();
    place.below.set(step, next);
    place = next;
  }
  place.found = true;
}

function stepsTo(root: unknown, keys: readonly PathStep[]): PathStep[] | undefined {
  const steps: PathStep[] = [];
  let node = root;
  for (const key of keys) {
    const step = Array.isArray(node) ? Number(key) : String(key);
    node = childAt(node, step);
    if (node === undefined) return undefined;
    steps.push(step);
  }
  return steps;
}

/** Returns each match once, in document order: a node comes before the nodes below it. */
export function matchesOf(places: JsonPathNode, root: unknown): Match[] {
  const matches: Match[] = [];
  const visit = (place: JsonPathNode, value: unknown, path: string): void => {
    if (place.found) matches.push({ path, value });
    for (const step of stepsInOrder(place, value)) visit(place.below.get(step)!, childAt(value, step), appendStep(path, step));
  };
  visit(places, root, "");
  return matches;
}

/**
 * Returns the document with `values`, which are in the order of {@link matchesOf}, at the places found. If both a node and nodes below it
 * were found, the node takes precedence as a whole if it changed; otherwise, the nodes below it do.
 */
export function rebuildPlaces(places: JsonPathNode, root: unknown, values: readonly unknown[]): unknown {
  let taken = 0;
  const rebuild = (place: JsonPathNode, node: unknown): unknown => {
    const own = place.found ? values[taken++] : node;
    const children = stepsInOrder(place, node).map((step) => [step, rebuild(place.below.get(step)!, childAt(node, step))] as const);
    if (!Object.is(own, node)) return own;
    return withChildren(node, children);
  };
  const result = rebuild(places, root);
  return result === REMOVE ? undefined : result;
}

function stepsInOrder({ below }: JsonPathNode, node: unknown): PathStep[] {
  if (Array.isArray(node)) return [...below.keys()].sort((left, right) => Number(left) - Number(right));
  return isRecord(node) && below.size > 0 ? Object.keys(node).filter((key) => below.has(key)) : [];
}
