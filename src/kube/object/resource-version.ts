import type { KubeObject } from "./types.ts";

/**
 * Compares two resourceVersions: negative when `left` is older. Kubernetes declares them comparable as positive integers of
 * any length, without leading zeros, since 1.35.
 *
 * Other texts have no order: unless both are equal, `left` always counts as newer, so do not sort with this function. A reader that only
 * checks whether its version is newer makes at most one unnecessary read.
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

/** Compares the versions of two states of an object, as {@link compareResourceVersions} does. */
export function compareVersions(left: KubeObject, right: KubeObject): number {
  return compareResourceVersions(left.metadata.resourceVersion ?? "", right.metadata.resourceVersion ?? "");
}
