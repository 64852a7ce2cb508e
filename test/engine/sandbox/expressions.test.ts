import { createContext, runInContext } from "node:vm";
import { beforeAll, describe, expect, test } from "vitest";
import type { Sandbox } from "../../../src/engine/sandbox/sandbox.ts";
import { answer, createTestSandbox, readTable } from "./support.ts";

interface Documented {
  readonly why: string;
  readonly expression: string;
  readonly value: unknown;
  readonly want: unknown;
}

interface Production {
  readonly production: string;
  readonly expression: string;
}

interface Difference {
  readonly why: string;
  readonly expression: string;
  readonly want: unknown;
}

const VALUE = { name: "web", ports: [80, 443], labels: { a: "1" } };

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createTestSandbox();
});

describe("a documented expression", () => {
  test.each(readTable<Documented>("expressions", "documented.json"))("$why", ({ expression, value, want }) => {
    expect(answer(sandbox, expression, value)).toEqual({ value: want });
  });
});

describe("an expression of the grammar has the answer of another engine", () => {
  test.each(readTable<Production>("expressions", "productions.json"))("$production: $expression", ({ expression }) => {
    expect(answer(sandbox, expression, VALUE)).toEqual({ value: evaluateElsewhere(expression) });
  });
});

describe("where the engine differs from others", () => {
  test.each(readTable<Difference>("expressions", "differences.json"))("$why", ({ expression, want }) => {
    expect(answer(sandbox, expression, VALUE)).toEqual({ value: want });
    expect(evaluateElsewhere(expression)).not.toEqual(want);
  });
});

const elsewhere = createContext({ text: JSON.stringify(VALUE) });

/** The JSON of what V8 makes of the expression. */
function evaluateElsewhere(expression: string): unknown {
  const program = `JSON.stringify((function (value) { "use strict"; return (${expression}\n) })(JSON.parse(text)))`;
  return JSON.parse(runInContext(program, elsewhere) as string);
}
