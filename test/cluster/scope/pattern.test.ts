import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ALL, NAMED, UNNAMED, covers, matches, meet, these, type Pattern } from "../../../src/cluster/scope/patterns/pattern.ts";

/** Every text of up to three signs, and so one of each sort that the patterns below tell apart. */
const TEXTS = ["", ..."ab", "aa", "ab", "ba", "bb", "aaa", "aab", "aba", "abb", "baa"];

const short = fc.constantFrom("", "a", "b", "aa", "ab");
const pattern: fc.Arbitrary<Pattern> = fc.oneof(
  fc.constantFrom(ALL, NAMED, UNNAMED),
  fc.uniqueArray(short, { minLength: 1, maxLength: 3 }).map((names) => these(...names)),
  short.map((below) => ({ below })),
);

describe("patterns", () => {
  test.each([
    { pattern: ALL, in: ["", "a", "aa"], out: [] },
    { pattern: NAMED, in: ["a", "aa"], out: [""] },
    { pattern: UNNAMED, in: [""], out: ["a"] },
    { pattern: these("a", "b"), in: ["a", "b"], out: ["", "aa"] },
    { pattern: { below: "a" }, in: ["aa", "ab"], out: ["", "a", "b", "ba"] },
  ])("$pattern matches $in and not $out", ({ pattern: of, in: inside, out }) => {
    expect([...inside, ...out].filter((text) => matches(of, text))).toEqual(inside);
  });

  test("cover what they match all of, and meet what they match some of", () => {
    fc.assert(
      fc.property(pattern, pattern, (left, right) => {
        const ofRight = TEXTS.filter((text) => matches(right, text));
        expect(covers(left, right)).toBe(ofRight.every((text) => matches(left, text)) && !isEndless(left, right));
        expect(meet(left, right)).toBe(ofRight.some((text) => matches(left, text)));
      }),
      { numRuns: 1000 },
    );
  });
});

/** Longer texts than those above are in `right`, but not in a list. */
function isEndless(left: Pattern, right: Pattern): boolean {
  return "these" in left && !("these" in right);
}
