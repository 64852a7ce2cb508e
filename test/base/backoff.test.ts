import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { backoffDelay, type BackoffOptions } from "../../src/base/backoff.ts";

const none = () => 0;

describe("backoffDelay", () => {
  test.each([
    { options: { initialMs: 5, maximumMs: 1_000 }, want: [5, 10, 20, 40, 80], why: "doubles when no factor is given" },
    { options: { initialMs: 800, maximumMs: 1_000, factor: 1.2 }, want: [800, 960, 1_000, 1_000], why: "stops growing at the maximum" },
    { options: { initialMs: 100, maximumMs: 1_000, factor: 1 }, want: [100, 100, 100], why: "stays where it is with factor 1" },
    { options: { initialMs: 50, maximumMs: 10 }, want: [10, 10], why: "never starts above the maximum" },
    { options: { initialMs: 0, maximumMs: 1_000 }, want: [0, 0, 0], why: "stays 0 from 0" },
  ])("$why", ({ options, want }) => {
    expect(want.map((_, attempt) => backoffDelay(options, attempt, none))).toEqual(want);
  });

  test("adds up to the jitter, at the maximum as well", () => {
    const options: BackoffOptions = { initialMs: 100, maximumMs: 1_000, jitter: 0.25 };
    expect(backoffDelay(options, 0, none)).toBe(100);
    expect(backoffDelay(options, 0, () => 0.5)).toBe(112.5);
    expect(backoffDelay(options, 50, none)).toBe(800);
    expect(backoffDelay(options, 50, () => 0.5)).toBe(900);
  });

  const options = fc.record({
    initialMs: fc.nat(10_000),
    maximumMs: fc.integer({ min: 1, max: 600_000 }),
    factor: fc.double({ min: 1, max: 10, noNaN: true }),
    jitter: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  const fraction = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

  test("is a number between nothing and the maximum, however many attempts there were", () => {
    fc.assert(
      fc.property(options, fc.nat(1_000_000), fraction, (given, attempt, random) => {
        const delay = backoffDelay(given, attempt, () => random);
        expect(delay).toBeGreaterThanOrEqual(0);
        // Division and multiplication by the jitter may round up by a bit.
        expect(delay).toBeLessThanOrEqual(given.maximumMs * (1 + 1e-12));
      }),
    );
  });

  test("never shrinks from one attempt to the next", () => {
    fc.assert(
      fc.property(options, fc.nat(100), fraction, (given, attempt, random) => {
        expect(backoffDelay(given, attempt + 1, () => random)).toBeGreaterThanOrEqual(backoffDelay(given, attempt, () => random));
      }),
    );
  });
});
