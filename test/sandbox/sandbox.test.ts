import { beforeAll, describe, expect, test } from "vitest";
import { EngineError } from "../../src/base/errors.ts";
import { createFuelBudget } from "../../src/sandbox/fuel.ts";
import { DEFAULT_LIMITS } from "../../src/sandbox/limits.ts";
import { createSandbox } from "../../src/sandbox/sandbox.ts";
import type { Expression, Sandbox } from "../../src/sandbox/sandbox.ts";
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

describe("compiling", () => {
  test("takes fuel from the budget of a configuration, once for each text", async () => {
    const own = await createTestSandbox();
    const budget = createFuelBudget(DEFAULT_LIMITS.configurationFuel);
    const expression = own.compile("value + 1", { budget });
    const spent = budget.limit - budget.remaining;
    expect(spent).toBeGreaterThan(1000);
    expect(own.compile("value + 1", { budget })).toBe(expression);
    expect(budget.limit - budget.remaining).toBe(spent);
    expect(() => own.compile("value.#x", { budget })).toThrow();
  });

  test("takes the same fuel whatever was compiled and evaluated before", async () => {
    const texts = [
      "value",
      "value.replace(/^a/, 'b') + context.vcluster.name",
      "[value].map(x => ({ x, y: `${x}` }))",
      "((a, b = 1) => a + b)(value)",
    ];
    const fuelOf = (own: Sandbox, text: string) => {
      const budget = createFuelBudget(1e6);
      own.compile(text, { budget });
      return 1e6 - budget.remaining;
    };
    const used = await createTestSandbox();
    for (let index = 0; index < 300; index += 1) answer(used, `({ a${index}: [value, ${index}], b: context })`);
    for (const text of texts) expect(fuelOf(used, text)).toBe(fuelOf(await createTestSandbox(), text));
  });

  test("stops when the budget is used up, also by many small expressions, and says so", async () => {
    const own = await createTestSandbox();
    const budget = createFuelBudget(100_000);
    const compileMany = () => {
      for (let index = 0; index < 1000; index += 1) own.compile(`value + ${index}`, { budget });
    };
    expect(compileMany).toThrow(
      expect.objectContaining({ code: "EXPRESSION_FUEL", details: expect.objectContaining({ limit: 100_000 }) as object }) as Error,
    );
    expect(compileMany).toThrow("is left of the 100000 steps in which all expressions of a configuration are compiled");
    expect(budget.remaining).toBe(0);
    expect(answer(own, "value")).toEqual({ value: "abc" });
  });

  test("evaluates nothing", async () => {
    const asked: string[] = [];
    const own = await createSandbox({ toHostDns: (name) => (asked.push(name), name) });
    for (const text of [
      'virtualToHostDNS("a")',
      '(() => virtualToHostDNS("a"))()',
      '[virtualToHostDNS("a")][0]',
      "(() => { for (;;); })()",
    ])
      own.compile(text);
    expect(asked).toEqual([]);
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

  test("can not fill the log", () => {
    expect(failureOf(sandbox, '(() => { throw new Error("m".repeat(1e5)) })()').message.length).toBeLessThan(800);
    expect(failureOf(sandbox, '(() => { const e = new Error(""); e.name = "n".repeat(1e5); throw e })()').message.length).toBeLessThan(800);
  });
});

describe("a fuel budget", () => {
  test("is shared by evaluations and spent by what they took", () => {
    const budget = createFuelBudget(10_000);
    const { fuel } = sandbox.evaluate(sandbox.compile("value + 1"), { value: 1, context: CONTEXT }, { budget });
    expect(budget.remaining).toBe(10_000 - fuel);
    expect(() => sandbox.evaluate(sandbox.compile("null.x"), { value: 1, context: CONTEXT }, { budget })).toThrow();
    expect(budget.remaining).toBeLessThan(10_000 - fuel);
  });

  test("that is used up stops an evaluation, and names itself", () => {
    const budget = createFuelBudget(1000);
    const evaluate = () => sandbox.evaluate(sandbox.compile(ENDLESS), { value: 1, context: CONTEXT }, { budget });
    expect(evaluate).toThrow(
      expect.objectContaining({
        code: "EXPRESSION_FUEL",
        details: expect.objectContaining({ expression: ENDLESS, fuel: 1000, limit: 1000 }) as object,
      }) as Error,
    );
    expect(budget.remaining).toBe(0);
    expect(evaluate).toThrow("used up the budget of 1000 steps that it shares");
  });

  test("that is larger than the limit of an evaluation leaves that limit in force", async () => {
    const budget = createFuelBudget(DEFAULT_LIMITS.objectFuel);
    const evaluate = () => sandbox.evaluate(sandbox.compile(ENDLESS), { value: 1, context: CONTEXT }, { budget });
    expect(evaluate).toThrow("took more than 5000000 steps");
    // Replacing the stopped instance and compiling the expression there have their price as well.
    const compileBudget = createFuelBudget(DEFAULT_LIMITS.configurationFuel);
    (await createTestSandbox()).compile(ENDLESS, { budget: compileBudget });
    expect(budget.remaining).toBe(44_000_000 - (compileBudget.limit - compileBudget.remaining));
  });

  test("pays for evaluations that are stopped by another limit", () => {
    const budget = createFuelBudget(10_000_000);
    const evaluate = () => sandbox.evaluate(sandbox.compile(HUGE), { value: 1, context: CONTEXT }, { budget });
    for (let round = 0; round < 9; round += 1) expect(evaluate).toThrow("needed more than 33554432 bytes of memory");
    expect(budget.remaining).toBeLessThan(1_000_000);
    // The price of the replacement is part of what the error tells, for budgets that others keep.
    expect(failureOf(sandbox, HUGE).details["fuel"]).toBeGreaterThan(1_000_000);
    expect(evaluate).toThrow();
    expect(evaluate).toThrow("used up the budget of 10000000 steps that it shares");
  });
});

describe("a limit", () => {
  test.each([
    { limit: "fuel", text: "Array(10000).fill(0).map(x => x).length", code: "EXPRESSION_FUEL", low: { fuel: 50_000 }, want: 10_000 },
    {
      limit: "memoryBytes",
      text: '"a".repeat(4e5).split("").length',
      code: "EXPRESSION_MEMORY",
      low: { memoryBytes: 16 * 2 ** 20, fuel: 5e8 },
      high: { fuel: 5e8 },
      want: 4e5,
    },
    {
      limit: "stackBytes",
      text: "(function f(n) { return n ? f(n - 1) : 7 })(100)",
      code: "EXPRESSION_STACK",
      low: { stackBytes: 16 * 1024 },
      want: 7,
    },
    { limit: "sourceBytes", text: '"twelve bytes"', code: "EXPRESSION_SYNTAX", low: { sourceBytes: 12 }, want: "twelve bytes" },
    {
      limit: "resultBytes",
      text: "value + value",
      code: "EXPRESSION_RESULT",
      low: { resultBytes: 7 },
      high: { resultBytes: 8 },
      want: "abcabc",
    },
  ])("$limit is a setting", async ({ text, code, low, high = {}, want }) => {
    expect(answer(await createTestSandbox({ limits: low }), text)).toEqual({ code });
    expect(answer(await createTestSandbox({ limits: high }), text)).toEqual({ value: want });
  });

  test("is named by the error with its value", () => {
    expect(failureOf(sandbox, ENDLESS).details).toMatchObject({ expression: ENDLESS, fuel: 5_000_000, limit: 5_000_000 });
    expect(failureOf(sandbox, HUGE).details).toMatchObject({ expression: HUGE, fuel: expect.any(Number) as number, limit: 32 * 2 ** 20 });
    expect(failureOf(sandbox, DEEP).details).toMatchObject({ expression: DEEP, limit: 64 * 1024, line: 1, column: 17 });
    expect(failureOf(sandbox, '"a".repeat(2e6)').details).toMatchObject({ limit: 2 ** 20 });
  });

  test("of an object is there for a budget", async () => {
    const { limits } = await createTestSandbox({ limits: { objectFuel: 20_000 } });
    expect(createFuelBudget(limits.objectFuel).remaining).toBe(20_000);
    expect(sandbox.limits).toEqual(DEFAULT_LIMITS);
  });

  test("of the result counts the bytes of its JSON text", async () => {
    const small = await createTestSandbox({ limits: { resultBytes: 10 } });
    expect(answer(small, "value", "12345678")).toEqual({ value: "12345678" });
    expect(answer(small, "value", "123456789")).toEqual({ code: "EXPRESSION_RESULT" });
    expect(answer(small, "value", "éééé")).toEqual({ value: "éééé" });
    expect(answer(small, "value", "ééééé")).toEqual({ code: "EXPRESSION_RESULT" });
    expect(answer(small, "value", [1234, 678])).toEqual({ value: [1234, 678] });
    expect(answer(small, "value", [1234, 6789])).toEqual({ code: "EXPRESSION_RESULT" });
    expect(answer(small, "value", 1e-300)).toEqual({ value: 1e-300 });
  });
});

describe("virtualToHostDNS", () => {
  const name = 'virtualToHostDNS("db.shop.svc")';

  test("asks the given function, with the very string", async () => {
    const asked: string[] = [];
    const own = await createSandbox({ toHostDns: (text) => (asked.push(text), `<${text}>`) });
    expect(answer(own, "virtualToHostDNS(value)", "a\0\ud800\ufeff")).toEqual({
      value: "<a\0\ud800\ufeff>".replace(/[\0\ud800]/g, "\ufffd"),
    });
    expect(asked).toEqual(["a\0\ud800\ufeff"]);
  });

  test("takes names that were put together in any way and of any length", async () => {
    const own = await createSandbox({ limits: { fuel: 5e8 }, toHostDns: (text) => String(text.length) });
    const lengths = (make: string) =>
      answer(own, `Array.from({ length: 600 }, (_, length) => +virtualToHostDNS(${make}) - length).every(rest => rest === 0)`);
    expect(lengths('Array(length).fill("x").reduce((all, one) => all + one, "")')).toEqual({ value: true });
    expect(lengths('Array(length).fill("é").reduce((all, one) => one + all, "")')).toEqual({ value: true });
    expect(lengths('("a".repeat(9000) + "b".repeat(9000)).slice(8900, 8900 + length)')).toEqual({ value: true });
    expect(answer(own, 'virtualToHostDNS("a".repeat(9000) + value + "b".repeat(9000))')).toEqual({ value: "18003" });
  });

  test("answers no text that looks like a message of an error", async () => {
    const odd = await createSandbox({ toHostDns: () => "!secret" });
    expect(failureOf(odd, name).message).toContain("virtualToHostDNS() failed");
  });

  test("throws an error that can be caught when there is no such function", async () => {
    const bare = await createSandbox();
    expect(failureOf(bare, name).message).toContain("virtualToHostDNS() is not available here");
    expect(answer(bare, `(() => { try { return ${name} } catch (error) { return error instanceof Error } })()`)).toEqual({ value: true });
  });

  test("throws the message of an error with a code", () => {
    expect(failureOf(sandbox, 'virtualToHostDNS("nowhere")').message).toContain('Error: Cannot translate DNS name "nowhere"');
  });

  test("has its price in fuel", () => {
    const { fuel } = sandbox.evaluate(sandbox.compile(name), { value: 1, context: CONTEXT });
    expect(fuel).toBeGreaterThan(1000);
  });

  test("tells nothing of any other error", async () => {
    const broken = await createSandbox({
      toHostDns: () => {
        throw new Error("secret of the host");
      },
    });
    expect(failureOf(broken, name).message).toContain("virtualToHostDNS() failed");
    expect(failureOf(broken, name).message).not.toContain("secret");
  });

  test("can not be used to evaluate in the middle of an evaluation", async () => {
    const nested: Sandbox = await createSandbox({ toHostDns: () => String(answer(nested, "1 + 1")) });
    expect(failureOf(nested, name).message).toContain("virtualToHostDNS() failed");
    expect(answer(nested, "value")).toEqual({ value: "abc" });
  });

  test("survives whatever the function does", async () => {
    const odd = await createSandbox({ toHostDns: () => undefined as unknown as string });
    expect(answer(odd, name)).toEqual({ code: "EXPRESSION_ERROR" });
    expect(answer(odd, "value")).toEqual({ value: "abc" });
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

  test("shares nothing with another one", async () => {
    const other = await createTestSandbox({ limits: { fuel: 20_000 } });
    const expression = other.compile("value");
    expect(answer(other, ENDLESS)).toEqual({ code: "EXPRESSION_FUEL" });
    expect(sandbox.evaluate(sandbox.compile("value"), { value: 1, context: CONTEXT }).value).toBe(1);
    other.dispose();
    expect(() => other.evaluate(expression, { value: 1, context: CONTEXT })).toThrow("Broken invariant: a disposed sandbox");
    expect(() => other.compile("value")).toThrow("Broken invariant: a disposed sandbox");
    expect(answer(sandbox, "value")).toEqual({ value: "abc" });
  });

  test("takes the same fuel however much was allocated before", async () => {
    const unused = await createTestSandbox();
    const expression = unused.compile("Array.from({ length: 30_000 }, (_, index) => ({ index })).length");
    const fuel = Array.from({ length: 4 }, () => unused.evaluate(expression, { value: 1, context: CONTEXT }).fuel);
    expect(new Set(fuel).size).toBe(1);
  });

  test("evaluates only what was compiled", () => {
    expect(() => sandbox.evaluate({ text: "value" } satisfies Expression, { value: 1, context: CONTEXT })).toThrow(EngineError);
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
