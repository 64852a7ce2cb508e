import type { LawCounterExample, LawReport, PairVerdict, PatchListName } from "./report.ts";

/** A drift or oscillation, of one patch or of several together. */
export interface LawBreach {
  readonly list: PatchListName;
  /** Positions of the patches, at least one. */
  readonly patches: readonly number[];
  /** Their canonical paths. */
  readonly paths: readonly string[];
  readonly verdict: PairVerdict;
  readonly counterExample: LawCounterExample;
}

/** All verdicts of a report that have a counter-example and are not accepted: single patches, then lists. */
export function breachesOf({ pairs, lists }: LawReport): readonly LawBreach[] {
  const alone = pairs.flatMap(({ list, patch, path, verdict, counterExample, accepted }) =>
    counterExample === undefined || accepted !== undefined ? [] : [{ list, patches: [patch], paths: [path], verdict, counterExample }],
  );
  const together = lists.flatMap(({ list, together: patches, counterExample, accepted }) => {
    if (counterExample === undefined || accepted !== undefined) return [];
    const own = pairs.filter((pair) => pair.list === list && patches.includes(pair.patch));
    return [{ list, patches, paths: own.map(({ path }) => path), verdict: counterExample.verdict, counterExample }];
  });
  return [...alone, ...together];
}

/**
 * Formats positions of patches for messages.
 *
 * @example
 * nameTogether([0, 2]); // "#0 and #2"
 */
export function nameTogether(patches: readonly number[]): string {
  return patches
    .map((patch) => `#${patch}`)
    .join(", ")
    .replace(/, (?=[^,]*$)/, " and ");
}
