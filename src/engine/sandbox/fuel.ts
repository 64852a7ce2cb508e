import { assert } from "../../base/errors.ts";

/** Steps shared by several evaluations, or by the expressions that are compiled. */
export interface FuelBudget {
  readonly limit: number;
  /** Steps left; never below zero. */
  readonly remaining: number;
  /** Subtracts `steps`, but not more than are left. */
  spend(steps: number): void;
}

/**
 * Creates a budget of `limit` steps for the evaluations of one object, or for compiling the expressions of one configuration.
 *
 * @example
 * const budget = createFuelBudget(DEFAULT_LIMITS.objectFuel);
 * budget.remaining; // 30000000
 */
export function createFuelBudget(limit: number): FuelBudget {
  assert(Number.isSafeInteger(limit) && limit >= 0, "a fuel budget is a whole number of steps");
  let remaining = limit;
  return {
    limit,
    get remaining() {
      return remaining;
    },
    spend(steps) {
      remaining = Math.max(0, remaining - steps);
    },
  };
}
