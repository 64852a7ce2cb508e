import { describe, expect, test } from "vitest";
import { suggest } from "../../src/base/suggest.ts";

const FIELDS = ["path", "expression", "reverseExpression", "reference", "labels"];

describe("suggest", () => {
  test.each([
    { name: "expresion", want: "expression", why: "a missing letter" },
    { name: "expresssion", want: "expression", why: "a letter too many" },
    { name: "epxression", want: "expression", why: "swapped letters" },
    { name: "Expression", want: "expression", why: "another case" },
    { name: "reverseExpresion", want: "reverseExpression", why: "a slip in a long name" },
    { name: "reverse_expression", want: "reverseExpression", why: "another style of words" },
    { name: "paht", want: "path", why: "a slip in a short name" },
    { name: "label", want: "labels", why: "the singular" },
    { name: "colour", want: undefined, why: "a name that is none of them" },
    { name: "op", want: undefined, why: "a short name that is none of them" },
    { name: "", want: undefined, why: "no name" },
    { name: "e".repeat(1_000_000), want: undefined, why: "a name that is no name" },
  ])("finds what $why meant", ({ name, want }) => {
    expect(suggest(name, FIELDS)).toBe(want);
  });

  test("prefers the nearest, then the first", () => {
    expect(suggest("abcx", ["abcdd", "abcd", "abce"])).toBe("abcd");
  });
});
