/**
 * The sandbox: compilation, evaluation, errors, and isolation.
 */
import { beforeAll, describe, expect, test } from "vitest";
import type { Sandbox } from "../../../src/engine/sandbox/sandbox.ts";
import { CONTEXT, answer, createTestSandbox, failureOf } from "./support.ts";

const ENDLESS = "(() => { for (;;); })()";
const HUGE = '"a".repeat(1e9)';
const DEEP = "(function f() { return f() })()";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createTestSandbox();
});

describe("compile", () => {
  test("gives the same expression for the same text", () => {
    expect(sandbox.compile("value + 1")).toBe(sandbox.compile("value + 1"));
    expect(sandbox.compile("value + 1")).not.toBe(sandbox.compile("value  + 1"));
    expect(sandbox.compile("value + 1").text).toBe("value + 1");
  });

  test("refuses what is too much work for the engine's compiler", async () => {
    const small = await createTestSandbox({ limits: { fuel: 10_000 } });
    const { code, details, message } = failureOf(small, `[${"value,".repeat(2000)}]`);
    expect(code).toBe("EXPRESSION_SYNTAX");
    expect(details).toMatchObject({ line: 1, column: 1 });
    expect(message).toContain("it is too much work for the compiler (fuel)");
    expect(answer(small, "value")).toEqual({ value: "abc" });
  });

  test("remembers more texts than it keeps compiled", () => {
    const expressions = Array.from({ length: 1500 }, (_, index) => sandbox.compile(`value + ${index}`));
    const got = expressions.map((expression) => sandbox.evaluate(expression, { value: 1, context: CONTEXT }).value);
    expect(got).toEqual(expressions.map((_, index) => 1 + index));
  });
});

describe("an expression that throws", () => {
  test.each([
    { text: "null.x", line: 1, column: 5, says: "TypeError: cannot read property 'x' of null" },
    { text: "value +\n  value.x.y", line: 2, column: 10, says: "TypeError" },
    { text: "value.map(x => x)", line: 1, column: 10, says: "TypeError: not a function" },
    { text: "[1].map(x =>\n\n  x.y.z)", line: 3, column: 6, says: "TypeError" },
    { text: 'JSON.parse("{")', line: 1, column: 11, says: "SyntaxError" },
    { text: "missing", line: 1, column: 1, says: "ReferenceError: 'missing' is not defined" },
    { text: '(() => { throw new RangeError("mine") })()', line: 1, column: 30, says: "RangeError: mine" },
    { text: 'atob("%")', line: 1, column: 5, says: "InvalidCharacterError" },
  ])("names its place: $text", ({ text, line, column, says }) => {
    const { code, details, message } = failureOf(sandbox, text);
    expect(code).toBe("EXPRESSION_ERROR");
    expect(details).toMatchObject({ expression: text, fuel: expect.any(Number) as number, line, column, valueKind: "a string" });
    expect(details["excerpt"]).toContain("▸");
    expect(message).toContain(says);
    expect(message).toContain(`line ${line}, column ${column}`);
  });

  test.each([
    { text: "(() => { throw null })()", says: "threw null" },
    { text: '(() => { throw "words" })()', says: "threw words" },
    { text: "(() => { throw { message: 1 } })()", says: "threw" },
    { text: "(() => { throw Symbol() })()", says: "threw Symbol()" },
  ])("needs no error to be reported: $text", ({ text, says }) => {
    const { code, details, message } = failureOf(sandbox, text);
    expect(code).toBe("EXPRESSION_ERROR");
    expect(details).not.toHaveProperty("line");
    expect(message).toContain(says);
  });

  test("gets a hint when it uses what is left out of the language", () => {
    const { details, message } = failureOf(sandbox, "new Proxy({}, {})");
    expect(details).toMatchObject({ hint: "Use a plain object" });
    expect(message).toContain("Use a plain object");
  });

  test("cannot fill the log", () => {
    expect(failureOf(sandbox, '(() => { throw new Error("m".repeat(1e5)) })()').message.length).toBeLessThan(800);
    expect(failureOf(sandbox, '(() => { const e = new Error(""); e.name = "n".repeat(1e5); throw e })()').message.length).toBeLessThan(800);
  });
});

