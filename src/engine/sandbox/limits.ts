import { EngineError } from "../../base/errors.ts";
import { INITIAL_PAGES, PAGE_BYTES } from "./quickjs/engine.ts";

/** Resource limits of an expression. */
export interface SandboxLimits {
  /** Steps of one evaluation. Default 4,000,000, which take tens of milliseconds. */
  readonly fuel: number;
  /** Steps of all evaluations for one object in one direction. Default 30,000,000. For {@link createFuelBudget}. */
  readonly objectFuel: number;
  /** Steps of compiling all expressions of one configuration. Default 200,000,000. For {@link createFuelBudget}. */
  readonly configurationFuel: number;
  /** Memory of the engine with everything in it, in bytes, rounded down to a multiple of 64 KiB. Default 32 MiB. */
  readonly memoryBytes: number;
  /** Nesting of calls, in bytes of the engine's own stack. Default 64 KiB. */
  readonly stackBytes: number;
  /** Length of an expression, in bytes of UTF-8. Default 16 KiB. */
  readonly sourceBytes: number;
  /** Length of a result as JSON text, in bytes of UTF-8. Default 1 MiB. */
  readonly resultBytes: number;
}

const KIB = 1024;
const MIB = 1024 * KIB;

/** The default of each limit. */
export const DEFAULT_LIMITS: SandboxLimits = {
  fuel: 4_000_000,
  objectFuel: 30_000_000,
  configurationFuel: 200_000_000,
  memoryBytes: 32 * MIB,
  stackBytes: 64 * KIB,
  sourceBytes: 16 * KIB,
  resultBytes: MIB,
};

/** The smallest and the largest value of each limit. */
export const LIMIT_RANGES: Readonly<Record<keyof SandboxLimits, readonly [minimum: number, maximum: number]>> = {
  // Range of the engine's counter.
  fuel: [10_000, 500_000_000],
  objectFuel: [10_000, Number.MAX_SAFE_INTEGER],
  configurationFuel: [10_000, Number.MAX_SAFE_INTEGER],
  // The module requires 16 MiB from the start, of which its own data and stack take a third.
  memoryBytes: [INITIAL_PAGES * PAGE_BYTES, 1024 * MIB],
  // Deeper nesting could overflow the stack of the process before the engine's own limit stops it.
  stackBytes: [16 * KIB, 64 * KIB],
  sourceBytes: [1, MIB],
  resultBytes: [1, 64 * MIB],
};

/**
 * Returns the default limits, changed by `overrides`.
 *
 * @throws CONFIG_VALUE when a limit is not a whole number in its range; details: limit, minimum, maximum.
 * @example
 * resolveLimits({ fuel: 1_000_000 }).stackBytes; // 65536
 */
export function resolveLimits(overrides: Partial<SandboxLimits> = {}): SandboxLimits {
  const given = Object.entries(overrides).filter(([, value]) => value !== undefined);
  for (const [name, value] of given) checkLimit(name, value);
  return { ...DEFAULT_LIMITS, ...Object.fromEntries(given) };
}

function checkLimit(name: string, value: number): void {
  if (!Object.hasOwn(LIMIT_RANGES, name)) {
    throw new EngineError("CONFIG_UNKNOWN_FIELD", `Unknown limit "${name}"; the limits are ${Object.keys(LIMIT_RANGES).join(", ")}`);
  }
  const [minimum, maximum] = LIMIT_RANGES[name as keyof SandboxLimits];
  if (Number.isSafeInteger(value) && value >= minimum && value <= maximum) return;
  throw new EngineError("CONFIG_VALUE", `Limit "${name}" must be a whole number from ${minimum} to ${maximum}, found ${String(value)}`, {
    details: { limit: name, minimum, maximum },
  });
}
