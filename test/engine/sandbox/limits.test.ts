import { describe, expect, test } from "vitest";
import { DEFAULT_LIMITS, LIMIT_RANGES, resolveLimits } from "../../../src/engine/sandbox/limits.ts";
import { createSandbox } from "../../../src/engine/sandbox/sandbox.ts";

const NAMES = Object.keys(LIMIT_RANGES) as (keyof typeof LIMIT_RANGES)[];

describe("limits", () => {
  test("have defaults that lie in their ranges", () => {
    expect(Object.keys(DEFAULT_LIMITS).sort()).toEqual([...NAMES].sort());
    expect(resolveLimits()).toEqual(DEFAULT_LIMITS);
    expect(resolveLimits(DEFAULT_LIMITS)).toEqual(DEFAULT_LIMITS);
  });

  test.each(NAMES)("take %s from its smallest to its largest value", (name) => {
    const [minimum, maximum] = LIMIT_RANGES[name];
    expect(resolveLimits({ [name]: minimum })).toEqual({ ...DEFAULT_LIMITS, [name]: minimum });
    expect(resolveLimits({ [name]: maximum })[name]).toBe(maximum);
  });

  test.each(NAMES)("refuse a value of %s that is out of range or not an integer", (name) => {
    const [minimum, maximum] = LIMIT_RANGES[name];
    for (const value of [minimum - 1, maximum + 1, minimum + 0.5, -1, Number.NaN, Number.POSITIVE_INFINITY, "5" as unknown as number]) {
      const want = expect.objectContaining({ code: "CONFIG_VALUE", details: { limit: name, minimum, maximum } }) as Error;
      expect(() => resolveLimits({ [name]: value })).toThrow(want);
    }
  });

  test("take memory in whole pages only", () => {
    expect(resolveLimits({ memoryBytes: 20 * 2 ** 20 + 1 }).memoryBytes).toBe(20 * 2 ** 20 + 1);
  });

  test("refuse a name that is no limit", () => {
    expect(() => resolveLimits({ fule: 1 } as object)).toThrow(expect.objectContaining({ code: "CONFIG_UNKNOWN_FIELD" }) as Error);
  });

  test("overlook what is undefined", () => {
    expect(resolveLimits({ fuel: undefined } as object)).toEqual(DEFAULT_LIMITS);
  });

  test("are checked when a sandbox is made", async () => {
    await expect(createSandbox({ limits: { fuel: 1 } })).rejects.toThrow('Limit "fuel" must be a whole number from 10000');
  });
});
