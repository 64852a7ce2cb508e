import type { OverheadPoints } from "./meter.ts";

/**
 * The points of the engine's module whose execution count depends on what was evaluated before, found by comparing the counts of
 * every point over many evaluations in many orders. They belong to the file whose digest `wasm-file.ts` checks and to no other.
 *
 * - The allocator: the free list's bins, merging of neighbours, whether a block can grow in place.
 * - Shapes: whether an equal one is found among those of living objects, the chains of their hash table, its growth.
 * - Names of properties: chains in the table of all names, and in the tables of single objects, which are ordered by name number.
 */
export const OVERHEAD_POINTS: OverheadPoints = new Map<number, "call" | readonly number[]>([
  // malloc, free and realloc, of the engine and of the C library.
  [142, "call"],
  [150, "call"],
  [499, "call"],
  [1059, "call"],
  [1060, "call"],
  // Shapes: adding a property, a new object's first shape, releasing one.
  [105, "call"],
  [126, "call"],
  [137, "call"],
  [216, "call"],
  [284, "call"],
  [285, "call"],
  [730, "call"],
  // Releasing a value without references; that may be the string of a name.
  [463, "call"],
  // Names: from a string, from a C string, releasing one.
  [326, "call"],
  [400, "call"],
  [763, "call"],
  // Finding the entry of a Map or Set: objects are keys by their address.
  [153, "call"],
  // Of the compiler: its allocations, and equal constants.
  [199, "call"],
  [874, "call"],
  // Chains of hash tables where the lookup is part of a larger function.
  [24, [3]],
  [74, [2]],
  [120, [2]],
  [125, [1]],
  [161, [2, 5]],
  [179, [1]],
  [221, [26, 28, 30, 31, 34]],
  [328, [2]],
  [522, [1]],
  [532, [11]],
  [617, [2]],
  [769, [1]],
  [877, [1]],
]);
