/**
 * Sets of strings, which scopes use to select names.
 *
 * @module
 */

/** Every text, some texts, or every text that begins with a prefix and is longer than it. */
export type Pattern = { readonly all: true } | { readonly these: ReadonlySet<string> } | { readonly below: string };

/** The wildcard for every name. */
export const WILDCARD = "*";

/** Every text, "" too. */
export const ALL: Pattern = { all: true };
/** Every text but "". */
export const NAMED: Pattern = { below: "" };
/** Only "", the value of attributes that a request does not name. */
export const UNNAMED: Pattern = { these: new Set([""]) };

/** A set of strings. */
export function these(...names: readonly string[]): Pattern {
  return { these: new Set(names) };
}

/** Reports whether a string is in the set. */
export function matches(pattern: Pattern, text: string): boolean {
  if ("all" in pattern) return true;
  return "these" in pattern ? pattern.these.has(text) : text.length > pattern.below.length && text.startsWith(pattern.below);
}

/** Reports whether every string of `inner` is in `outer`. */
export function covers(outer: Pattern, inner: Pattern): boolean {
  if ("all" in outer || outer === inner) return true;
  if ("all" in inner) return false;
  if ("these" in inner) return [...inner.these].every((text) => matches(outer, text));
  return "below" in outer && inner.below.startsWith(outer.below);
}

/** Reports whether any string is in both. */
export function meet(left: Pattern, right: Pattern): boolean {
  if ("all" in left || "all" in right) return true;
  if ("these" in left) return [...left.these].some((text) => matches(right, text));
  if ("these" in right) return meet(right, left);
  return left.below.startsWith(right.below) || right.below.startsWith(left.below);
}
