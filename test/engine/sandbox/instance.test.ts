import { beforeAll, describe, expect, test } from "vitest";
import { checkExpression } from "../../../src/engine/expression/check.ts";
import { HOST_FUNCTIONS } from "../../../src/engine/expression/functions/host-functions.ts";
import { Instance } from "../../../src/engine/sandbox/realm/instance.ts";
import type { EvaluationOutcome } from "../../../src/engine/sandbox/outcome/outcome.ts";
import { loadRealm, type LoadedRealm } from "../../../src/engine/sandbox/realm/load.ts";
import { CONTEXT, createTestSandbox, readTable, toHostDns } from "./support.ts";

const MIB = 2 ** 20;
const INITIAL = 16 * MIB;
const LONG = "a".repeat(2000);

let realm: LoadedRealm;
beforeAll(async () => {
  realm = await loadRealm(64 * 1024);
});

function start(memoryBytes = 32 * MIB): Instance {
  return new Instance(
    { module: realm.module, memoryBytes, stackBytes: 64 * 1024, functions: HOST_FUNCTIONS, outside: { toHostDns } },
    realm.image,
  );
}

interface EvaluateOptions {
  readonly value?: unknown;
  readonly fuel?: number;
  readonly context?: typeof CONTEXT;
}

function evaluate(
  instance: Instance,
  text: string,
  { value = "abc", context = CONTEXT, fuel = 5_000_000 }: EvaluateOptions = {},
): EvaluationOutcome {
  return instance.evaluate(checkExpression(text), { value, valueExists: true, context, fuel, resultBytes: MIB });
}

describe("the memory of an instance", () => {
  const attacks = readTable<{ why: string; expression: string }>("attacks", "memory.json");

  test.each(attacks)("never grows beyond its limit: $why", ({ expression }) => {
    for (const limit of [16 * MIB, 24 * MIB]) {
      const instance = start(limit);
      try {
        evaluate(instance, expression);
      } catch (error) {
        expect(["fuel", "overhead", "memory"]).toContain(instance.engine.trapReason(error));
      }
      expect(instance.engine.memoryBytes).toBeLessThanOrEqual(limit);
    }
  });

  test.each([
    { text: "value", value: LONG },
    { text: "({ ...value, x: [value] })", value: { long: LONG } },
    { text: "value.replace(/a/, x => x + x) + context.vcluster.name + context.path", value: LONG },
    { text: "virtualToHostDNS(value)", value: `${LONG}.b.svc` },
    { text: "virtualToHostDNS(value)", value: LONG },
    { text: "null[value]", value: LONG },
    { text: "(() => { throw { name: value } })()", value: `${LONG}\0` },
    { text: "[1n, value]", value: LONG },
    { text: "value.map(x => x + 1)", value: [1, LONG, 3] },
  ])("does not grow while the same is evaluated: $text", ({ text, value }) => {
    const instance = start();
    const expression = checkExpression(text);
    // A leak of one text each would fill several times what the memory has from the start.
    for (let round = 0; round < 15_000; round += 1) {
      instance.evaluate(expression, { value, valueExists: true, context: CONTEXT, fuel: 1e6, resultBytes: MIB });
    }
    expect(instance.engine.memoryBytes).toBe(INITIAL);
  });

  test("does not grow with the contexts that come and go", () => {
    const instance = start();
    const expressions = Array.from({ length: 20 }, (_, index) => checkExpression(`JSON.stringify(context).length + ${index}`));
    for (let round = 0; round < 60; round += 1) {
      const virtualObject = { text: "x".repeat(600_000), round };
      const context = { ...CONTEXT, virtualObject };
      instance.evaluate(expressions[round % 20]!, { value: 1, valueExists: true, context, fuel: 5e6, resultBytes: MIB });
    }
    expect(instance.engine.memoryBytes).toBe(INITIAL);
  });

  test("that is short because of what was kept does not decide an evaluation", async () => {
    const contexts = Array.from({ length: 4 }, (_, index) => ({
      ...CONTEXT,
      virtualObject: { numbers: Array.from({ length: 60_000 }, () => index) },
    }));
    const text = '[..."a".repeat(2e5)].length';
    const crowded = start(16 * MIB);
    for (const [index, context] of contexts.entries()) evaluate(crowded, `context.virtualObject.numbers[${index}]`, { context });
    expect(() => evaluate(crowded, text, { fuel: 5e8 })).toThrow("The memory limit is reached");

    const sandbox = await createTestSandbox({ limits: { memoryBytes: 16 * MIB, fuel: 5e8 } });
    for (const [index, context] of contexts.entries()) {
      sandbox.evaluate(sandbox.compile(`context.virtualObject.numbers[${index}]`), { value: 1, context });
    }
    expect(sandbox.evaluate(sandbox.compile(text), { value: 1, context: CONTEXT }).value).toBe(2e5);
  });
});

describe("an instance", () => {
  test.each(["value),(1", "1)});(function(){", "1);globalThis.x=(1", "1],[1", "value)\n(1", "a)=>(a", "0 <!--(\n(value)),this"])(
    "refuses a text that leaves its enclosure, even without an earlier check: %s",
    (text) => {
      const instance = start();
      expect(instance.compile({ text, reads: [], warnings: [] }, 1e6)).toMatchObject({ problem: { name: "SyntaxError" } });
      expect(evaluate(instance, "value")).toMatchObject({ value: "abc" });
    },
  );

  test("is unused until something was evaluated", () => {
    const instance = start();
    expect(instance.used).toBe(false);
    expect(evaluate(instance, "value")).toMatchObject({ kind: "value", value: "abc" });
    expect(instance.used).toBe(true);
  });

  test("tells what came of an evaluation that threw what cannot be described", () => {
    const instance = start();
    expect(() => evaluate(instance, "(() => { throw { get name() { for (;;); } } })()")).toThrow("unreachable");
    expect(instance.fallback).toMatchObject({ kind: "threw", fuel: expect.any(Number) as number });
    expect(instance.engine.trapReason(new Error())).toBe("fuel");
  });

  test("does not charge steps of the host, which frees what earlier evaluations left", () => {
    const instance = start();
    const expression = checkExpression("value");
    const value = Array.from({ length: 1000 }, (_, index) => ({ index }));
    const { charged } = instance.evaluate(expression, { value, valueExists: true, context: CONTEXT, fuel: 1e6, resultBytes: MIB });
    expect(instance.engine.taken.overhead).toBeGreaterThan(10_000);
    expect(instance.stopped(new Error("a fault"))).toMatchObject({ reason: "fault", fuel: 0, charged });
  });

  test("starts from the same memory as every other one", () => {
    const [one, other] = [start(), start()].map((instance) => instance.engine.snapshot());
    expect([...one!.pages.keys()]).toEqual([...other!.pages.keys()]);
    for (const [page, bytes] of one!.pages) expect(Buffer.from(bytes).equals(other!.pages.get(page)!)).toBe(true);
  });
});
