import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalQuantity, compareQuantities } from "../../../src/apiserver/types/objects/quantity.ts";

describe("quantities", () => {
  test.each([
    ["0", "0"],
    ["0.0Gi", "0"],
    ["-0", "0"],
    ["1", "1"],
    ["0.5", "500m"],
    [".5", "500m"],
    ["5.", "5"],
    ["1000m", "1"],
    ["1500m", "1500m"],
    ["100000", "100k"],
    ["1024", "1024"],
    ["1024Mi", "1Gi"],
    ["1.5Gi", "1536Mi"],
    ["512Ki", "512Ki"],
    ["1Ki", "1Ki"],
    ["0.5Ki", "512"],
    ["1e3", "1e3"],
    ["12e0", "12"],
    ["1E", "1E"],
    ["100e-3", "100e-3"],
    ["-1.5", "-1500m"],
    ["+2", "2"],
    ["0.0000000001", "1n"],
    ["1.0000000001", "1000000001n"],
    [" 1 ", "1"],
    ["99999999999E", "9223372036854775807"],
    ["1e300", "9223372036854775807"],
  ])("%s is stored as %s", (text, stored) => expect(canonicalQuantity(text)).toBe(stored));

  test.each(["", ".", "1 Gi", "1KB", "one", "1.2.3", "--1", "1e", "Mi", `${"1".repeat(41)}`])("%s is not a quantity", (text) =>
    expect(canonicalQuantity(text)).toBeUndefined(),
  );

  test("the stored spelling is its own, and means as much", () => {
    const suffix = fc.constantFrom("", "m", "u", "n", "k", "M", "G", "Ki", "Mi", "Gi", "e3", "e-2");
    const amount = fc.tuple(fc.integer({ min: -1e6, max: 1e6 }), fc.integer({ min: 1, max: 999 }), suffix);
    fc.assert(
      fc.property(amount, ([whole, fraction, end]) => {
        const written = `${whole}.${String(fraction).padStart(3, "0")}${end}`;
        const stored = canonicalQuantity(written)!;
        expect(canonicalQuantity(stored)).toBe(stored);
        expect(compareQuantities(stored, "0")).toBe(whole < 0 ? -1 : 1);
      }),
    );
  });

  test.each([
    ["1", "1000m", 0],
    ["1Gi", "1G", 1],
    ["500m", "1", -1],
    ["-1", "0", -1],
  ])("%s against %s is %s", (left, right, order) => expect(compareQuantities(left, right)).toBe(order));
});
