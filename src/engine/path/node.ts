/**
 * The operations of paths on a node of a document: reading an own child, and copying the node with changed children.
 *
 * Own properties only, so that no key reaches a prototype; a member that is `undefined` counts as absent, as everywhere in JSON
 * data. Lists have elements only and strings have nothing: neither `length` nor characters can be selected.
 *
 * @module
 */
import { isRecord } from "../../base/json.ts";
import type { PathStep } from "./syntax/segment.ts";

/** Result of an update that removes the matched member or element. */
export const REMOVE: unique symbol = Symbol("REMOVE");

/** The own member `key` of an object; otherwise `undefined`. */
export function memberOf(node: unknown, key: string): unknown {
  return isRecord(node) && Object.hasOwn(node, key) ? node[key] : undefined;
}

/** The child at one concrete step; otherwise `undefined`. Numbers select list elements, strings object members. */
export function childAt(node: unknown, step: PathStep): unknown {
  if (typeof step === "string") return memberOf(node, step);
  return Array.isArray(node) && Object.hasOwn(node, step) ? node[step] : undefined;
}

/** The step to the child that an index selects: a list element, from the end if negative, or the member of that name. */
export function stepOfIndex(node: unknown, index: number): PathStep | undefined {
  if (!Array.isArray(node)) return memberOf(node, String(index)) === undefined ? undefined : String(index);
  const at = index < 0 ? node.length + index : index;
  return childAt(node, at) === undefined ? undefined : at;
}

/** A copy of `node` with the child at `step`, which exists, replaced or removed. */
export function withChild(node: unknown, step: PathStep, value: unknown): unknown {
  if (typeof step === "string") {
    const copy = { ...(node as Record<string, unknown>) };
    setMember(copy, step, value);
    return copy;
  }
  const list = node as readonly unknown[];
  return value === REMOVE ? list.toSpliced(step, 1) : list.with(step, value);
}

/** `node` with some of its children replaced or removed; itself if all of them are unchanged. */
export function withChildren(node: unknown, children: readonly (readonly [PathStep, unknown])[]): unknown {
  const changed = children.filter(([step, value]) => !Object.is(value, childAt(node, step)));
  if (changed.length === 0) return node;
  if (Array.isArray(node)) {
    const list: unknown[] = node.slice();
    for (const [step, value] of changed) list[step as number] = value;
    return list.filter((item) => item !== REMOVE);
  }
  const copy = { ...(node as Record<string, unknown>) };
  for (const [step, value] of changed) setMember(copy, step as string, value);
  return copy;
}

/** Writes or removes one own member of a fresh copy. */
export function setMember(copy: Record<string, unknown>, key: string, value: unknown): void {
  if (value === REMOVE) delete copy[key];
  // An assignment would call the prototype's setter in a copy that does not have the member.
  else if (key === "__proto__") Object.defineProperty(copy, key, { value, writable: true, enumerable: true, configurable: true });
  else copy[key] = value;
}
