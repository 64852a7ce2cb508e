import * as fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import type { Sandbox } from "../../../src/engine/sandbox/sandbox.ts";
import { needsEscape, readUnits, writeText } from "../../../src/engine/sandbox/quickjs/strings.ts";
import { CONTEXT, answer, createTestSandbox } from "./support.ts";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createTestSandbox();
});

/** Code units in any order: lone surrogates, NUL and byte order marks come up often. */
const unit = fc.oneof(
  fc.integer({ min: 0, max: 0xffff }),
  fc.constantFrom(0, 0x7f, 0x80, 0xff, 0x100, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0xfeff, 0xfffe, 0x2028),
);
const text = fc.array(unit, { maxLength: 40 }).map((units) => String.fromCharCode(...units));

describe("text", () => {
  test("comes in and goes out unharmed", () => {
    fc.assert(
      fc.property(text, (value) => {
        expect(answer(sandbox, "value", value)).toEqual({ value });
        expect(answer(sandbox, "value.length", value)).toEqual({ value: value.length });
        expect(answer(sandbox, "[value]", value)).toEqual({ value: [value] });
        expect(answer(sandbox, "context.path", 1, { ...CONTEXT, path: value })).toEqual({ value });
      }),
      { numRuns: 500 },
    );
  });

  test.each([0, 1, 255, 256, 257, 4095, 4096, 4097, 5461, 5462, 20_000, 300_000])(
    "of %i characters comes in and goes out unharmed",
    (length) => {
      for (const piece of ["a", "é", "\u65e5", "\ud83d\ude00", "\0", "\ud800"]) {
        const value = piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
        if (JSON.stringify(value).length > 2 ** 20) continue;
        expect(answer(sandbox, "value", value)).toEqual({ value });
        expect(answer(sandbox, "value.length", value)).toEqual({ value: length });
      }
    },
  );

  test("is UTF-8 with a closing zero where it is written", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (value) => {
        const bytes = new Uint8Array(value.length * 3 + 3).fill(0xaa);
        expect(writeText(bytes, 1, value)).toBe(!needsEscape(value));
        if (needsEscape(value)) return;
        const want = new TextEncoder().encode(value);
        expect([...bytes.subarray(0, want.length + 2)]).toEqual([0xaa, ...want, 0]);
      }),
      { numRuns: 500 },
    );
  });

  test("is read from bytes and from words", () => {
    fc.assert(
      fc.property(text, (value) => {
        expect(readUnits(Uint16Array.from({ length: value.length }, (_, index) => value.charCodeAt(index)))).toBe(value);
      }),
    );
    expect(readUnits(Uint8Array.of(0, 0x7f, 0x80, 0xff))).toBe("\0\x7f\x80\xff");
    expect(readUnits(Uint8Array.of(0x61, 0, 0x7f, 0x62), 1, 3)).toBe("\0\x7f");
    expect(
      readUnits(
        Uint8Array.from({ length: 20_000 }, (_, at) => (at < 5000 ? 0x61 : 0x62)),
        4000,
        10_000,
      ),
    ).toBe("a".repeat(1000) + "b".repeat(5000));
    expect(readUnits(new Uint16Array(10_000).fill(0xd800))).toBe("\ud800".repeat(10_000));
  });
});

describe("JSON data", () => {
  test("comes in and goes out unharmed, but for the sign of zero", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4, stringUnit: "binary" }), (value) => {
        const got = answer(sandbox, "value", value) as { value: unknown };
        expect(JSON.stringify(got.value)).toBe(JSON.stringify(value));
      }),
      { numRuns: 500 },
    );
  });

  test("has no negative zero, in either direction", () => {
    for (const [text, value] of [
      ["value", -0],
      ["-0", 1],
      ["[-0][0]", 1],
    ] as const) {
      const { value: got } = answer(sandbox, text, value) as { value: unknown };
      expect(Object.is(got, -0)).toBe(false);
    }
    expect(answer(sandbox, "1 / value", -0)).toEqual({ code: "EXPRESSION_RESULT" });
    expect(answer(sandbox, "Object.is(value, 0)", -0)).toEqual({ value: true });
  });

  test("has numbers that keep every bit", () => {
    fc.assert(
      fc.property(fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer(), fc.maxSafeInteger()), (number) => {
        const value = number + 0;
        expect(answer(sandbox, "value", value)).toEqual({ value });
        expect(answer(sandbox, "[value]", value)).toEqual({ value: [value] });
        expect(answer(sandbox, "String(value)", value)).toEqual({ value: String(value) });
        expect(answer(sandbox, `${value < 0 ? "" : "+"}${String(value)}`)).toEqual({ value });
      }),
      { numRuns: 500 },
    );
  });
});
