/**
 * The cost of an evaluation in addition to the steps of its expression: its input, its result, and the host's work.
 *
 * @module
 */
import type { Steps } from "../quickjs/engine.ts";

/**
 * Steps of one evaluation, including the host's work for it, as a multiple of its fuel: 9.6 million with the default fuel, which take less
 * than 50 ms. The cost of the value and the context reduces the budget of the expression.
 */
export const STEPS_PER_FUEL = 2.4;

/**
 * Steps that are allowed for loading data, in addition to those for each code unit of its JSON text: three times as many as the most
 * expensive data needs, which is short lists in a list. Keys in the same chain of a hash table would need the square of their number.
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
 * Cost of a stopped evaluation in addition to its steps and to compiling its expression again: its instance must be replaced, which
 * takes about as long as this many steps. Otherwise, an expression that stops at once could do so a thousand times for one object.
 */
const REPLACEMENT_FUEL = 1_000_000;

/** Price of each MiB that an engine grows by: half a millisecond for allocating and clearing it. */
const GROWTH_FUEL_PER_MIB = 128_000;

/** Price of replacing an engine that grew by this many bytes. */
export function replacementFuel(grownBytes: number): number {
  return REPLACEMENT_FUEL + (GROWTH_FUEL_PER_MIB / (1024 * 1024)) * grownBytes;
}

/** Cost of loading a value or a context. */
export interface InputCost {
  /** Steps of both counters together. */
  readonly steps: number;
  /** Price of the steps, which is the same for the same input, regardless of earlier evaluations. */
  readonly charged: number;
}

/** The error for an input whose steps are within the input's own limits, but exceed the remaining steps of the evaluation. */
export class InputTooDear extends Error {}

/** Price of steps. Overhead counts only beyond what ordinary programs have, because its exact amount depends on earlier evaluations. */
export function chargeOf({ fuel, overhead }: Steps): number {
  return Math.max(fuel, overhead - OVERHEAD_FREE);
}

/** Overhead that is not charged. */
const OVERHEAD_FREE = 5_000;

/** Code units of a text whose cost is part of the price of an evaluation. */
export const FREE_TEXT_MAX = 1024;
