import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  canonicalJson,
  heldBytes,
  isDeeperThan,
  isRecord,
  jsonEqual,
  parseJson,
  typeInWords,
  withoutLoneSurrogates,
} from "../../src/base/json.ts";
import { jsonValue, parsed, shuffled } from "./arbitrary.ts";

describe("isRecord", () => {
  test.each([
    { value: {}, want: true, why: "an object is a record" },
    { value: parsed('{"__proto__":1}'), want: true, why: "so is one with an odd key" },
    { value: [], want: false, why: "a list is none" },
    { value: null, want: false, why: "null is none" },
    { value: undefined, want: false, why: "an absent value is none" },
    { value: "text", want: false, why: "a text is none" },
    { value: () => 1, want: false, why: "a function is none" },
  ])("$why", ({ value, want }) => {
    expect(isRecord(value)).toBe(want);
  });
});

describe("typeInWords", () => {
  test.each([
    [null, "null"],
    [undefined, "undefined"],
    [[], "a list"],
    [{}, "an object"],
    ["x", "a string"],
    [1, "a number"],
    [true, "a boolean"],
  ])("calls %j %s", (value, want) => {
    expect(typeInWords(value)).toBe(want);
  });
});

describe("isDeeperThan", () => {
  test.each([
    { value: 1, depth: 0 },
    { value: {}, depth: 1 },
    { value: [[], { a: 1 }], depth: 2 },
    { value: { a: { b: [1] }, c: 1 }, depth: 3 },
    { value: parsed('{"__proto__":{"a":1}}'), depth: 2 },
  ])("counts the $depth levels of $value", ({ value, depth }) => {
    expect(isDeeperThan(value, depth)).toBe(false);
    if (depth > 0) expect(isDeeperThan(value, depth - 1)).toBe(true);
  });

  test("looks no further than asked, however deep it is", () => {
    const deep = parsed('{"a":'.repeat(60_000) + "1" + "}".repeat(60_000));
    expect(isDeeperThan(deep, 500)).toBe(true);
  });
});

describe("parseJson", () => {
  test.each([
    { text: "[[[]]]", why: "nested lists" },
    { text: '{"a":{"b":{"c":1}}}', why: "nested objects" },
    { text: '[{"a":[{}]}]', why: "both" },
    { text: '["[[[[{{{{"]', why: "brackets within a string, which are no levels" },
    { text: "[[],[],[],{},{}]", why: "more brackets than levels" },
  ])("reads $why as deep as they are allowed, and no deeper", ({ text }) => {
    const levels = [1, 2, 3, 4, 5].find((depth) => !isDeeperThan(JSON.parse(text), depth))!;
    expect(parseJson(text, levels)).toEqual(JSON.parse(text));
    expect(() => parseJson(text, levels - 1)).toThrow(new SyntaxError(`it has more than ${levels - 1} levels`));
  });

  test("refuses what is not JSON", () => {
    expect(() => parseJson("[1", 9)).toThrow(SyntaxError);
  });
});

describe("jsonEqual", () => {
  test.each([
    { left: { a: 1, b: 2 }, right: { b: 2, a: 1 }, want: true, why: "the order of keys does not matter" },
    { left: [1, 2], right: [2, 1], want: false, why: "the order of a list does" },
    { left: { a: undefined }, right: {}, want: true, why: "an undefined member is an absent one" },
    { left: {}, right: { a: undefined }, want: true, why: "an undefined member is an absent one on the right as well" },
    { left: { a: undefined, b: 1 }, right: { b: 1, c: undefined }, want: true, why: "undefined members need not have the same names" },
    { left: { a: undefined, b: 1 }, right: { a: 1, b: undefined }, want: false, why: "an undefined member does not stand for another one" },
    { left: { a: null }, right: {}, want: false, why: "null is not absent" },
    { left: [1], right: [1, undefined], want: false, why: "a list with an undefined item is longer" },
    { left: [], right: {}, want: false, why: "an empty list is not an empty object" },
    { left: {}, right: [], want: false, why: "an empty object is not an empty list" },
    { left: { 0: "a", length: 1 }, right: ["a"], want: false, why: "an object that looks like a list is none" },
    { left: [, 1], right: [5, 1], want: false, why: "a hole in a list is not just any value" },
    { left: 0, right: -0, want: true, why: "JSON has one zero" },
    { left: "1", right: 1, want: false, why: "a text is not a number" },
    { left: null, right: undefined, want: false, why: "null is not undefined" },
    { left: null, right: {}, want: false, why: "null is not an object" },
    { left: parsed('{"__proto__":1}'), right: parsed('{"__proto__":1}'), want: true, why: "__proto__ is a key like others" },
    { left: parsed('{"__proto__":1}'), right: parsed('{"__proto__":2}'), want: false, why: "the value of __proto__ counts" },
    { left: parsed('{"__proto__":{}}'), right: {}, want: false, why: "what is inherited is not a member" },
    { left: {}, right: parsed('{"__proto__":{}}'), want: false, why: "what is inherited is not a member on the left" },
    { left: parsed('{"__proto__":{}}'), right: { b: 1 }, want: false, why: "what is inherited does not stand for a member" },
    { left: parsed('{"constructor":1}'), right: parsed('{"toString":1}'), want: false, why: "inherited names are not found" },
  ])("says $want: $why", ({ left, right, want }) => {
    expect(jsonEqual(left, right)).toBe(want);
  });

  test("agrees with the platform's strict deep equality on all JSON", () => {
    fc.assert(
      fc.property(jsonValue, jsonValue, (left, right) => {
        expect(jsonEqual(left, right)).toBe(isDeepStrictEqual(left, right));
      }),
      { numRuns: 1000 },
    );
  });

  test("sees through a copy with shuffled keys and undefined members", () => {
    fc.assert(
      fc.property(jsonValue, fc.nat(), (value, seed) => {
        expect(jsonEqual(value, shuffled(value, seed))).toBe(true);
        expect(jsonEqual(shuffled(value, seed), value)).toBe(true);
      }),
    );
  });

  test("goes down a few thousand levels", () => {
    const deep = () => parsed("[".repeat(3_000) + "]".repeat(3_000));
    expect(jsonEqual(deep(), deep())).toBe(true);
  });
});

