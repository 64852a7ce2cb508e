import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Fuzzer, makeCase } from "./fuzz.ts";
import { shrink, textOf, type Tree } from "./grammar.ts";

const SEED = 1;
const CASES = 3000;

let fuzzer: Fuzzer;
beforeAll(async () => {
  fuzzer = await Fuzzer.start();
});

afterAll(() => {
  fuzzer.stop();
});

describe("a fuzzed expression", () => {
  test("ends with a value or a known code, within its limits, leaves nothing, and agrees with another engine where it must", () => {
    const outcomes = new Set<string>();
    for (let number = 0; number < CASES; number += 1) {
      const fuzzCase = makeCase(SEED, number);
      const { outcome, problem } = fuzzer.judge(fuzzCase);
      expect(problem, `case ${number} of seed ${SEED}: ${fuzzCase.text}`).toBeUndefined();
      outcomes.add(outcome);
    }
    const codes = ["SYNTAX", "ERROR", "RESULT", "FUEL", "MEMORY", "STACK"].map((what) => `EXPRESSION_${what}`);
    expect([...outcomes].sort()).toEqual([...codes, "value"].sort());
  });

  test("is the same for the same seed and number", () => {
    expect(makeCase(7, 42)).toEqual(makeCase(7, 42));
    expect(makeCase(7, 42).text).not.toBe(makeCase(8, 42).text);
  });

  test("that fails is reported in its shortest form", () => {
    const leaf = (text: string): Tree => ({ symbol: "any", parts: [text] });
    const tree: Tree = {
      symbol: "any",
      parts: ["(", { symbol: "any", parts: ["[", leaf("1"), ", ", leaf("bad()"), "]"] }, " + ", leaf("2"), ")"],
    };
    expect(textOf(tree)).toBe("([1, bad()] + 2)");
    expect(textOf(shrink(tree, (text) => text.includes("bad")))).toBe("bad()");
  });
});
