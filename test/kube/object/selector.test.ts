import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isEngineError } from "../../../src/base/errors.ts";
import { matchesSelector, parseSelector, selectorOf, type LabelSelector, type Requirement } from "../../../src/kube/object/selector.ts";

const requirement = (key: string, operator: Requirement["operator"], ...values: string[]): Requirement => ({ key, operator, values });
const LONG = "a".repeat(63);
const PREFIX = `${"a.".repeat(126)}a`;

describe("parseSelector", () => {
  test.each<{ text: string; want: readonly Requirement[]; why: string }>([
    { text: "", want: [], why: "empty text has no requirement" },
    { text: " \t\r\n", want: [], why: "nor has space" },
    { text: "app", want: [requirement("app", "Exists")], why: "a key alone must exist" },
    { text: "!app", want: [requirement("app", "DoesNotExist")], why: "! asks for absence" },
    { text: " ! app ", want: [requirement("app", "DoesNotExist")], why: "space behind ! does not matter" },
    { text: "app=web", want: [requirement("app", "In", "web")], why: "= compares" },
    { text: "app == web", want: [requirement("app", "In", "web")], why: "== is the same" },
    { text: "app!=web", want: [requirement("app", "NotIn", "web")], why: "!= excludes" },
    { text: "app=", want: [requirement("app", "In", "")], why: "a value may be empty" },
    {
      text: "app!=,tier",
      want: [requirement("app", "NotIn", ""), requirement("tier", "Exists")],
      why: "an empty value may stand before a comma",
    },
    { text: "app in (web)", want: [requirement("app", "In", "web")], why: "in takes a list" },
    { text: "app in(web,db)", want: [requirement("app", "In", "web", "db")], why: "the list may stand close" },
    { text: "app  notin\t( web , db )", want: [requirement("app", "NotIn", "web", "db")], why: "or far" },
    { text: "app in ()", want: [requirement("app", "In", "")], why: "an empty list names the empty value" },
    { text: "app in (,)", want: [requirement("app", "In", "")], why: "once" },
    { text: "app in (web,,web,)", want: [requirement("app", "In", "web", "")], why: "values are named once, empty ones too" },
    { text: "x>5", want: [requirement("x", "Gt", "5")], why: "> compares numbers" },
    { text: "x < 007", want: [requirement("x", "Lt", "007")], why: "leading zeros are digits" },
    { text: "in in (in,notin)", want: [requirement("in", "In", "in", "notin")], why: "in is a word where no operator is due" },
    { text: "notin", want: [requirement("notin", "Exists")], why: "so is notin" },
    { text: "x=in", want: [requirement("x", "In", "in")], why: "and as a value" },
    { text: "inn,notinn=a", want: [requirement("inn", "Exists"), requirement("notinn", "In", "a")], why: "words may begin like operators" },
    {
      text: "a,!b,c=d",
      want: [requirement("a", "Exists"), requirement("b", "DoesNotExist"), requirement("c", "In", "d")],
      why: "commas join",
    },
    {
      text: "x in (a,b),y notin (c),z",
      want: [requirement("x", "In", "a", "b"), requirement("y", "NotIn", "c"), requirement("z", "Exists")],
      why: "commas in lists do not",
    },
    { text: "kubernetes.io/name=x", want: [requirement("kubernetes.io/name", "In", "x")], why: "a key may have a prefix" },
    {
      text: "!sync.platform/a_B.c-9",
      want: [requirement("sync.platform/a_B.c-9", "DoesNotExist")],
      why: "a name may hold _ . - and capitals",
    },
    {
      text: `${PREFIX}/${LONG}=${LONG}`,
      want: [requirement(`${PREFIX}/${LONG}`, "In", LONG)],
      why: "prefix, name and value may be as long as labels",
    },
  ])("reads $text: $why", ({ text, want }) => {
    expect(parseSelector(text)).toEqual(want);
  });

  test.each([
    { text: ",", why: "nothing before the comma" },
    { text: "a,", why: "nothing behind the comma" },
    { text: "a,,b", why: "nothing between commas" },
    { text: "a b", why: "two keys without a comma" },
    { text: "a=b c", why: "a value with a space" },
    { text: "a in (b c)", why: "a value with a space in a list" },
    { text: "a in b", why: "a list without parentheses" },
    { text: "a in (b", why: "an open list" },
    { text: "a in (b))", why: "a list closed twice" },
    { text: "a in (b),c)", why: "a parenthesis behind another requirement" },
    { text: "a in ((b))", why: "a nested list" },
    { text: "a in", why: "no list" },
    { text: "a=(b)", why: "a list behind =" },
    { text: "in (a)", why: "no key" },
    { text: "=a", why: "no key before =" },
    { text: "!", why: "no key behind !" },
    { text: "!!a", why: "! twice" },
    { text: "!a=b", why: "! and a value" },
    { text: "!a in (b)", why: "! and a list" },
    { text: "a=b=c", why: "two values" },
    { text: "a===b", why: "= three times" },
    { text: "a=!b", why: "=! is not an operator" },
    { text: "a>=1", why: ">= is not an operator" },
    { text: "a>", why: "no number" },
    { text: "a>b", why: "a word in place of a number" },
    { text: "a>-1", why: "a label cannot be negative" },
    { text: "a>1.5", why: "a fraction" },
    { text: "a<9223372036854775808", why: "a number of more than 64 bits" },
    { text: "a\u00a0=b", why: "a space that is none of ASCII" },
    { text: "-a", why: "a key that starts with a hyphen" },
    { text: "a.", why: "a key that ends with a dot" },
    { text: "a/b/c", why: "two slashes" },
    { text: "/a", why: "an empty prefix" },
    { text: "a/", why: "an empty name" },
    { text: "A.io/a", why: "a prefix with capitals" },
    { text: "a..b/c", why: "an empty part of a prefix" },
    { text: "a.-b/c", why: "a part of a prefix that starts with a hyphen" },
    { text: "a_b/c", why: "a prefix with an underscore" },
    { text: `${LONG}a`, why: "a name of 64 characters" },
    { text: `a${PREFIX}/a`, why: "a prefix of 254 characters" },
    { text: `a=${LONG}a`, why: "a value of 64 characters" },
    { text: "a=-b", why: "a value that starts with a hyphen" },
    { text: "a=b/c", why: "a value with a slash" },
    { text: 'a="b"', why: "quotes" },
  ])("refuses $text: $why", ({ text }) => {
    expect(() => parseSelector(text)).toThrow(expect.objectContaining({ code: "API_BAD_REQUEST" }));
  });

  test("says what it found and what it wanted", () => {
    const messageOf = (text: string): string => {
      try {
        return JSON.stringify(parseSelector(text));
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect(messageOf("a in b")).toBe('unable to parse requirement: found "b", expected "(" in selector "a in b"');
    expect(messageOf("a,")).toBe('unable to parse requirement: found the end, expected a key in selector "a,"');
    expect(messageOf("a b")).toBe('unable to parse requirement: found "b", expected an operator in selector "a b"');
    expect(messageOf("a..b/c")).toBe('unable to parse requirement: "a..b/c" is not a valid label key');
  });

  const key = fc.oneof(
    fc.constantFrom("in", "notin", "app"),
    fc.stringMatching(/^([a-z]{1,5}\.io\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,8}[A-Za-z0-9])?$/),
  );
  const value = fc.oneof(fc.constantFrom("", "in", "notin", "0"), fc.stringMatching(/^[A-Za-z0-9]([-A-Za-z0-9_.]{0,8}[A-Za-z0-9])?$/));
  const space = fc.constantFrom("", "", " ", "\t ");
  const parts: fc.Arbitrary<{ text: string; want: Requirement }> = fc.oneof(
    fc.tuple(key, space).map(([name, s]) => ({ text: `${s}${name}${s}`, want: requirement(name, "Exists") })),
    fc.tuple(key, space).map(([name, s]) => ({ text: `!${s}${name}${s}`, want: requirement(name, "DoesNotExist") })),
    fc.tuple(key, value, space, fc.constantFrom("=", "==", "!=")).map(([name, text, s, sign]) => ({
      text: `${name}${s}${sign}${s}${text}${s}`,
      want: requirement(name, sign === "!=" ? "NotIn" : "In", text),
    })),
    fc.tuple(key, fc.uniqueArray(value, { minLength: 1 }), space, fc.constantFrom("in", "notin")).map(([name, values, s, word]) => ({
      text: `${name} ${word}${s}(${s}${values.join(`${s},${s}`)}${s})${s}`,
      want: requirement(name, word === "in" ? "In" : "NotIn", ...values),
    })),
    fc.tuple(key, fc.nat(), space, fc.constantFrom(">", "<")).map(([name, number, s, sign]) => ({
      text: `${name}${s}${sign}${s}${number}`,
      want: requirement(name, sign === ">" ? "Gt" : "Lt", String(number)),
    })),
  );

  test("reads back whatever the grammar can write", () => {
    fc.assert(
      fc.property(fc.array(parts, { minLength: 1, maxLength: 5 }), (given) => {
        expect(parseSelector(given.map(({ text }) => text).join(","))).toEqual(given.map(({ want }) => want));
      }),
      { numRuns: 500 },
    );
  });

  test("either reads a text or refuses it with API_BAD_REQUEST", () => {
    const piece = fc.oneof(
      fc.constantFrom("a", "in", "notin", "=", "==", "!", "!=", "(", ")", ",", "<", ">", " ", "1", "/"),
      fc.string({ maxLength: 2 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        try {
          for (const { key: name } of parseSelector(pieces.join(""))) expect(name).toMatch(/^[A-Za-z0-9]/);
        } catch (error) {
          expect(isEngineError(error, "API_BAD_REQUEST"), String(error)).toBe(true);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  test("takes a long hostile text in its stride", () => {
    for (const text of [
      ",".repeat(100_000),
      "a in (b),".repeat(20_000) + ")",
      "(".repeat(100_000),
      `${"a-".repeat(50_000)}!`,
      `a=${"-a".repeat(50_000)}`,
    ]) {
      expect(() => parseSelector(text)).toThrow(expect.objectContaining({ code: "API_BAD_REQUEST" }));
    }
  });
});

describe("matchesSelector", () => {
  const labels = { app: "web", tier: "", build: "42", large: "9007199254740993" };
  test.each([
    { text: "", want: true, why: "an empty selector takes everything" },
    { text: "app", want: true, why: "the key is there" },
    { text: "tier", want: true, why: "a key with an empty value is there" },
    { text: "!tier", want: false, why: "a key with an empty value is not absent" },
    { text: "!other", want: true, why: "the key is absent" },
    { text: "app=web", want: true, why: "the value is the same" },
    { text: "app=Web", want: false, why: "case matters" },
    { text: "tier=", want: true, why: "an empty value is a value" },
    { text: "other=", want: false, why: "an absent label has no value, not even an empty one" },
    { text: "app!=db", want: true, why: "the value is another" },
    { text: "app!=web", want: false, why: "the value is the excluded one" },
    { text: "other!=web", want: true, why: "an absent label is not equal" },
    { text: "app in (db,web)", want: true, why: "the value is in the list" },
    { text: "other in (web,)", want: false, why: "an absent label is in no list" },
    { text: "app notin (db)", want: true, why: "the value is not in the list" },
    { text: "other notin (web)", want: true, why: "an absent label is in no list" },
    { text: "app=web,build=42", want: true, why: "all hold" },
    { text: "app=web,build=43", want: false, why: "one does not hold" },
    { text: "build>41", want: true, why: "the number is greater" },
    { text: "build>42", want: false, why: "the number is equal, not greater" },
    { text: "build<42", want: false, why: "the number is equal, not less" },
    { text: "build<100", want: true, why: "numbers are compared, not texts" },
    { text: "app>1", want: false, why: "a word is not greater" },
    { text: "app<1", want: false, why: "nor less" },
    { text: "other<1", want: false, why: "an absent label is not a number" },
    { text: "large>9007199254740992", want: true, why: "64 bits are compared exactly" },
    { text: "toString", want: false, why: "inherited names are no labels" },
    { text: "!constructor", want: true, why: "so that they are absent" },
  ])("says $want to $text: $why", ({ text, want }) => {
    expect(matchesSelector(parseSelector(text), labels)).toBe(want);
  });

  test("takes absent labels as none", () => {
    expect(matchesSelector(parseSelector("!app,app!=web"), undefined)).toBe(true);
    expect(matchesSelector(parseSelector("app"), undefined)).toBe(false);
  });

  test("answers an operator and its opposite differently", () => {
    const sets = fc.dictionary(fc.constantFrom("a", "b"), fc.constantFrom("", "1", "2"));
    fc.assert(
      fc.property(sets, fc.constantFrom("a", "b"), fc.subarray(["", "1", "2"], { minLength: 1 }), (given, key, values) => {
        const says = (operator: Requirement["operator"], ...listed: string[]) =>
          matchesSelector([{ key, operator, values: listed }], given);
        expect(says("NotIn", ...values)).toBe(!says("In", ...values));
        expect(says("DoesNotExist")).toBe(!says("Exists"));
      }),
    );
  });
});

describe("selectorOf", () => {
  test("joins labels and expressions", () => {
    const field: LabelSelector = {
      matchLabels: { app: "web" },
      matchExpressions: [
        { key: "tier", operator: "NotIn", values: ["a", "b"] },
        { key: "old", operator: "DoesNotExist" },
      ],
    };
    expect(selectorOf(field)).toEqual([
      requirement("app", "In", "web"),
      requirement("tier", "NotIn", "a", "b"),
      requirement("old", "DoesNotExist"),
    ]);
  });

  test("takes everything when it is empty", () => {
    expect(selectorOf({})).toEqual([]);
  });

  test.each([
    { operator: "Gt", values: ["1"], why: "fields have no comparison of numbers" },
    { operator: "in", values: ["a"], why: "operators are spelled as the API does" },
    { operator: "toString", values: [], why: "inherited names are no operators" },
    { operator: "In", values: [], why: "In needs values" },
    { operator: "NotIn", values: undefined, why: "NotIn needs values" },
    { operator: "Exists", values: ["a"], why: "Exists takes none" },
  ])("refuses $operator with $values: $why", ({ operator, values }) => {
    const expression = { key: "app", operator, ...(values !== undefined && { values }) };
    expect(() => selectorOf({ matchExpressions: [expression] })).toThrow(expect.objectContaining({ code: "API_BAD_REQUEST" }));
  });
});