describe("canonicalJson", () => {
  test.each([
    { value: { b: 1, a: 2 }, want: '{"a":2,"b":1}', why: "keys are sorted" },
    { value: { a: undefined, b: null }, want: '{"b":null}', why: "undefined members are left out" },
    { value: [undefined, 1], want: "[null,1]", why: "an undefined item is null" },
    { value: [, 1], want: "[null,1]", why: "a hole is null" },
    { value: undefined, want: "null", why: "no value is null" },
    { value: [NaN, Infinity, -0], want: "[null,null,0]", why: "numbers are JSON's" },
    { value: { ü: "\ud800", '"': "\u2028" }, want: '{"\\"":"\u2028","ü":"\\ud800"}', why: "texts are JSON's" },
    { value: parsed('{"__proto__":{"b":1,"a":2}}'), want: '{"__proto__":{"a":2,"b":1}}', why: "__proto__ is a key like others" },
  ])("writes $want: $why", ({ value, want }) => {
    expect(canonicalJson(value)).toBe(want);
  });

  test("is JSON of the same value", () => {
    fc.assert(
      fc.property(jsonValue, (value) => {
        expect(isDeepStrictEqual(parsed(canonicalJson(value)), value)).toBe(true);
      }),
    );
  });

  test("is the same text exactly for equal values", () => {
    fc.assert(
      fc.property(jsonValue, jsonValue, fc.nat(), (left, right, seed) => {
        expect(canonicalJson(left) === canonicalJson(right)).toBe(jsonEqual(left, right));
        expect(canonicalJson(shuffled(left, seed))).toBe(canonicalJson(left));
      }),
      { numRuns: 500 },
    );
  });
});

describe("what data takes in memory", () => {
  test("is no less than its characters, and grows with each part", () => {
    fc.assert(
      fc.property(jsonValue, jsonValue, (value, more) => {
        // Escaped characters and long numbers count less than their text.
        expect(heldBytes(value)).toBeGreaterThanOrEqual(canonicalJson(value).length / 7 - 1);
        expect(heldBytes([value, more])).toBeGreaterThanOrEqual(heldBytes([value]) + heldBytes(more));
        expect(heldBytes({ value, more })).toBeGreaterThan(heldBytes({ value }) + heldBytes(more));
      }),
    );
  });

  test("is twice as much for texts that one byte for each character cannot hold", () => {
    expect(heldBytes("ü".repeat(10_000))).toBeLessThan(11_000);
    expect(heldBytes(`漢${"a".repeat(10_000)}`)).toBeGreaterThan(20_000);
  });
});

describe("withoutLoneSurrogates", () => {
  test.each([
    [String.raw`"a\ud800"`, "a\ufffd"],
    [String.raw`"\uDFFFa"`, "\ufffda"],
    [String.raw`"\ud800\u0041"`, "\ufffdA"],
    [String.raw`"\ud800\ud83d\ude00"`, "\ufffd\u{1f600}"],
    [String.raw`"\ude00\ud83d"`, "\ufffd\ufffd"],
    [String.raw`"\ud83d\uDE00"`, "\u{1f600}"],
    [String.raw`"\\ud800"`, String.raw`\ud800`],
    [String.raw`"\\\ud800"`, "\\\ufffd"],
    [String.raw`{"\ud800":["\udc00"]}`, { "\ufffd": ["\ufffd"] }],
  ])("%s is read as %j", (json, want) => {
    expect(JSON.parse(withoutLoneSurrogates(json))).toEqual(want);
  });

  test("leaves the text that UTF-8 makes of it, and no other", () => {
    const units = fc.array(fc.constantFrom("a", "\\", "u", "d", "8", "0", '"', "\ud83d", "\ude00", "\ud800", "\udfff"), { maxLength: 12 });
    fc.assert(
      fc.property(units, (parts) => {
        const given = parts.join("");
        expect(JSON.parse(withoutLoneSurrogates(JSON.stringify(given)))).toBe(Buffer.from(given).toString());
      }),
    );
  });
});
