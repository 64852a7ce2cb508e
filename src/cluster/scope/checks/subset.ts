/**
 * Checks whether one scope allows no more than another.
 *
 * @module
 */
import { canonicalJson } from "../../../base/json.ts";
import { UNLIMITED, grantsOf, type Box, type ScopeGrant, type ScopeOptions } from "../grants.ts";
import { covers, matches, meet, type Pattern } from "../patterns/pattern.ts";
import type { AccessScope } from "../types.ts";

/** Maximum number of names that a comparison examines, which takes some hundredths of a second. */
const STEPS_MAX = 200_000;

/**
 * Reports whether every request that `inner` allows is allowed by `outer`. An absent scope allows everything. True is always correct;
 * false can be wrong, but only for scopes that are too large to compare.
 *
 * @example
 * isScopeWithin({ clusters: [{ cluster: "c1" }] }, { clusters: [{ cluster: "*" }] }); // true
 */
export function isScopeWithin(inner: AccessScope | undefined, outer: AccessScope | undefined, options: ScopeOptions = {}): boolean {
  if (outer === undefined || JSON.stringify(inner) === JSON.stringify(outer)) return true;
  const asked = inner === undefined ? UNLIMITED : grantsOf(withoutShared(inner, outer), options);
  return new Comparison(grantsOf(outer, options)).hold(asked);
}

/** Returns the entries that must be compared: an entry that the outer scope also has allows no more than that scope. */
function withoutShared(inner: AccessScope, outer: AccessScope): AccessScope {
  const lists = Object.entries(inner).map(([field, entries]: [string, unknown]) => {
    const known = outer[field as keyof AccessScope];
    if (!Array.isArray(entries) || !Array.isArray(known)) return [field, entries];
    const shared = new Set(known.map(canonicalJson));
    return [field, entries.filter((entry) => !shared.has(canonicalJson(entry)))];
  });
  return Object.fromEntries(lists) as AccessScope;
}

/** Types of requests, each with its own coordinates. */
const SORTS = ["resources", "paths"] as const;
type Sort = (typeof SORTS)[number];

/** Compares sets of requests with those that are allowed. Once its steps are used up, every further result is false. */
class Comparison {
  readonly #allowed: Readonly<Record<ScopeGrant["kind"], readonly ScopeGrant[]>>;
  #steps = STEPS_MAX;

  constructor(allowed: readonly ScopeGrant[]) {
    const of = (kind: ScopeGrant["kind"]) => allowed.filter((grant) => grant.kind === kind);
    this.#allowed = { management: of("management"), cluster: of("cluster"), virtualCluster: of("virtualCluster") };
  }

  /** Reports whether everything that is requested is allowed. */
  hold(asked: readonly ScopeGrant[]): boolean {
    return asked.every((grant) => {
      const allowed = this.#allowed[grant.kind];
      return SORTS.every((sort) => grant.places.every((place) => grant[sort].every((deed) => this.#holdsOne(allowed, sort, place, deed))));
    });
  }

  #holdsOne(allowed: readonly ScopeGrant[], sort: Sort, place: Box, deed: Box): boolean {
    const whole = allowed.some(
      (grant) => grant.places.some((outer) => this.#covers(outer, place, 0)) && grant[sort].some((outer) => this.#covers(outer, deed, 0)),
    );
    return whole || this.#holdsByParts([...place, ...deed], this.#touching(allowed, sort, place, deed), 0);
  }

  /** Returns all allowed boxes that intersect with one. */
  #touching(allowed: readonly ScopeGrant[], sort: Sort, place: Box, deed: Box): Box[] {
    return allowed.flatMap((grant) => {
      const places = grant.places.filter((outer) => this.#meet(outer, place));
      const deeds = grant[sort].filter((outer) => this.#meet(outer, deed));
      if (!this.#afford(places.length * deeds.length)) return [];
      return places.flatMap((outer) => deeds.map((rest) => [...outer, ...rest]));
    });
  }

  /**
   * Reports whether boxes together cover another one, from the coordinate `at` on; all of them match in the coordinates before it. It
   * suffices to try one text of each group of texts that the boxes do not distinguish.
   */
  #holdsByParts(box: Box, outers: readonly Box[], at: number): boolean {
    if (outers.some((outer) => this.#covers(outer, box, at))) return true;
    if (outers.length === 0 || !this.#afford(0)) return false;
    const texts = representatives(
      box[at]!,
      outers.map((outer) => outer[at]!),
    );
    return texts.every((text) =>
      this.#holdsByParts(
        box,
        outers.filter((outer) => this.#afford(1) && matches(outer[at]!, text)),
        at + 1,
      ),
    );
  }

  #covers(outer: Box, inner: Box, from: number): boolean {
    return outer.every((pattern, at) => at < from || (this.#afford(sizeOf(inner[at]!)) && covers(pattern, inner[at]!)));
  }

  #meet(left: Box, right: Box): boolean {
    return left.every((pattern, at) => this.#afford(sizeOf(right[at]!)) && meet(pattern, right[at]!));
  }

  #afford(steps: number): boolean {
    this.#steps -= steps;
    return this.#steps >= 0;
  }
}

function sizeOf(pattern: Pattern): number {
  return "these" in pattern ? pattern.these.size : 1;
}

/**
 * Returns texts that represent a pattern: any other text of the pattern is in the same outer patterns as one of them. These are all texts
 * that are named, and for each prefix the prefix itself and texts that are not named.
 */
function representatives(pattern: Pattern, outers: readonly Pattern[]): string[] {
  if ("these" in pattern) return [...pattern.these];
  const named = new Set(outers.flatMap((outer) => ("these" in outer ? [...outer.these] : [])));
  const beginnings = new Set(["", ...[pattern, ...outers].flatMap((each) => ("below" in each ? [each.below] : []))]);
  const length = [...named, ...beginnings].reduce((longest, text) => Math.max(longest, text.length), 0) + 1;
  // Longer than all named texts, and made of a character that continues no prefix; two such characters, in case one of them does.
  const unnamed = ["\u0000", "\u0001"].map((sign) => sign.repeat(length));
  const texts = [...beginnings].flatMap((beginning) => [beginning, ...unnamed.map((rest) => beginning + rest)]);
  return [...named, ...texts].filter((text) => matches(pattern, text));
}
