/** Cost of compiling and checking an expression, counted: nodes visited and characters read again. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { isEngineError } from "../../../src/base/errors.ts";
import { parseConfig } from "../../../src/engine/config/config.ts";
import { checkExpression } from "../../../src/engine/expression/check.ts";
import { FINDINGS_MAX } from "../../../src/engine/expression/lints/finding.ts";

/** A text of about `length` characters. */
type Make = (length: number) => string;

function repeated(unit: (index: number) => string, length: number): string {
  let text = "";
  for (let index = 0; text.length < length; index += 1) text += unit(index);
  return text;
}

const name = (index: number) => `a${index.toString(36)}`;
const TEXTS: Readonly<Record<string, Make>> = {
  "unknown names": (length) => `${repeated(() => "a,", length)}1`,
  "unknown names on lines of their own": (length) => `${repeated(() => "a,\n", length)}1`,
  "tests that assign": (length) => `${repeated(() => "(a=b)?1:2,", length)}1`,
  "in with lists": (length) => `a in [${repeated(() => "a in[1],", length)}1]`,
  "reads of context": (length) => `${repeated((index) => `context.${name(index)},`, length)}1`,
  "long chains": (length) => `${repeated(() => `a${".b".repeat(150)},`, length)}1`,
  "optional fields in a block": (length) => `(()=>{${repeated(() => "x=value.targetRef.name;", length)}return 1})()`,
  "optional fields in a sequence": (length) => `${repeated(() => "x=value.nodeName.length,", length)}1`,
  "optional fields in nested sequences": (length) =>
    `${"(a,".repeat(90)}[${repeated(() => "value.nodeName.length,", length)}1]${")".repeat(90)}`,
  "optional fields below nested tests": (length) =>
    `${"(".repeat(90)}[${repeated(() => "value.nodeName.length,", length)}1]${")?a:b".repeat(90)}`,
  "silent callbacks": (length) => `${repeated(() => "value.map(x=>{}),", length)}1`,
  "functions and arguments": (length) => `${repeated(() => "function(){arguments},", length)}1`,
  "ends that can be absent": (length) => `[${repeated(() => "(a?b?.c:1),", length)}1]`,
};

/** Nodes whose children are asked for, and characters that are split into lines. */
function workOf(run: () => void): number {
  let work = 0;
  const { values } = Object;
  const nodes = vi.spyOn(Object, "values").mockImplementation((object: object) => {
    work += 1;
    return values(object);
  });
  const split = Reflect.get(String.prototype, "split") as (this: string, ...given: unknown[]) => string[];
  const lines = vi.spyOn(String.prototype, "split").mockImplementation(function (this: unknown, ...given: unknown[]) {
    work += String(this).length;
    return split.apply(String(this), given);
  });
  try {
    run();
  } finally {
    nodes.mockRestore();
    lines.mockRestore();
  }
  return work;
}

function configOf(expression: string): string {
  return JSON.stringify({ sync: { toHost: { endpoints: { patches: [{ path: "subsets[*].addresses[*]", expression }] } } } });
}

afterEach(() => void vi.restoreAllMocks());

describe("twice the text", () => {
  test.each(Object.entries(TEXTS))("takes twice the work: %s", (_name, make) => {
    const [once, twice] = [3000, 6000].map((length) => workOf(() => checkExpression(make(length))));
    expect(twice! / once!).toBeLessThan(2.6);
  });

  test.each(Object.entries(TEXTS))("takes twice the work in a configuration: %s", (_name, make) => {
    // Other lengths: what was found of a text is kept, and costs nothing the second time.
    const [once, twice] = [3100, 6200].map((length) => workOf(() => void parseConfig(configOf(make(length)))));
    expect(twice! / once!).toBeLessThan(2.6);
  });

  test("takes twice the work in twice as many patches", () => {
    const patches = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ path: `metadata.annotations.a${index}`, expression: "value.nodeName.length + a" }));
    const [once, twice] = [100, 200].map((count) =>
      workOf(() => void parseConfig(JSON.stringify({ sync: { toHost: { endpoints: { patches: patches(count) } } } }))),
    );
    expect(twice! / once!).toBeLessThan(2.6);
  });
});

describe("warnings", () => {
  test("are the first of the text, in its order, and not more than so many", () => {
    const { warnings } = checkExpression(TEXTS["unknown names"]!(4000));
    expect(warnings).toHaveLength(FINDINGS_MAX);
    expect(warnings.map(({ column }) => column)).toEqual(warnings.map((_, index) => 1 + 2 * index));
  });

  test("of optional fields are as few", () => {
    const result = parseConfig(configOf(`${repeated(() => "(value.nodeName.length),", 4000)}1`));
    if (!result.ok) throw new Error("The configuration is valid");
    expect(result.warnings).toHaveLength(1);
    const apart = parseConfig(configOf(`[${repeated(() => "value.nodeName.length,", 4000)}1]`));
    if (!apart.ok) throw new Error("The configuration is valid");
    expect(apart.warnings).toHaveLength(FINDINGS_MAX);
  });
});

describe("reads of context", () => {
  test("leave out what is covered by others, however many there are", () => {
    const { reads } = checkExpression(
      "[context.vcluster.config.a, context.vcluster.config, context.path, context.path, context.vcluster.name.b]",
    );
    expect(reads).toEqual([["path"], ["vcluster", "config"], ["vcluster", "name", "b"]]);
  });
});

describe("the rewrite of an assignment", () => {
  test.each([8, 11, 150, 7000])("is left out where it is longer than what one reads: %i members", (members) => {
    const text = `value${".a".repeat(members)} = 1; value`;
    let hint = "";
    try {
      checkExpression(text);
      expect.unreachable("it is not an expression");
    } catch (error) {
      if (!isEngineError(error, "EXPRESSION_SYNTAX")) throw error;
      hint = String(error.details["hint"]);
    }
    expect(hint.includes("...value")).toBe(members === 8);
    expect(hint.length).toBeLessThan(10 * text.length + 100);
  });
});