describe("context", () => {
  const evaluate = (text: string, context: object) => answer(sandbox, text, 1, { ...CONTEXT, ...context });

  test("follows every change of its parts", () => {
    const text = "[context.vcluster.name, context.hostObject?.a, context.virtualObject?.b, context.path]";
    for (const expression of [text, text.replaceAll("context", "(c => c)(context)")]) {
      const object = { a: 1, b: 2 };
      const vcluster = (name: string) => ({ name, namespace: "n", config: {} });
      expect(evaluate(expression, { hostObject: object, virtualObject: null, path: "x", vcluster: vcluster("v") })).toEqual({
        value: ["v", 1, null, "x"],
      });
      expect(evaluate(expression, { hostObject: object, virtualObject: null, path: "y", vcluster: vcluster("v") })).toEqual({
        value: ["v", 1, null, "y"],
      });
      expect(evaluate(expression, { hostObject: { a: 3 }, virtualObject: null, path: "y", vcluster: vcluster("v") })).toEqual({
        value: ["v", 3, null, "y"],
      });
      expect(evaluate(expression, { hostObject: null, virtualObject: object, path: "y", vcluster: vcluster("v") })).toEqual({
        value: ["v", null, 2, "y"],
      });
      expect(evaluate(expression, { hostObject: null, virtualObject: object, path: "y", vcluster: vcluster("w") })).toEqual({
        value: ["w", null, 2, "y"],
      });
    }
  });

  test("may be large and different each time", () => {
    for (let round = 0; round < 300; round += 1) {
      const virtualObject = { list: Array.from({ length: 500 }, (_, index) => ({ name: `item-${index}`, round })) };
      expect(evaluate("JSON.stringify(context).length > 1000 && context.virtualObject.list[499].round", { virtualObject })).toEqual({
        value: round,
      });
    }
  });

  test("that is too large for the engine is an error of its own", () => {
    const virtualObject = { text: "x".repeat(30 * 2 ** 20) };
    expect(evaluate("context.virtualObject.text.length", { virtualObject })).toEqual({ code: "EXPRESSION_MEMORY" });
    expect(evaluate("context.path", { virtualObject })).toEqual({ value: CONTEXT.path });
  });

  test("that nests too deeply for the engine is an error of its own", () => {
    let virtualObject = {};
    for (let depth = 0; depth < 5000; depth += 1) virtualObject = { virtualObject };
    expect(evaluate("context.virtualObject", { virtualObject })).toEqual({ code: "EXPRESSION_STACK" });
    expect(answer(sandbox, "value", virtualObject)).toEqual({ code: "EXPRESSION_STACK" });
    expect(answer(sandbox, "value")).toEqual({ value: "abc" });
  });
});

describe("a sandbox", () => {
  test.each([
    { why: "fuel", text: ENDLESS, code: "EXPRESSION_FUEL" },
    { why: "memory", text: HUGE, code: "EXPRESSION_MEMORY" },
    { why: "stack", text: DEEP, code: "EXPRESSION_STACK" },
  ])("goes on after any number of evaluations that run out of $why", ({ text, code }) => {
    for (let round = 0; round < 25; round += 1) {
      expect(answer(sandbox, text)).toEqual({ code });
      expect(answer(sandbox, "value + context.vcluster.name")).toEqual({ value: "abcmy-vcluster" });
    }
  });

  test("names the same fuel for what runs out of memory, whatever it evaluated before", async () => {
    const details = async (before: readonly string[]) => {
      const other = await createTestSandbox();
      for (const text of before) answer(other, text);
      const { details: told } = failureOf(other, HUGE);
      other.dispose();
      return told;
    };
    const [fresh, used] = [await details([]), await details(["value"])];
    expect(used["fuel"]).toBe(fresh["fuel"]);
    expect(used["charged"]).toBeGreaterThan(Number(fresh["charged"]));
  });

  test("shares nothing with another one", async () => {
    const other = await createTestSandbox({ limits: { fuel: 20_000 } });
    expect(answer(other, ENDLESS)).toEqual({ code: "EXPRESSION_FUEL" });
    expect(sandbox.evaluate(sandbox.compile("value"), { value: 1, context: CONTEXT }).value).toBe(1);
    other.dispose();
    expect(answer(sandbox, "value")).toEqual({ value: "abc" });
  });

  test("takes the same fuel however much was allocated before", async () => {
    const unused = await createTestSandbox();
    const expression = unused.compile("Array.from({ length: 30_000 }, (_, index) => ({ index })).length");
    const fuel = Array.from({ length: 4 }, () => unused.evaluate(expression, { value: 1, context: CONTEXT }).fuel);
    expect(new Set(fuel).size).toBe(1);
  });

  test("tells whether the value exists, true if nothing is said", () => {
    const expression = sandbox.compile("[valueExists, typeof value]");
    expect(sandbox.evaluate(expression, { value: 1, context: CONTEXT }).value).toEqual([true, "number"]);
    expect(sandbox.evaluate(expression, { value: undefined, valueExists: false, context: CONTEXT }).value).toEqual([false, "undefined"]);
  });

  test("gives value as a copy and takes the result as a copy", () => {
    const value = { list: [1] };
    const got = sandbox.evaluate(sandbox.compile("(value.list.push(2), value)"), { value, context: CONTEXT }).value;
    expect(got).toEqual({ list: [1, 2] });
    expect(value).toEqual({ list: [1] });
  });
});
