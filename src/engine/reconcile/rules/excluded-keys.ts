import type { StringMap } from "../../../kube/object/types.ts";
import { isSyncerKey } from "../../translate/foreign-markers.ts";

/** Matches the label and annotation keys that are never copied, in either direction. */
export type KeyFilter = (key: string) => boolean;

/** Annotation that the endpoints controller writes with every change: copied with a real change, but not a change by itself. */
export const TRIGGER_TIME = "endpoints.kubernetes.io/last-change-trigger-time";

/** Label by which the endpoints controller recognizes its own objects. */
export const MANAGED_BY_CONTROLLER = "endpoints.kubernetes.io/managed-by";

/**
 * Compiles the list of excluded keys; a `*` at the end of an entry matches any ending. The keys of syncers are excluded
 * regardless of the list.
 *
 * @example
 * compileExcludedKeys(["argocd.argoproj.io/*"])("argocd.argoproj.io/tracking-id"); // true
 */
export function compileExcludedKeys(entries: readonly string[]): KeyFilter {
  const exact = new Set(entries.filter((entry) => !entry.endsWith("*")));
  const prefixes = entries.filter((entry) => entry.endsWith("*")).map((entry) => entry.slice(0, -1));
  return (key) => exact.has(key) || prefixes.some((prefix) => key.startsWith(prefix)) || isSyncerKey(key);
}

/** Returns the entries of `map` whose key is not excluded; the same reference if none is excluded. */
export function withoutKeys(map: StringMap, excluded: KeyFilter): StringMap {
  // Most maps have no such key, and each change checks several.
  for (const key in map) if (excluded(key)) return Object.fromEntries(Object.entries(map).filter(([name]) => !excluded(name)));
  return map;
}
