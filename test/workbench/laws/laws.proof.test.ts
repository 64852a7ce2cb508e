/**
 * Proofs from the texts of a pair, and their limits.
 */
import { describe, expect, test } from "vitest";
import { provePair } from "../../../src/workbench/laws/checks/proof.ts";
import { wholeNumber, textAs, textsBy } from "../../../src/schema/builders.ts";
import type { Schema } from "../../../src/schema/schema.ts";

const TEXT = textAs();
const PORT = wholeNumber(1, 65_535);
const LABELS = textsBy("labelKey", "text");

const prove = (expression: string, reverseExpression: string, shape: Schema = TEXT) => provePair({ expression, reverseExpression }, shape);

describe("a proof", () => {
  test.each([
    ["value", "value", TEXT],
    ['"x-" + value', "value.slice(2)", TEXT],
    ['"a" + "b" + value', undefined, TEXT],
    ['"a" + ("b" + value)', "value.slice(1).slice(1)", TEXT],
    ["`a${value}b`", "value.slice(1, -1)", TEXT],
    ["btoa(value)", "atob(value)", TEXT],
    ['btoa("x" + value)', "atob(value).slice(1)", TEXT],
    ["1 + value + 2", "value - 2 - 1", PORT],
  ] as const)("%s and %s", (expression, reverse, shape) => {
    expect(prove(expression, reverse ?? "value", shape)).toEqual(reverse === undefined ? undefined : { kind: "inverse" });
  });

  test.each([
    ['"x-" + value', "value.slice(1)", TEXT],
    ['"x-" + value', "value.slice(3)", TEXT],
    ['"x-" + value', "value", TEXT],
    ['"x" + value', "value.slice(0, -1)", TEXT],
    ['value + "x"', "value.slice(1)", TEXT],
    ["atob(value)", "btoa(value)", TEXT],
    ["value + 1", "value - 2", PORT],
    ["value * 2", "value / 2", PORT],
    // A number behind a text makes a text.
    ["value + 1", "value - 1", TEXT],
    ['"x" + value', "value.slice(1)", PORT],
    ['"x" + value', "value.slice(1)", LABELS],
    ['"x" + context.path', "value.slice(1)", TEXT],
    ['value.trim() + "x"', "value.slice(0, -1)", TEXT],
    ["value +", "value", TEXT],
  ] as const)("is not claimed of %s and %s", (expression, reverse, shape) => {
    expect(prove(expression, reverse, shape)).toBeUndefined();
  });

  test("is missing only for the values that a chain of comparisons names", () => {
    const there = 'value === "a" ? "b" : "c" !== value ? value : "d"';
    expect(prove(there, "value")).toEqual({ kind: "exceptions", values: ["a", "b", "c", "d"] });
    expect(prove(there, "value.trim()")).toBeUndefined();
    expect(prove('value === "a" ? value.trim() : value', "value")).toBeUndefined();
    expect(prove('value == "a" ? "b" : value', "value")).toBeUndefined();
  });
});
