/** Types of coverage: which patches, and which branches inside their expressions, have run. */
import type { Direction } from "../../engine/patch/patch-definition.ts";

/** One expression of one patch. */
export interface CoveredPatch {
  /** The configuration that it is in, as the caller names it; "" if there is only one. */
  readonly source: string;
  readonly list: string;
  /** Position in the list, from 0. */
  readonly index: number;
  /** The patch's path in canonical form. */
  readonly path: string;
  /** `toHost` is `expression`, `toTenant` is `reverseExpression`. */
  readonly direction: Direction;
  /** Number of evaluations. */
  readonly hit: number;
}

/** One side of a choice inside an expression. */
export interface CoveredBranch extends CoveredPatch {
  /** The expression. */
  readonly text: string;
  /** Position of the side in it: offsets from 0, `end` excluded. */
  readonly start: number;
  readonly end: number;
  /** Which side it is, `condition true` for example. */
  readonly label: string;
}

/** Coverage of a suite. References have no expression and are not in it. */
export interface SuiteCoverage {
  readonly patches: readonly CoveredPatch[];
  readonly branches: readonly CoveredBranch[];
}
