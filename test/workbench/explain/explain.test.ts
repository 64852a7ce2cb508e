import { beforeAll, describe, expect, test } from "vitest";
import { columnsOf } from "../../../src/workbench/explain/drawing.ts";
import { explain, watchingLimits } from "../../../src/workbench/explain/explain.ts";
import { DEFAULT_LIMITS } from "../../../src/engine/sandbox/limits.ts";
import type { Sandbox } from "../../../src/engine/sandbox/sandbox.ts";
import { CONTEXT, createTestSandbox } from "../../engine/sandbox/support.ts";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createTestSandbox({ limits: watchingLimits(DEFAULT_LIMITS) });
});

function drawingOf(text: string, value: unknown): string {
  return explain(sandbox, text, { value, context: CONTEXT }).drawing;
}

describe("the drawing of an explanation", () => {
  test("shows each value below its place, in as few rows as fit", () => {
    expect(drawingOf('value.startsWith("10.") ? "192.168." + value.slice(3) : value', "172.16.0.9")).toBe(
      [
        'value.startsWith("10.") ? "192.168." + value.slice(3) : value',
        "|     |                                                 |",
        '|     false                                             "172.16.0.9"',
        '"172.16.0.9"',
      ].join("\n"),
    );
  });

  test("shows the absent field that a call failed on, and the object that lacks it", () => {
    expect(drawingOf('value.nodeName.startsWith("a")', { ip: "1" })).toBe(
      ['value.nodeName.startsWith("a")', "|     |", "|     undefined", '{ip: "1"}'].join("\n"),
    );
  });

  test("leaves out objects on the way to a member that is there", () => {
    expect(drawingOf("context.virtualObject.metadata.labels.app + value", "x")).toBe(
      [
        "context.virtualObject.metadata.labels.app + value",
        "                                      |   | |",
        '                                      |   | "x"',
        '                                      |   "webx"',
        '                                      "web"',
      ].join("\n"),
    );
  });

  test("shows the first and the last value, and how many, of what runs in a callback", () => {
    expect(drawingOf("value.map((x) => x + 1).length + 0 * [5, 5].map(y => y)[0]", [1, 2, 3])).toContain("1 … 3 (3 times)");
    expect(drawingOf("[5, 5].map((y) => y)", 0)).toContain("5 (2 times)");
  });

  test("draws below each line of a text of several lines", () => {
    expect(drawingOf('value.a === "x" &&\r\n\tvalue.b', { a: "x", b: 1 })).toBe(
      ['value.a === "x" &&', "      | |       |", "      | true    1", '      "x"', " value.b", "       |", "       1"].join("\n"),
    );
  });

  test("keeps the places below wide characters, and of those without width", () => {
    expect(drawingOf('"日本é\u0301" + value', "😀")).toBe(
      ['"日本é\u0301" + value', "        | |", '        | "😀"', '        "日本é\u0301😀"'].join("\n"),
    );
    expect(["a", "日", "e\u0301", "😀", "ｱ", "\u200b"].map(columnsOf)).toEqual([1, 2, 1, 2, 1, 0]);
  });

  test("cuts long values and takes what a terminal would obey out of them", () => {
    const [, , shown] = drawingOf("value", `${"x".repeat(300)}`).split("\n");
    expect(shown).toBe(`"${"x".repeat(58)}…`);
    expect(drawingOf("value + '\u001b'", "\u001b[31m")).not.toContain("\u001b");
  });

  test("breaks a long line after a comma, and draws the values of each piece below it", () => {
    const text = `[${Array.from({ length: 40 }, (_, at) => (at === 39 ? "value" : String(at + 10))).join(", ")}].length`;
    const lines = drawingOf(text, "a").split("\n");
    expect(lines[0]).toBe(text.slice(0, 120));
    expect(lines[1]).toBe(`    ${text.slice(121)}`);
    expect(lines[2]!.indexOf("|")).toBe(lines[1]!.indexOf("value"));
    expect(lines[3]!.trim()).toMatch(/^"a" +40$/);
  });

  test("breaks a text without a place to break at, between characters", () => {
    const lines = drawingOf(`"${"😀".repeat(100)}"`, 0).split("\n");
    expect(lines.map(columnsOf)).toEqual([119, 87]);
    expect(lines.map((line) => line.trimStart()).join("")).toBe(`"${"😀".repeat(100)}"`);
  });

  test("of the greatest length shows every value, none of them far from its place", () => {
    const drawing = drawingOf(`[${"value,".repeat(2600)}0].length`, "web-a");
    expect(drawing.match(/"web-a"/g)).toHaveLength(2600);
    expect(drawing.length).toBeLessThan(300_000);
  });

  test("is the text alone when there is nothing to show", () => {
    expect(drawingOf("1 + 1", 0)).toBe("1 + 1");
  });
});

describe("an explanation", () => {
  test("tells each value with its place and text", () => {
    const { values } = explain(sandbox, "value.a ?? 1", { value: {}, context: CONTEXT });
    expect(values).toEqual([
      { start: 0, end: 5, text: "value", count: 1, first: "{}", last: "{}" },
      { start: 0, end: 7, text: "value.a", count: 1, first: "undefined", last: "undefined" },
      { start: 0, end: 12, text: "value.a ?? 1", count: 1, first: "1", last: "1" },
    ]);
  });

  test("has no values where watching would show something else than what happens", () => {
    for (const text of ["String(() => value)", "(() => { try { null.x } catch (e) { return e.stack } })() + value"]) {
      expect(explain(sandbox, text, { value: 1, context: CONTEXT })).toEqual({ values: [], drawing: text });
    }
  });

  test("has no values when a limit stops the expression, and when it is none", () => {
    expect(explain(sandbox, "(() => { for (;;) value })()", { value: 1, context: CONTEXT }).values).toEqual([]);
    expect(explain(sandbox, "value;", { value: 1, context: CONTEXT }).values).toEqual([]);
  });

  test("shows what an expression without JSON result came to", () => {
    expect(drawingOf("value.x", {})).toContain("undefined");
  });

  test("fits an expression of the greatest length", () => {
    const text = `[${"value + 1, ".repeat(1400)}0].length`;
    expect(explain(sandbox, text, { value: 1, context: CONTEXT }).values.length).toBeGreaterThan(1400);
  });
});
