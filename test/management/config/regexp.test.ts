import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileRegexp } from "../../../src/management/config/regexp/regexp.ts";

function matches(source: string, text: string): boolean {
  const result = compileRegexp(source);
  if (!result.ok) throw new Error(`${source}: ${result.message}`);
  return result.matches(text);
}

/** Expressions that JavaScript reads in the same sense, with the flags that make it do so. */
const ALIKE: readonly [source: string, flags?: string][] = [
  ["a"],
  [""],
  ["^$"],
  ["^team-"],
  ["-admins$"],
  ["^(a|b)*c$"],
  ["^(?:a|ab)(?:c|bcd)$"],
  ["a{2,3}b{0}c{1,}"],
  ["^a{2}$"],
  ["^(a{0,2}){2}$"],
  ["x*?y+?z??"],
  ["[a-c][^a-c]"],
  ["[]a]", "skip"],
  ["[\\]\\-a]"],
  ["[a-]"],
  ["[\\d_]+-\\w\\W"],
  ["\\bab\\b"],
  ["a\\Bb"],
  ["\\.\\*\\\\"],
  ["a|"],
  ["^(|a)+$"],
  ["(a*)*$"],
  ["(?:a?){3}c"],
  ["\\x61\\t"],
  ["."],
  ["^..$"],
  ["\\p{Lu}\\P{Lu}"],
  ["a{,2}", "skip"],
  ["[.*+?]"],
];

describe("an expression without backtracking", () => {
  test.each(ALIKE.filter(([, flags]) => flags !== "skip"))("%s matches what a backtracking engine matches", (source) => {
    const other = new RegExp(source, "u");
    const letters = fc.constantFrom("a", "b", "c", "-", "_", ".", "*", "\\", "x", "y", "z", "é", "😀", "A", " ", "1");
    fc.assert(
      fc.property(fc.array(letters, { maxLength: 8 }), (parts) => {
        expect(matches(source, parts.join(""))).toBe(other.test(parts.join("")));
      }),
      { numRuns: 300, seed: 1 },
    );
    for (const text of ["team-a", "my-admins", "", "abbc", "aab", "ab ab", "a\t"]) expect(matches(source, text)).toBe(other.test(text));
  });

  test("matches what a backtracking engine matches, for every kind of expression", () => {
    const atom = fc.constantFrom("a", "b", ".", "[ab]", "[^a]", "(?:a|b)", "^", "$", "\\b", "\\w");
    const part = fc.tuple(atom, fc.constantFrom("", "*", "+", "?", "{2}", "{0,1}")).map(([left, right]) => `(?:${left})${right}`);
    const tree = fc
      .array(part, { minLength: 1, maxLength: 4 })
      .map((parts) => `(${parts.join("")})`)
      .chain((left) => fc.tuple(fc.constant(left), part, fc.constantFrom("", "|", "*"), fc.boolean()))
      .map(([left, right, join, group]) => (group ? `(?:${left}${join}${right})+` : `${left}${join}${right}`));
    fc.assert(
      fc.property(tree, fc.stringMatching(/^[ab -]{0,7}$/), (source, text) => {
        expect([source, text, matches(source, text)]).toEqual([source, text, new RegExp(source, "u").test(text)]);
      }),
      { numRuns: 2_000, seed: 1 },
    );
  });

  test.each([
    ["(?i)team", "TEAM", true],
    ["(?i:t)eam", "TEAM", false],
    ["(?i:t)eam", "Team", true],
    ["(?i)[^t]", "T", false],
    ["a(?i)b", "aB", true],
    ["a(?i)b", "AB", false],
    ["(?s)a.b", "a\nb", true],
    ["a.b", "a\nb", false],
    ["(?m)^b$", "a\nb\nc", true],
    ["^b$", "a\nb\nc", false],
    ["(?m-m)^b", "a\nb", false],
    ["(?P<name>a)b", "ab", true],
    ["(?<name>a)b", "ab", true],
    ["^[[:alpha:]]+$", "abC", true],
    ["^[[:^alpha:]]+$", "abC", false],
    ["\\Aa\\z", "a", true],
    ["\\pL", "é", true],
    ["\\p{Greek}", "λ", true],
    ["\\p{^Greek}", "λ", false],
    ["^[]a]$", "]", true],
    ["a{,2}", "a{,2}", true],
    ["\\x{1F600}", "😀", true],
  ])("%s on %j is %s, as RE2 says", (source, text, expected) => {
    expect(matches(source, text)).toBe(expected);
  });

  test.each([
    ["(", 0, "Missing ) for this group"],
    ["a)", 1, "Unexpected )"],
    ["ab[c", 2, "Missing ] for this ["],
    ["a**", 2, "Found a repetition of a repetition; put the inner one in a group"],
    ["*a", 0, "Found nothing to repeat"],
    ["a{3,2}", 0, "Expected the smaller number of repetitions first"],
    ["a{1001}", 0, "Expected at most 1000 repetitions"],
    ["(?=a)", 0, "Lookahead and lookbehind are not supported"],
    ["x(?<!a)", 1, "Lookahead and lookbehind are not supported"],
    ["(a)\\1", 3, "Backreferences are not supported"],
    ["(?#x)", 0, "Found an unknown kind of group"],
    ["[b-a]", 1, "Found a range whose end is before its start"],
    ["\\", 0, "Found nothing after \\"],
    ["\\q", 0, "Found the unknown \\q"],
    ["\\p{Nothing}", 0, "Unknown Unicode class"],
    ["[[:nothing:]]", 1, "Found the unknown class [:nothing:]"],
    ["\\x{110000}", 0, "Found a code point above 10FFFF"],
    ["((a{100}){100}){100}", 0, "The expression is too complex: with repetitions such as {100} expanded, it has more than 1000 steps"],
    ["(".repeat(101) + ")".repeat(101), 100, "Found groups nested more than 100 levels deep"],
  ])("%s is refused at offset %i: %s", (source, offset, message) => {
    expect(compileRegexp(source)).toEqual({ ok: false, offset, message });
  });

  test.each(["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "^(.*)*x$", "^(\\w*)*\\d$", "a?".repeat(60) + "a".repeat(60), "^(?:(?:a*)*)*$"])(
    "%s ends on a text that makes backtracking engines run for years",
    (source) => {
      // A backtracking engine would need more steps than any test has time for.
      expect(matches(source, `${"a".repeat(1_000)}!`)).toBe(source.startsWith("a?"));
    },
  );
});
