import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareResourceVersions } from "../../../src/kube/object/resource-version.ts";

describe("compareResourceVersions", () => {
  test.each([
    { left: "9", right: "10", want: -1, why: "numbers are compared, not texts" },
    { left: "10", right: "10", want: 0, why: "equal is equal" },
    { left: "18446744073709551616", right: "18446744073709551615", want: 1, why: "beyond 64 bits as well" },
    { left: "9007199254740992", right: "9007199254740993", want: -1, why: "exactly" },
    { left: "abc", right: "abc", want: 0, why: "a text equals itself" },
    { left: "abc", right: "10", want: 1, why: "a text is newer" },
    { left: "10", right: "abc", want: 1, why: "and older than nothing" },
    { left: "", right: "10", want: 1, why: "empty text is a text" },
    { left: "0", right: "10", want: 1, why: "0 means any version and is none" },
    { left: "010", right: "9", want: 1, why: "leading zeros are a text" },
    { left: "10", right: "9\n", want: 1, why: "a line end is not a digit" },
  ])("says $want to $left and $right: $why", ({ left, right, want }) => {
    expect(Math.sign(compareResourceVersions(left, right))).toBe(want);
  });

  test("agrees with whole numbers of any length", () => {
    const version = fc.oneof(fc.bigInt({ min: 1n, max: 30n }), fc.bigInt({ min: 1n, max: 10n ** 40n }));
    fc.assert(
      fc.property(version, version, (left, right) => {
        const want = left < right ? -1 : left > right ? 1 : 0;
        expect(Math.sign(compareResourceVersions(String(left), String(right)))).toBe(want);
      }),
    );
  });
});
