import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { humanDuration } from "../../src/apiserver/types/human-duration.ts";

const S = 1_000;
const M = 60 * S;
const H = 60 * M;
const D = 24 * H;
const Y = 365 * D;

describe("humanDuration", () => {
  test.each([
    { why: "clocks that differ by seconds", duration: -2 * S, text: "<invalid>" },
    { why: "clocks that differ by less", duration: -1_999, text: "0s" },
    { why: "nothing", duration: 0, text: "0s" },
    { why: "a part of a second", duration: 5_999, text: "5s" },
    { why: "less than two minutes", duration: 2 * M - 1, text: "119s" },
    { why: "two minutes", duration: 2 * M, text: "2m" },
    { why: "minutes and seconds", duration: 200 * S, text: "3m20s" },
    { why: "ten minutes", duration: 10 * M + 5 * S, text: "10m" },
    { why: "less than three hours", duration: 3 * H - 1, text: "179m" },
    { why: "hours and minutes", duration: 3 * H + 5 * M, text: "3h5m" },
    { why: "whole hours", duration: 4 * H, text: "4h" },
    { why: "eight hours", duration: 8 * H + 30 * M, text: "8h" },
    { why: "less than two days", duration: 2 * D - 1, text: "47h" },
    { why: "days and hours", duration: 2 * D + 3 * H, text: "2d3h" },
    { why: "eight days", duration: 8 * D + 3 * H, text: "8d" },
    { why: "less than two years", duration: 2 * Y - 1, text: "729d" },
    { why: "years and days", duration: 2 * Y + 3 * D, text: "2y3d" },
    { why: "eight years", duration: 8 * Y + 3 * D, text: "8y" },
  ])("$why: $text", ({ duration, text }) => {
    expect(humanDuration(duration)).toBe(text);
  });

  test("never tells more time than there was, and never less than nine tenths of it", () => {
    const units = { s: S, m: M, h: H, d: D, y: Y };
    fc.assert(
      fc.property(fc.integer({ min: 100 * S, max: 100 * Y }), (duration) => {
        const parts = [...humanDuration(duration).matchAll(/(\d+)([smhdy])/g)];
        const told = parts.reduce((sum, [, count, unit]) => sum + Number(count) * units[unit as keyof typeof units], 0);
        expect(told).toBeLessThanOrEqual(duration);
        expect(told).toBeGreaterThan(duration * 0.88);
      }),
      { numRuns: 500 },
    );
  });
});
