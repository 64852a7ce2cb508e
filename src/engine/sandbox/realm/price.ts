/**
 * The cost of an evaluation in addition to the steps of its expression: its input, its result, and the host's work.
 *
 * @module
 */
import type { Steps } from "../quickjs/engine.ts";

/**
 * Steps of one evaluation with everything that the host does for it, as a multiple of its fuel: at the default fuel 9.6 million, that is
 * less than 50 ms. The cost of the value and the context reduces the budget of the expression.
 */
export const STEPS_PER_FUEL = 2.4;

/**
 * Steps for bringing in data, besides those for each code unit of its JSON text: three times what the dearest data needs, which are
 * short lists in a list. Keys that fall into one chain of a table would need the square of their number.
 */
const INPUT_BASE = { fuel: 100_000, overhead: 100_000 };
const INPUT_PER_UNIT = { fuel: 128, overhead: 40 };

/** The maximum steps for parsing `length` code units of JSON. */
export function inputAllowance(length: number): Steps {
  return {
    fuel: INPUT_BASE.fuel + INPUT_PER_UNIT.fuel * length,
    overhead: INPUT_BASE.overhead + INPUT_PER_UNIT.overhead * length,
  };
}

/** Base price of an evaluation: the host's work before and after, about a microsecond. */
export const EVALUATION_FUEL = 500;
/** Price of one code unit of a result, which the host reads, parses and compares. */
export const RESULT_UNIT_FUEL = 4;

/**
 * Cost of a stopped evaluation beyond its steps, besides compiling its expression again: its instance has to be replaced, which
 * takes about as long as so many steps. Otherwise an expression that stops at once could do so a thousand times for one object.
 */
const REPLACEMENT_FUEL = 1_000_000;

/** Price of one MiB that an engine grows by, which the machine has to find and clear: half a millisecond. */
const GROWTH_FUEL_PER_MIB = 128_000;

/** Price of replacing an engine that grew by this many bytes. */
export function replacementFuel(grownBytes: number): number {
  return REPLACEMENT_FUEL + (GROWTH_FUEL_PER_MIB / (1024 * 1024)) * grownBytes;
}

/** Cost of bringing in a value. */
export interface InputCost {
  /** Of both counters together. */
  readonly steps: number;
  /** The same for the same input, whatever ran before. */
  readonly charged: number;
}

/** The error for an input whose steps are within the input's own limits, but exceed the remaining steps of the evaluation. */
export class InputTooDear extends Error {}

/** Price of steps. Overhead counts only beyond what ordinary programs have, because its exact amount depends on earlier evaluations. */
export function chargeOf({ fuel, overhead }: Steps): number {
  return Math.max(fuel, overhead - OVERHEAD_FREE);
}

/** Overhead that costs nothing. */
const OVERHEAD_FREE = 5_000;

/** Code units of a text whose cost is part of the price of an evaluation. */
export const FREE_TEXT_MAX = 1024;
