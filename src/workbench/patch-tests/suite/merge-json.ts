import { isRecord, type JsonObject } from "../../../base/json.ts";

/**
 * Merges `later` into `earlier`: maps merge member by member, and anything else is replaced.
 *
 * @example
 * mergeJson({ a: { b: 1 } }, { a: { c: 2 } }); // { a: { b: 1, c: 2 } }
 */
export function mergeJson(earlier: unknown, later: unknown): unknown {
  if (!isRecord(earlier) || !isRecord(later)) return later;
  const merged = Object.entries(later).map(([key, value]) => [key, Object.hasOwn(earlier, key) ? mergeJson(earlier[key], value) : value]);
  return { ...earlier, ...(Object.fromEntries(merged) as JsonObject) };
}
