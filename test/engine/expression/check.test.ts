import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EngineError } from "../../../src/base/errors.ts";
import { checkExpression, type CheckOptions, type ExpressionWarning } from "../../../src/engine/expression/check.ts";

interface Mistake {
  readonly expression: string;
  readonly line: number;
  readonly column: number;
  readonly hint?: string;
}

interface Read {
  readonly expression: string;
  readonly reads: unknown;
}

interface Warned {
  readonly expression: string;
  readonly warnings: readonly ExpressionWarning[];
}

function readTable<Row>(name: string): Row[] {
  return JSON.parse(readFileSync(join(import.meta.dirname, "../../../fixtures/expressions", name), "utf8")) as Row[];
}

function refusalOf(text: string, options?: CheckOptions): EngineError {
  try {
    checkExpression(text, options);
  } catch (error) {
    if (error instanceof EngineError) return error;
    throw error;
  }
  throw new Error(`${text.slice(0, 80)} was not refused`);
}

describe("a text that is not one expression", () => {
  test.each(readTable<Mistake>("mistakes.json"))("is refused at its place: $expression", ({ expression, ...want }) => {
    const { code, message, details } = refusalOf(expression);
    expect(code).toBe("EXPRESSION_SYNTAX");
    expect(details).toEqual({ ...want, text: expression, excerpt: expect.stringContaining("▸") as string });
    expect(message).toContain(`line ${want.line}, column ${want.column}`);
    expect(message).toContain(want.hint ?? "");
  });

  test("is refused when it is longer than the limit, which counts bytes", () => {
    expect(refusalOf(`"${"x".repeat(16 * 1024)}"`).message).toContain("it is longer than 16384 bytes");
    expect(checkExpression(`"${"é".repeat(8191)}"`).text).toHaveLength(8193);
    expect(refusalOf(`"${"é".repeat(8192)}"`).code).toBe("EXPRESSION_SYNTAX");
    expect(checkExpression('"four"', { maximumBytes: 6 }).text).toBe('"four"');
    expect(refusalOf('"fours"', { maximumBytes: 6 }).code).toBe("EXPRESSION_SYNTAX");
  });

  test.each([
    { why: "parentheses", text: `${"(".repeat(8000)}1${")".repeat(8000)}` },
    { why: "lists", text: `${"[".repeat(300)}${"]".repeat(300)}` },
    { why: "sums", text: `1${"+1".repeat(300)}` },
  ])("is refused when its $why nest too deeply", ({ text }) => {
    expect(refusalOf(text).message).toMatch(/it is nested (too deeply|deeper than 200)/);
  });

  test("is refused from two hundred and one parentheses on, whatever the parser bears", () => {
    expect(checkExpression(`${"(".repeat(200)}1${")".repeat(200)}`).reads).toEqual([]);
    expect(refusalOf(`${"(".repeat(201)}1${")".repeat(201)}`).details).toMatchObject({ line: 1, column: 201 });
  });

  test("is told which token is in the way, or that it ends too early", () => {
    expect(refusalOf("value and 1").message).toContain('unexpected "and" at line 1, column 7. Write &&');
    expect(refusalOf("value.map(x => [x").message).toContain("it ends too early at line 1, column 18. Write ]) at the end");
    expect(refusalOf("value +").message).toContain("it ends too early at line 1, column 8");
    expect(refusalOf("value \u{1f600}").message).toContain('unexpected character "\u{1f600}"');
  });

  test("is shown around its place when the message does not quote all of it on one line", () => {
    const { message, details } = refusalOf(`value.filter(item => item.name !== "a")\n  .map(item => item.name;)\n  .join()`);
    expect(details).toMatchObject({ line: 2, column: 25, excerpt: ".map(item => item.name▸;)" });
    expect(message).toContain("line 2, column 25 (.map(item => item.name▸;))");
    expect(refusalOf(`[${"value, ".repeat(30)}@]`).message).toContain("(…e, value, value, value, ▸@])");
    expect(refusalOf("value @").message).toContain("line 1, column 7");
    expect(refusalOf("value @").message).not.toContain("▸");
  });

  test("is quoted in the message in short, and in the details in full", () => {
    const text = `${"x + ".repeat(50)};`;
    const { message, details } = refusalOf(text);
    expect(message.length).toBeLessThan(300);
    expect(details["text"]).toBe(text);
  });

  test("is refused with a code and a place inside the text, whatever it is", () => {
    fc.assert(
      fc.property(hostileText(), (text) => {
        try {
          expect(checkExpression(text).text).toBe(text);
        } catch (error) {
          expect(error).toBeInstanceOf(EngineError);
          const { code, details } = error as EngineError;
          expect(code).toBe("EXPRESSION_SYNTAX");
          const lines = text.split(/\r\n|[\n\r\u2028\u2029]/);
          expect(details["line"]).toBeGreaterThanOrEqual(1);
          expect(details["line"]).toBeLessThanOrEqual(lines.length);
          expect(details["column"]).toBeGreaterThanOrEqual(1);
          expect(details["column"]).toBeLessThanOrEqual(lines[(details["line"] as number) - 1]!.length + 1);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

describe("the reads of an expression", () => {
  test.each(readTable<Read>("reads.json"))("$expression", ({ expression, reads }) => {
    expect(checkExpression(expression).reads).toEqual(reads);
  });
});

describe("the warnings of an expression", () => {
  test.each(readTable<Warned>("warnings.json"))("$expression", ({ expression, warnings }) => {
    expect(checkExpression(expression).warnings).toEqual(warnings);
  });
});

/** Pieces of the language in any order, often unbalanced. */
function hostileText(): fc.Arbitrary<string> {
  const pieces = [
    "value",
    "context",
    ".a",
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    "=>",
    "`",
    "${",
    "'",
    '"',
    "/",
    "/*",
    "*/",
    "//",
    "<!--",
    "-->",
    "\n",
    "\r\n",
  ];
  const words = [
    "async ",
    "await ",
    "yield ",
    "function ",
    "class ",
    "return ",
    "new ",
    "import",
    "let x = 1",
    ";",
    ",",
    "...",
    "?.",
    "?",
    ":",
    "+",
    "=",
    "1",
    "\\u",
  ];
  return fc
    .array(fc.oneof(fc.constantFrom(...pieces, ...words), fc.string({ unit: "binary", maxLength: 3 })), { maxLength: 12 })
    .map((parts) => parts.join(""));
}

describe("what was found of a text", () => {
  const text = "value + 'found once'";
  const checked = checkExpression(text);

  test("is taken for the same text, whose limit may differ", () => {
    expect(checkExpression(text, { checked, maximumBytes: 100 })).toBe(checked);
    expect(() => checkExpression(text, { checked, maximumBytes: 10 })).toThrow("longer than 10 bytes");
  });

  test("is not taken for another text", () => {
    expect(checkExpression("value", { checked })).toEqual(checkExpression("value"));
  });
});
