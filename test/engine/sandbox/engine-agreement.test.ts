import { createContext, runInContext } from "node:vm";
import * as fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { EngineError } from "../../../src/base/errors.ts";
import type { Sandbox } from "../../../src/engine/sandbox/sandbox.ts";
import { randomExpression, randomValue } from "./random-expression.ts";
import { CONTEXT, createTestSandbox } from "./support.ts";

interface Run {
  /** JSON text, or why there is none. */
  readonly answer: string;
  readonly fuel: unknown;
}

let used: Sandbox;
beforeAll(async () => {
  used = await createTestSandbox();
});

function run(sandbox: Sandbox, text: string, value: unknown): Run {
  try {
    const got = sandbox.evaluate(sandbox.compile(text), { value, context: CONTEXT });
    return { answer: JSON.stringify(got.value), fuel: got.fuel };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    const { code, details } = error;
    return { answer: code === "EXPRESSION_ERROR" ? "threw" : code === "EXPRESSION_RESULT" ? "no JSON" : code, fuel: details["fuel"] };
  }
}

const elsewhere = createContext({ input: "" });

/** Result of V8 for the expression, in the same form. */
function runElsewhere(text: string, value: unknown): string {
  const program = `(() => {
    let result;
    try { result = (function (value) { "use strict"; return (${text}\n) })(JSON.parse(input)) } catch { return "threw" }
    if (typeof result === "number" && !Number.isFinite(result)) return "no JSON";
    try { return JSON.stringify(result) ?? "no JSON" } catch { return "no JSON" }
  })()`;
  // The other engine has no fuel: an expression that takes long there is not compared.
  elsewhere["input"] = JSON.stringify(value);
  return runInContext(program, elsewhere, { timeout: 10_000 }) as string;
}

describe("a random expression", () => {
  test("has the answer of another engine", () => {
    fc.assert(
      fc.property(randomExpression, randomValue, (text, value) => {
        const { answer } = run(used, text, value);
        fc.pre(answer !== "EXPRESSION_FUEL" && answer !== "EXPRESSION_MEMORY");
        expect(answer).toBe(runElsewhere(text, value));
      }),
      { numRuns: 1000 },
    );
  });

  test("has the same result and the same fuel, regardless of earlier evaluations", async () => {
    const fresh = await createTestSandbox();
    fc.assert(
      fc.property(fc.array(fc.tuple(randomExpression, randomValue), { minLength: 2, maxLength: 6 }), (rows) => {
        const forwards = rows.map(([text, value]) => run(used, text, value));
        const backwards = rows.toReversed().map(([text, value]) => run(fresh, text, value));
        expect(backwards.toReversed()).toEqual(forwards);
      }),
      { numRuns: 200 },
    );
  });
});
