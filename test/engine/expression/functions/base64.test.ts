import * as fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { decodeBase64, encodeBase64 } from "../../../../src/engine/expression/functions/base64.ts";
import { createSandbox, type Sandbox } from "../../../../src/engine/sandbox/sandbox.ts";
import { CONTEXT, answer, createTestSandbox, failureOf } from "../../sandbox/support.ts";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createTestSandbox({ limits: { fuel: 50_000_000 } });
});

/** Result of the platform's own function, in the form of {@link answer}. */
function platform(convert: (text: string) => string, text: string): unknown {
  try {
    return { value: convert(text) };
  } catch {
    return { code: "EXPRESSION_ERROR" };
  }
}

const unitsOf = (text: string) => Uint16Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
const textOf = (units: Uint8Array | undefined) => units && Array.from(units, (unit) => String.fromCharCode(unit)).join("");

const anyUnit = fc.oneof(fc.integer({ min: 0, max: 0xff }), fc.constantFrom(0, 0x7f, 0xff, 0x100, 0x141, 0x3d3d, 0xd800, 0xdfff, 0xfeff));
const anyText = fc.array(anyUnit, { maxLength: 40 }).map((units) => String.fromCharCode(...units));
/** Close to base64: digits, padding and blanks in any order, now and then something foreign. */
const nearlyBase64 = fc.string({ unit: fc.constantFrom(..."AQgw/+z09==  \t\n\f\r\v-_\u00a0\0\u0141".split("")), maxLength: 14 });

describe("btoa and atob", () => {
  test("answer what the platform's own functions answer", () => {
    fc.assert(
      fc.property(anyText, nearlyBase64, (text, base64) => {
        expect(answer(sandbox, "btoa(value)", text)).toEqual(platform(btoa, text));
        expect(answer(sandbox, "atob(value)", text)).toEqual(platform(atob, text));
        expect(answer(sandbox, "atob(value)", base64)).toEqual(platform(atob, base64));
      }),
      { numRuns: 1000 },
    );
  });

  test("undo each other for every byte and every length", () => {
    const bytes = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte)).join("");
    for (let length = 0; length < 300; length += 1) {
      const value = bytes.repeat(2).slice(length, 2 * length);
      expect(answer(sandbox, "[btoa(value), atob(btoa(value)) === value]", value)).toEqual({ value: [btoa(value), true] });
    }
  });

  test.each([
    { why: "in several pieces", make: '"a".repeat(9000) + value + "b".repeat(9000)', length: 18_003 },
    { why: "in pieces of which one was wide", make: '("\u65e5" + "a".repeat(9000) + value).slice(1)', length: 9003 },
    { why: "out of JSON", make: 'JSON.parse("\\"" + "\\\\u0061".repeat(300) + "\\"")', length: 300 },
    { why: "out of a list", make: 'Array(500).fill("x").join("")', length: 500 },
  ])("take a text $why", ({ make, length }) => {
    const text = `(text => [text.length, atob(btoa(text)) === text, btoa(text) === btoa([...text].join(""))])(${make})`;
    expect(answer(sandbox, text)).toEqual({ value: [length, true, true] });
  });

  test.each([
    { text: "btoa()", says: "TypeError: btoa() needs a text" },
    { text: "atob()", says: "TypeError: atob() needs a text" },
    { text: "btoa(Symbol())", says: "TypeError" },
    { text: 'btoa("\u65e5")', says: "InvalidCharacterError: btoa() takes characters up to U+00FF" },
    { text: 'btoa("a".repeat(5000) + "\\ud800")', says: "InvalidCharacterError: btoa() takes characters up to U+00FF" },
    { text: 'atob("a")', says: "InvalidCharacterError: atob() takes base64 text" },
    { text: 'atob("YQ=")', says: "InvalidCharacterError: atob() takes base64 text" },
  ])("throw $says for $text", ({ text, says }) => {
    expect(failureOf(sandbox, text).message).toContain(says);
  });

  test.each([
    { text: "btoa(null)", want: btoa("null") },
    { text: "btoa(12)", want: btoa("12") },
    { text: 'btoa({ toString: () => "own", valueOf: () => 1 })', want: btoa("own") },
    { text: "btoa([1, [2]])", want: btoa("1,2") },
    { text: "atob(1234)", want: atob("1234") },
    { text: 'btoa("a", "ignored")', want: btoa("a") },
  ])("make a text of what they get: $text", ({ text, want }) => {
    expect(answer(sandbox, text)).toEqual({ value: want });
  });

  test("give strings like any other", () => {
    const uses =
      '[text + text, text.length, text === "a\\0\\xff", ({ [text]: 1 })[text], [...text].length, text.split("").join("") === text]';
    expect(answer(sandbox, `(text => ${uses})(atob(value))`, btoa("a\0\xff"))).toEqual({
      value: ["a\0\xffa\0\xff", 3, true, 1, 3, true],
    });
    expect(answer(sandbox, "JSON.parse(atob(value))", btoa('{"a":["\xe9"]}'))).toEqual({ value: { a: ["\xe9"] } });
  });

  test("take fuel in proportion to the length, the same every time", async () => {
    const fuelOf = (length: number) =>
      sandbox.evaluate(sandbox.compile("atob(btoa(value)).length"), { value: "x".repeat(length), context: CONTEXT }).fuel;
    const [small, large, again] = [fuelOf(3000), fuelOf(300_000), fuelOf(3000)];
    expect(again).toBe(small);
    expect(large / small).toBeGreaterThan(90);
    expect(large / small).toBeLessThan(110);
    // Enough for the text alone, not for the work.
    const poor = await createSandbox({ limits: { fuel: 20_000 } });
    expect(answer(poor, "btoa(value)", "x".repeat(19_000))).toEqual({ code: "EXPRESSION_FUEL" });
    expect(answer(poor, "value", 1)).toEqual({ value: 1 });
  });
});

describe("base64 of code units", () => {
  test("is the platform's", () => {
    fc.assert(
      fc.property(anyText, nearlyBase64, (text, base64) => {
        expect({ value: textOf(encodeBase64(unitsOf(text))) }).toEqual(code(platform(btoa, text)));
        expect({ value: textOf(decodeBase64(unitsOf(base64))) }).toEqual(code(platform(atob, base64)));
      }),
      { numRuns: 1000 },
    );
  });
});

/** An answer in which a failure is undefined. */
function code(got: unknown): unknown {
  return "value" in (got as object) ? got : { value: undefined };
}
