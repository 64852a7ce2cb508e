/**
 * Misuse of the sandbox: each error has a code, names the fault, and harms no later evaluation.
 */
import { beforeEach, describe, expect, test } from "vitest";
import type { EngineError } from "../../../src/base/errors.ts";
import type { Expression, Sandbox, Scope } from "../../../src/engine/sandbox/sandbox.ts";
import { CONTEXT, answer, createTestSandbox } from "./support.ts";

const says = (message: string) =>
  expect.objectContaining({ code: "USAGE", message: expect.stringContaining(message) as string }) as EngineError;

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await createTestSandbox();
});

describe("a sandbox that was disposed of", () => {
  test("says so", () => {
    const expression = sandbox.compile("value");
    sandbox.dispose();
    sandbox.dispose();
    expect(() => sandbox.evaluate(expression, { value: 1, context: CONTEXT })).toThrow(says("the sandbox was disposed of"));
    expect(() => sandbox.compile("value")).toThrow(says("the sandbox was disposed of"));
  });
});

describe("an expression that another sandbox compiled", () => {
  test("is refused", async () => {
    const other = (await createTestSandbox()).compile("value");
    const own = sandbox.compile("value");
    const looksAlike: Expression[] = [{ text: "value" }, { ...own }, Object.create(own) as Expression, null as unknown as Expression];
    for (const foreign of [other, ...looksAlike]) {
      expect(() => sandbox.evaluate(foreign, { value: 1, context: CONTEXT })).toThrow(says("this sandbox has not compiled"));
      expect(() => sandbox.readsHostObject(foreign)).toThrow(says("this sandbox has not compiled"));
    }
  });

  test("is not mistaken for one that this sandbox compiled long ago", () => {
    const old = sandbox.compile("value");
    for (let index = 0; index < 1500; index += 1) sandbox.compile(`value + ${index}`);
    expect(sandbox.evaluate(old, { value: 1, context: CONTEXT }).value).toBe(1);
  });
});

describe("a scope", () => {
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;
  const throwing = {
    toJSON() {
      throw new Error("mine");
    },
  };

  test.each([
    { what: "a BigInt", data: 1n },
    { what: "a BigInt inside", data: { list: [1n] } },
    { what: "a cycle", data: cycle },
    { what: "a toJSON that throws", data: throwing },
    { what: "a function", data: () => 1 },
    { what: "a symbol", data: Symbol("mine") },
  ])("whose value is $what is refused, and names the value", ({ data }) => {
    expect(() => sandbox.evaluate(sandbox.compile("value"), { value: data, context: CONTEXT })).toThrow(says("value is not JSON data"));
    expect(answer(sandbox, "value")).toEqual({ value: "abc" });
  });

  test.each([
    { what: "a BigInt", data: { number: 1n } },
    { what: "a cycle", data: cycle },
    { what: "a toJSON that throws", data: throwing },
  ])("whose context has $what is refused, and names the context", ({ data }) => {
    for (const text of ["context.virtualObject", "(c => c)(context)"]) {
      const evaluate = () => sandbox.evaluate(sandbox.compile(text), { value: 1, context: { ...CONTEXT, virtualObject: data } });
      expect(evaluate).toThrow(says("context is not JSON data"));
    }
    expect(answer(sandbox, "value")).toEqual({ value: "abc" });
  });

  test.each([
    { what: "nothing", scope: undefined, wrong: "the scope has no context" },
    { what: "no context", scope: { value: 1 }, wrong: "the scope has no context" },
    { what: "null for a context", scope: { value: 1, context: null }, wrong: "the scope has no context" },
    { what: "a context without its virtual cluster", scope: { value: 1, context: { path: "" } }, wrong: "context.vcluster is missing" },
    { what: "a context without a path", scope: { value: 1, context: { ...CONTEXT, path: undefined } }, wrong: "context.path is missing" },
  ])("that is $what is refused, and says what is missing", ({ scope, wrong }) => {
    for (const text of ["value", "context.path", "context.vcluster.name"]) {
      expect(() => sandbox.evaluate(sandbox.compile(text), scope as Scope)).toThrow(says(wrong));
    }
  });
});

describe("toHostDns", () => {
  /** Result of `use`, which is called in the middle of an evaluation. */
  async function caughtWithin(use: (sandbox: Sandbox) => unknown): Promise<unknown> {
    const caught: unknown[] = [];
    const toHostDns = (): string => {
      try {
        use(own);
      } catch (error) {
        caught.push(error);
      }
      return "name";
    };
    const own: Sandbox = await createTestSandbox({ toHostDns });
    expect(answer(own, 'virtualToHostDNS("db")')).toEqual({ value: "name" });
    expect(answer(own, "value + 1")).toEqual({ value: "abc1" });
    return caught;
  }

  test.each([
    { does: "evaluate", use: (own: Sandbox) => answer(own, "value") },
    { does: "compile a new text", use: (own: Sandbox) => own.compile("1 + 1") },
    { does: "compile the text that runs", use: (own: Sandbox) => own.compile('virtualToHostDNS("db")') },
    { does: "dispose of the sandbox", use: (own: Sandbox) => own.dispose() },
  ])("cannot $does", async ({ use }) => {
    expect(await caughtWithin(use)).toEqual([says("during an evaluation")]);
  });
});
