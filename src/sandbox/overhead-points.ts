import type { OverheadPoints } from "./meter.ts";

/**
 * The points of the engine's module whose number of turns depends on what was evaluated before, found by comparing the counts of
 * every point over many evaluations in many orders. They belong to the file whose digest `wasm-file.ts` checks and to no other.
 *
 * - The allocator: the free list's bins, merging of neighbours, whether a block can grow in place.
 * - Shapes: whether an equal one is found among those of living objects, the chains of their hash table, its growth.
 * - Names of properties: chains in the table of all names, and in the tables of single objects, which are ordered by name number.
 */
export const OVERHEAD_POINTS: OverheadPoints = new Map<number, "all" | readonly number[]>([
  [32, "all"],
  [34, "all"],
  [39, "all"],
  [123, "all"],
  [125, "all"],
  [137, "all"],
  [142, "all"],
  [150, "all"],
  [212, "all"],
  [284, "all"],
  [285, "all"],
  [286, "all"],
  [418, "all"],
  [499, "all"],
  [548, "all"],
  [698, "all"],
  [711, "all"],
  [730, "all"],
  [772, "all"],
  [775, "all"],
  [1060, "all"],
  [24, [3]],
  [74, [2]],
  [105, [1]],
  [120, [2]],
  [126, [2, 3]],
  [161, [2, 5]],
  [179, [1]],
  [221, [26, 28, 30, 31]],
  [326, [1]],
  [626, [1]],
]);
