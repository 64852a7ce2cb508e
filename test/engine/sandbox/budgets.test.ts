/**
 * Budgets of fuel, and what happens at each limit.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { createFuelBudget } from "../../../src/engine/sandbox/fuel.ts";
import { DEFAULT_LIMITS } from "../../../src/engine/sandbox/limits.ts";
import { createSandbox, type Sandbox } from "../../../src/engine/sandbox/sandbox.ts";
import { CONTEXT, answer, createTestSandbox, failureOf } from "./support.ts";

const ENDLESS = "(() => { for (;;); })()";
const HUGE = '"a".repeat(1e9)';
/** Base cost of an evaluation. */
const EVALUATION_FUEL = 500;
const DEEP = "(function f() { return f() })()";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createTestSandbox();
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
    expect(compileMany).toThrow("exceeds the shared budget of 100000 steps for compiling all expressions of a configuration");
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

describe("a fuel budget", () => {
  test("is shared by evaluations, each of which spends the fuel that it uses", () => {
    const budget = createFuelBudget(10_000);
    const { fuel, charged } = sandbox.evaluate(sandbox.compile("value + 1"), { value: 1, context: CONTEXT }, { budget });
    expect(charged).toBeGreaterThan(fuel);
    expect(budget.remaining).toBe(10_000 - charged);
    expect(() => sandbox.evaluate(sandbox.compile("null.x"), { value: 1, context: CONTEXT }, { budget })).toThrow();
    expect(budget.remaining).toBeLessThan(10_000 - charged);
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
    expect(evaluate).toThrow("used up its shared budget of 1000 steps");
  });

  test("that is larger than the limit of an evaluation leaves that limit in force", async () => {
    const budget = createFuelBudget(DEFAULT_LIMITS.objectFuel);
    const evaluate = () => sandbox.evaluate(sandbox.compile(ENDLESS), { value: 1, context: CONTEXT }, { budget });
    expect(evaluate).toThrow("took more than 4000000 steps");
    // Replacing the stopped instance and compiling the expression there have their price as well.
    const compileBudget = createFuelBudget(DEFAULT_LIMITS.configurationFuel);
    (await createTestSandbox()).compile(ENDLESS, { budget: compileBudget });
    expect(budget.remaining).toBe(25_000_000 - EVALUATION_FUEL - (compileBudget.limit - compileBudget.remaining));
  });

  test("pays for evaluations that are stopped by another limit", () => {
    const budget = createFuelBudget(10_000_000);
    const evaluate = () => sandbox.evaluate(sandbox.compile(HUGE), { value: 1, context: CONTEXT }, { budget });
    for (let round = 0; round < 9; round += 1) expect(evaluate).toThrow("needed more than 33554432 bytes of memory");
    expect(budget.remaining).toBeLessThan(1_000_000);
    // The price of the replacement is part of what the error tells, for budgets that others keep.
    expect(failureOf(sandbox, HUGE).details["fuel"]).toBeGreaterThan(1_000_000);
    expect(evaluate).toThrow();
    expect(evaluate).toThrow("used up its shared budget of 10000000 steps");
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

  test("appears in the error, with its value", () => {
    expect(failureOf(sandbox, ENDLESS).details).toMatchObject({ expression: ENDLESS, fuel: 4_000_000, limit: 4_000_000 });
    expect(failureOf(sandbox, HUGE).details).toMatchObject({ expression: HUGE, fuel: expect.any(Number) as number, limit: 32 * 2 ** 20 });
    expect(failureOf(sandbox, DEEP).details).toMatchObject({ expression: DEEP, limit: 64 * 1024, line: 1, column: 17 });
    expect(failureOf(sandbox, '"a".repeat(1.2e6)').details).toMatchObject({ limit: 2 ** 20 });
  });

  test("of an object is there for a budget", async () => {
    const { limits } = await createTestSandbox({ limits: { objectFuel: 20_000 } });
    expect(createFuelBudget(limits.objectFuel).remaining).toBe(20_000);
    expect(sandbox.limits).toEqual(DEFAULT_LIMITS);
  });

  test("on the result counts the bytes of its JSON text", async () => {
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
