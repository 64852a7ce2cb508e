import { isRecord } from "../../base/json.ts";

/**
 * JSON merge patch (RFC 7386): null removes, objects merge, everything else replaces. The target is not modified.
 *
 * @example
 * mergePatch({ a: 1, b: { c: 2, d: 3 } }, { a: null, b: { c: 4 } }); // { b: { c: 4, d: 3 } }
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const members = new Map(isRecord(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) members.delete(name);
    else members.set(name, mergePatch(members.get(name), value));
  }
  // fromEntries, unlike assignment, treats "__proto__" as a name like any other.
  return Object.fromEntries(members);
}
