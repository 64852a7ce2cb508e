import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { suggest } from "../../src/base/suggest.ts";

const FIELDS = ["path", "expression", "reverseExpression", "reference", "enabled"];

describe("suggest", () => {
  test.each([
    { name: "expresion", want: "expression", why: "a letter is missing" },
    { name: "expresssion", want: "expression", why: "a letter is too much" },
    { name: "exprassion", want: "expression", why: "a letter is wrong" },
    { name: "refernece", want: "reference", why: "two letters are swapped" },
    { name: "ptah", want: "path", why: "a swap is one slip" },
    { name: "Enabled", want: "enabled", why: "case is wrong" },
    { name: "reverseexpression", want: "reverseExpression", why: "case is wrong inside" },
    { name: "pth", want: "path", why: "short names may have one slip" },
    { name: "colour", want: undefined, why: "nothing is near" },
    { name: "", want: undefined, why: "nothing was written" },
    { name: "p", want: undefined, why: "three slips of four letters are another word" },
    { name: "expression".repeat(100), want: undefined, why: "the text is not a name" },
  ])("answers $want for $name: $why", ({ name, want }) => {
    expect(suggest(name, FIELDS)).toBe(want);
  });

  test("takes the nearest, and of equals the first", () => {
    expect(suggest("abcdefgh", ["abcdefxy", "abcdefgx"])).toBe("abcdefgx");
    expect(suggest("cat", ["bat", "hat"])).toBe("bat");
  });

  test("always answers a known name or nothing, and a known name for itself", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 12 }), fc.constantFrom(...FIELDS), (text, known) => {
        expect([undefined, ...FIELDS]).toContain(suggest(text, FIELDS));
        expect(suggest(known, FIELDS)).toBe(known);
      }),
    );
  });
});
