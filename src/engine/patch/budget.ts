import { EngineError } from "../../base/errors.ts";

/** Cost limits of all evaluations for one object, over all its patches and matches. */
export interface ObjectLimits {
  /** Once this much fuel is spent, further evaluations are EXPRESSION_FUEL. Default 30 million. */
  readonly fuelMax?: number;
  /**
   * Once results hold this many characters together (every value that is not a string counts as one), further results are
   * EXPRESSION_RESULT. Default 8 Mi, several times what an API server stores: a tenant must not be able to fill the memory with
   * a thousand addresses and an expression that makes each of them long.
   */
  readonly resultMax?: number;
}

/** The defaults of {@link ObjectLimits}. */
export const OBJECT_LIMITS: Required<ObjectLimits> = { fuelMax: 30_000_000, resultMax: 8 * 1024 * 1024 };

/** Remainder of an object's limits. */
export interface Budget {
  /** @throws EXPRESSION_FUEL when no fuel is left. */
  checkFuel(): void;
  /** Counts the fuel of an evaluation, failed or not. */
  spendFuel(fuel: number): void;
  /** @throws EXPRESSION_RESULT if `result` exceeds the rest. It is not counted then. */
  takeResult(result: unknown): void;
}

/**
 * A full budget.
 *
 * @example
 * const budget = createBudget({ fuelMax: 1_000_000 });
 */
export function createBudget(limits: ObjectLimits): Budget {
  const { fuelMax, resultMax } = { ...OBJECT_LIMITS, ...limits };
  let fuel = 0;
  let length = 0;
  return {
    checkFuel() {
      if (fuel < fuelMax) return;
      throw new EngineError("EXPRESSION_FUEL", `Cannot evaluate: the patches of this object have used up its ${fuelMax} fuel`);
    },
    spendFuel(spent) {
      fuel += spent;
    },
    takeResult(result) {
      const taken = lengthOf(result);
      if (length + taken > resultMax) {
        throw new EngineError(
          "EXPRESSION_RESULT",
          `Cannot use the result: the results of this object have over ${resultMax} characters together`,
        );
      }
      length += taken;
    },
  };
}

function lengthOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 1;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + lengthOf(item), 1);
  return Object.entries(value).reduce((sum, [key, item]) => sum + key.length + lengthOf(item), 1);
}
