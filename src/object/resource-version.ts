/**
 * Compares two resourceVersions: negative when `left` is older. Kubernetes declares them comparable as integers of any
 * length since 1.35; texts that are no integers compare as equal only to themselves and otherwise as newer.
 *
 * @example
 * compareResourceVersions("9", "10") < 0; // true
 */
export function compareResourceVersions(left: string, right: string): number {
  if (left === right) return 0;
  if (!/^[1-9][0-9]*$/.test(left) || !/^[1-9][0-9]*$/.test(right)) return 1;
  if (left.length !== right.length) return left.length - right.length;
  return left < right ? -1 : 1;
}
