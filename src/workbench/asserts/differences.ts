import { isRecord, jsonEqual } from "../../base/json.ts";
import { formatSteps, type Path, type PathStep } from "../../engine/path/path.ts";

/** A place where two documents differ. `before` or `after` is absent if that document has no value there. */
export interface Difference {
  /** Concrete path. */
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/**
 * The places where two documents differ, in document order. Maps and lists that are in both are compared member by member; a map
 * that only one of the documents has counts as one difference per member.
 *
 * @example
 * differences({ a: { b: 1, c: 2 } }, { a: { b: 1, c: 3 } }); // [{ path: "a.c", before: 2, after: 3 }]
 */
export function differences(before: unknown, after: unknown): readonly Difference[] {
  const found: Difference[] = [];
  compare([], { before, after }, found);
  return found;
}

function compare(steps: readonly PathStep[], { before, after }: { before: unknown; after: unknown }, found: Difference[]): void {
  if (jsonEqual(before, after)) return;
  const [left, right] = [membersOf(before, after), membersOf(after, before)];
  if (left === undefined || right === undefined) {
    found.push({
      path: formatSteps(steps),
      ...(before !== undefined && { before }),
      ...(after !== undefined && { after }),
    });
    return;
  }
  for (const step of new Set([...left.keys(), ...right.keys()])) {
    compare([...steps, step], { before: left.get(step), after: right.get(step) }, found);
  }
}

/** The children of a map or list; empty for an absent value whose counterpart is a map with members. Otherwise undefined. */
function membersOf(value: unknown, other: unknown): ReadonlyMap<PathStep, unknown> | undefined {
  if (Array.isArray(value) && Array.isArray(other)) return new Map(value.entries());
  if (isRecord(value) && isRecord(other)) return new Map(Object.entries(value));
  if (isRecord(value) && other === undefined && Object.keys(value).length > 0) return new Map(Object.entries(value));
  return value === undefined && isRecord(other) && Object.keys(other).length > 0 ? new Map() : undefined;
}

/**
 * Reports whether a concrete path equals another one or leads to a value inside it.
 *
 * @example
 * isPathWithin("subsets[0].addresses[3].ip", "subsets[0].addresses[3]"); // true
 */
export function isPathWithin(path: string, outer: string): boolean {
  if (outer === "$" || path === outer) return true;
  return path.startsWith(outer) && /[.[]/.test(path.charAt(outer.length));
}

/**
 * The differences that no path of `except` covers; a path covers its matches in both documents.
 *
 * @example
 * differencesExcept({ a: 1, b: 1 }, { a: 2, b: 2 }, [compilePath("a")]); // [{ path: "b", before: 1, after: 2 }]
 */
export function differencesExcept(before: unknown, after: unknown, except: readonly Path[]): readonly Difference[] {
  const all = differences(before, after);
  if (all.length === 0) return all;
  const allowed = except.flatMap((path) => [...path.find(before), ...path.find(after)].map((match) => match.path));
  return all.filter(({ path }) => !allowed.some((outer) => isPathWithin(path, outer)));
}
