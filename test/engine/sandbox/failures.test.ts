import { beforeAll, describe, expect, test } from "vitest";
import type { Sandbox } from "../../../src/engine/sandbox/sandbox.ts";
import { createTestSandbox, failureOf, readTable } from "./support.ts";

interface Failure {
  readonly expression: string;
  readonly value: unknown;
  readonly code: string;
  readonly message: string;
}

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createTestSandbox();
});

describe("a common mistake", () => {
  const failures = readTable<Failure>("expressions", "failures.json");

  test.each(failures)("is reported with what to write instead: $expression", ({ expression, value, code, message }) => {
    const failure = failureOf(sandbox, expression, value);
    expect({ code: failure.code, message: failure.message }).toEqual({ code, message });
    expect(failure.details).toMatchObject({ expression, fuel: expect.any(Number) as number });
    const { hint = "" } = failure.details;
    expect(message.endsWith(hint as string)).toBe(true);
  });

  test("has a hint nearly always, and a place and the kind of the value whenever the expression threw", () => {
    const found = failures.map(({ expression, value }) => failureOf(sandbox, expression, value));
    const threw = found.filter(({ code }) => code === "EXPRESSION_ERROR");
    for (const { details } of threw) {
      expect(details).toMatchObject({ line: expect.any(Number) as number, column: expect.any(Number) as number });
      expect(details["excerpt"]).toContain("▸");
      expect(details["valueKind"]).toMatch(/^(an? |null)/);
    }
    expect(found.filter(({ details }) => details["hint"] === undefined).length).toBeLessThan(found.length / 15);
  });

  test("is reported without the value: a value may be a secret", () => {
    const secret = "hunter2";
    for (const { expression } of failures) {
      try {
        sandbox.evaluate(sandbox.compile(expression), { value: { secret }, context: { ...EMPTY, hostObject: { secret } } });
      } catch (error) {
        expect((error as Error).message).not.toContain(secret);
      }
    }
  });
});

const EMPTY = { vcluster: { name: "v", namespace: "n", config: {} }, hostObject: null, virtualObject: null, path: "x" };

describe("an expression of many lines", () => {
  test("is shown around the place where it threw", () => {
    const { message, details } = failureOf(sandbox, "[value]\n  .map(x => x)\n  .find(x => x === 1).name");
    expect(details).toMatchObject({ line: 3, column: 22, excerpt: ".find(x => x === 1)▸.name" });
    expect(message).toContain("at line 3, column 22 (.find(x => x === 1)▸.name)");
  });
});
