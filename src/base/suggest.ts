/** Longer names are not compared: single-letter typos of them are rare, and the comparison is quadratic. */
const LENGTH_MAX = 64;

/**
 * Returns the name in `known` that `name` is probably a misspelling of: the two differ only in case, or by at most one typing error (a
 * missing, added, changed or swapped letter) per three letters. The nearest name wins; of several equally near names, the first one.
 *
 * @example
 * suggest("expresion", ["path", "expression"]); // "expression"
 * suggest("colour", ["path", "expression"]); // undefined
 */
export function suggest(name: string, known: Iterable<string>): string | undefined {
  if (name.length > LENGTH_MAX) return undefined;
  let best: { distance: number; name: string } | undefined;
  for (const candidate of known) {
    const limit = Math.max(1, Math.floor(Math.min(name.length, candidate.length) / 3));
    const distance = Math.min(editDistance(name.toLowerCase(), candidate.toLowerCase()), limit + 1);
    if (distance <= limit && (best === undefined || distance < best.distance)) best = { distance, name: candidate };
  }
  return best?.name;
}

/** Optimal string alignment: the Levenshtein distance, but a swap of neighbours counts as one error. */
function editDistance(left: string, right: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const change = left[row - 1] === right[column - 1] ? 0 : 1;
      const swapped = row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      current[column] = Math.min(
        previous[column]! + 1,
        current[column - 1]! + 1,
        previous[column - 1]! + change,
        swapped ? before[column - 2]! + 1 : Infinity,
      );
    }
    [before, previous] = [previous, current];
  }
  return previous[right.length]!;
}
