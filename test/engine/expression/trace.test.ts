import * as fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { isEngineError } from "../../../src/base/errors.ts";
import { checkExpression } from "../../../src/engine/expression/check.ts";
import { readTrace, traceExpression, type Trace, type TraceOptions } from "../../../src/engine/expression/trace/trace.ts";
import type { Sandbox } from "../../../src/engine/sandbox/sandbox.ts";
import { makeCase } from "../sandbox/fuzz.ts";
import { randomExpression, randomValue } from "../sandbox/random-expression.ts";
import { CONTEXT, createTestSandbox, readTable } from "../sandbox/support.ts";

interface Row {
  readonly expression: string;
  readonly value?: unknown;
}

const VALUE = { name: "web", ports: [80, 443], labels: { a: "1" } };
const EVERY: readonly TraceOptions[] = [{}, { values: false }, { branches: false }];

let sandbox: Sandbox;
let watching: Sandbox;
beforeAll(async () => {
  sandbox = await createTestSandbox();
  watching = await createTestSandbox({ limits: { sourceBytes: 1024 * 1024, fuel: 50_000_000 } });
});

function trace(text: string, value: unknown, options: TraceOptions = {}): Trace {
  const traced = traceExpression(text, options);
  return readTrace(watching.evaluate(watching.compile(traced.text), { value, context: CONTEXT }).value);
}

/** Outcome of the expression itself: its value, or the error of the sandbox. */
function original(text: string, value: unknown): { readonly value: unknown } | { readonly code: string; readonly message: string } {
  try {
    return { value: sandbox.evaluate(sandbox.compile(text), { value, context: CONTEXT }).value };
  } catch (error) {
    if (isEngineError(error)) return { code: error.code, message: error.message };
    throw error;
  }
}

/** Where a limit stops the original, it may stop the watched one elsewhere. */
const LIMITS = ["EXPRESSION_FUEL", "EXPRESSION_MEMORY", "EXPRESSION_STACK"];

/** Expects that watching changes nothing, but for the source that an expression can see of itself. Answers whether there was something to compare. */
function expectSame(text: string, value: unknown, options: TraceOptions = {}): boolean {
  const own = original(text, value);
  if ("code" in own && [...LIMITS, "EXPRESSION_SYNTAX"].includes(own.code)) return false;
  // A function or class that was made a text.
  if ("value" in own && /=>|function|class/.test(JSON.stringify(own.value))) return false;
  const { outcome } = trace(text, value, options);
  if ("value" in own) expect(outcome, text).toEqual({ kind: "value", value: own.value });
  else if (own.code === "EXPRESSION_RESULT") expect(outcome).toEqual({ kind: "noJson" });
  else {
    expect(outcome.kind).toBe("threw");
    const { name, message } = outcome as Extract<typeof outcome, { kind: "threw" }>;
    expect(own.message).toContain(`threw ${`${name === "" ? "" : `${name}: `}${message}`.slice(0, 300) || "an error"}`);
  }
  return true;
}

describe("watching changes nothing", () => {
  const tables = ["documented", "productions", "differences", "reads", "warnings"];
  test.each(tables)("of the table %s", (table) => {
    const rows = readTable<Row>("expressions", `${table}.json`);
    const compared = rows.filter(({ expression, value }, row) => expectSame(expression, value ?? VALUE, EVERY[row % EVERY.length]));
    expect(compared.length).toBeGreaterThan(rows.length / 2);
  });

  test.each([
    "(() => { let f = (x) => x, a = 1, b = a++\n(f)(b)\nreturn [a, b] })()",
    "(() => { let a = 1\n++a\nlet b = a\n;[a, b] = [b, 7]\nreturn [a, b] })()",
    "(() => { if (value) value.name; else value.ports; do value.x = 1; while (!value.x) return value })()",
    "(() => { for (let i = ('a' in value) ? 1 : 2, j = value.name; i < 2; i++) j += i; return 1 })()",
    "(() => { class A { a = value.name\n['b'] = value.ports\nstatic c = value.name } return [new A(), A.c] })()",
    "(function () { return-value.ports[0] })()",
    "(function* () { yield-value.ports[0]; yield*value.ports })().next().value",
    "(function () { switch (true) { case!value.x: return void-value.x ?? typeof(value) } })()",
    "(() => { try { throw[value.name] } catch ([e = 1, f = value.ports]) { return [e, f] } })()",
    "[...(function* () { yield value?.x?.[yield value.name]; yield value?.ports[yield 1] })()]",
    "(o => o.f?.(1)?.g?.(2).h)({ f(x) { return { g: (y) => ({ h: [x, y, this === value] }) } } })",
    "(o => (o?.f)(1))({ x: 5, f(y) { return this.x + y } })",
    "(o => (o?.f)?.(1))({ x: 5, f(y) { return this.x + y } })",
    "(o => (o?.f)`a`)({ x: 5, f(y) { return this.x + y } })",
    "(o => [delete o?.a, delete o.b?.c, delete o?.d.e, o])({ a: 1, b: { c: 1 }, d: { e: 1 } })",
    "(() => { class A { m() { return 'm' } } class B extends A { m() { return [super.m?.(), super.n?.(), super['m']()] } } return new B().m() })()",
    "(() => { class A { #p = { q: 1 }; get(o) { return [o?.#p?.q, #p in o, this.#p.q] } } const a = new A(); return a.get(a) })()",
    "(() => { class A { constructor(a = value.name) { this.a = a } } return new (true && A)() })()",
    "new (value.C ?? Array)(3).length",
    "new (function () { return Date })()(0).getTime()",
    "(({ f = () => 1, g = function () {}, h = class {}, ...r }) => [f.name, g.name, h.name, r])({ x: 1 })",
    "((f) => [f.name, (() => 1).name, { k: () => 1 }.k.name])(() => 1)",
    "(a => { let f; f ??= () => 1; return [f.name, a ||= value.name, a &&= value.ports] })()",
    "(name => ({ name, __proto__: value }).ports)(value.name)",
    "(__proto__ => Object.keys({ __proto__ }))(value)",
    "((a, [b = a.name, { c = b } = {}] = [], { [a.name]: d = c, ...e } = { web: undefined }) => [b, c, d, e])(value)",
    "((...[a, b = 2]) => [a, b])(1)",
    "((a, b = a, c) => a.length + b)(1, 2, 3)",
    "(function (a = 1, b) { return [arguments.length, a, b] })(undefined, value.name, 3)",
    "((a, b = 2) => 1).length",
    "(f => f(f, 5))((f, n, x = n) => n < 1 ? [] : [...f(f, n - 1), x])",
    "(o => [o.n, o.n, o.n?.toFixed(1), o.n?.()])({ get n() { return value.ports.push(1) } })",
    "({ get a() { value.name += 'x'; return { valueOf: () => 3 } } }).a + value.name",
    "({ toJSON(key) { return [key, value.name] } })",
    "({ toString() { return value.name += 'x' } }) + value.name",
    "(x => x)`a${value.name}b${value.ports}`.raw",
    "value.name /value.ports/ 1",
    "((a) => a)(value.name // here\n)",
    "(value, value.name)",
    "$s + $t(1)",
    "($s => $s + value.name)(1)",
    "(() => { l: for (const l of value.ports) { continue l } for (value.x of [1]); for (const k in value) { if (k) break } return value })()",
    "value.nothing.more",
    "value.ports.map(p => p.x.y)",
    "value.name.nothing()",
    "(() => { throw value })()",
    "(() => { throw null })()",
    "((a = missing) => a)()",
    "[].reduce((a, b) => a)",
    "value = context?.virtualObject?.metadata.name",
    "context.hostObject?.metadata ?? context.vcluster.name",
    "context[value.x ?? 'path']",
    "typeof missing?.x",
    "this?.x ?? typeof this",
    "Symbol('x')",
    "[Symbol.iterator, 1n, new Map(value.ports.entries()), new Date(0), /x/g, new Error('e'), -0].length",
  ])("of %s", (text) => {
    for (const options of EVERY) expect(expectSame(text, VALUE, options)).toBe(true);
  });

  test("of generated expressions", () => {
    let compared = 0;
    const agree = (text: string, value: unknown, options: TraceOptions) => {
      compared += Number(expectSame(text, value, options));
    };
    fc.assert(
      fc.property(randomExpression, randomValue, fc.constantFrom(...EVERY), (text, value, options) => agree(text, value, options)),
      { numRuns: 150, seed: 6 },
    );
    const cases = Array.from({ length: 300 }, (_, number) => makeCase(11, number)).filter(({ tame }) => tame);
    cases.forEach(({ text, value }, number) => agree(text, value, EVERY[number % EVERY.length]!));
    expect(compared).toBeGreaterThan(150);
  });
});

/** Values by text, as `first` or `first … last ×count`. */
function valuesOf(text: string, value: unknown): Record<string, string> {
  const { points } = traceExpression(text);
  const { seen } = trace(text, value);
  const shown = points.flatMap(({ kind, label }, index) => {
    const { count, first, last } = seen[index]!;
    return kind === "value" ? [[label, count === 0 ? "never" : count === 1 ? first! : `${first} … ${last} ×${count}`] as const] : [];
  });
  return Object.fromEntries(shown);
}

describe("a traced expression tells", () => {
  test.each<{ text: string; value: unknown; want: Record<string, string> }>([
    { text: "value", value: "a", want: { value: '"a"' } },
    { text: "1 + 2", value: "a", want: {} },
    { text: "value + 1", value: 2, want: { value: "2", "value + 1": "3" } },
    {
      text: 'value.a === "x" && value.b',
      value: { a: "y" },
      want: { "value.a": '"y"', 'value.a === "x"': "false", "value.b": "never", 'value.a === "x" && value.b': "false" },
    },
    {
      text: "value.map(x => x * 2)",
      value: [1, 2, 3],
      want: { value: "[1, 2, 3]", x: "1 … 3 ×3", "x * 2": "2 … 6 ×3", "value.map(x => x * 2)": "[2, 4, 6]" },
    },
    {
      text: "value.a.b.c",
      value: { a: {} },
      want: { value: "{a: {}}", "value.a": "{}", "value.a.b": "undefined", "value.a.b.c": "never" },
    },
    {
      text: "value?.a?.b.c",
      value: { a: { b: { c: null } } },
      want: { value: "{a: {b: {c: null}}}", "value?.a": "{b: {c: null}}", "value?.a?.b": "{c: null}", "value?.a?.b.c": "null" },
    },
    {
      text: "value?.a?.b.c",
      value: {},
      want: { value: "{}", "value?.a": "undefined", "value?.a?.b": "never", "value?.a?.b.c": "undefined" },
    },
    { text: "(value.n += 1, value)", value: { n: 1 }, want: { value: "{n: 2}", "value.n += 1": "2" } },
    { text: "`${value}!`", value: "é", want: { value: '"é"', "`${value}!`": '"é!"' } },
    { text: "typeof value", value: "a", want: { "typeof value": '"string"' } },
    {
      text: "context.vcluster.name",
      value: 1,
      want: {
        "context.vcluster": '{name: "my-vcluster", namespace: "team-x", config: {sync: {toHost: {…}}}}',
        "context.vcluster.name": '"my-vcluster"',
      },
    },
    {
      text: "String(value)",
      value: "x".repeat(300),
      want: { value: JSON.stringify(`${"x".repeat(160)}…`), "String(value)": JSON.stringify(`${"x".repeat(160)}…`) },
    },
    {
      text: "[-0, value, new Map([[value, 1]]), new Set(), new Date(5), /a/, new Error('e'), Symbol('s'), 2n, () => 1, { 'a b': NaN }]",
      value: 0,
      want: {
        "[value, 1]": "[0, 1]",
        "[[value, 1]]": "[[0, 1]]",
        "new Map([[value, 1]])": "Map(1)",
        value: "0",
        "new Date(5)": "Date(5)",
        "Symbol('s')": "Symbol(s)",
      },
    },
    { text: "({ get a() { return value } })", value: 1, want: { "{ get a() { return value } }": "{a: …}", value: "1" } },
  ])("the values in $text", ({ text, value, want }) => {
    expect(valuesOf(text, value)).toMatchObject(want);
  });

  test("nothing about literals, functions and the language's own names", () => {
    const { points } = traceExpression("[1, 'a', `b`, -1, Math, (x) => 1, undefined, [2], { a: 3 }]");
    expect(points.map(({ label }) => label)).toEqual(["[1, 'a', `b`, -1, Math, (x) => 1, undefined, [2], { a: 3 }]"]);
  });

  test("what was seen before an exception, and which it was", () => {
    const { outcome, seen } = trace("[value.a, value.b.c, value.d]", { a: 1 });
    expect(outcome).toEqual({ kind: "threw", name: "TypeError", message: "cannot read property 'c' of undefined" });
    expect(seen.map(({ count }) => count).filter((count) => count > 0)).toHaveLength(4);
  });

  test.each<{ text: string; value: unknown; want: readonly string[] }>([
    { text: "value ? 1 : 2", value: true, want: ["condition true@8 1", "condition false@12 0"] },
    { text: "value && 1", value: 0, want: ["left side decides@0 1", "right side runs@9 0"] },
    { text: "value || 1", value: 0, want: ["left side decides@0 0", "right side runs@9 1"] },
    { text: "value ?? 1", value: 0, want: ["left side decides@0 1", "right side runs@9 0"] },
    { text: "value ?? 1", value: null, want: ["left side decides@0 0", "right side runs@9 1"] },
    { text: "value?.a", value: {}, want: ["value present@5 1", "value absent@0 0"] },
    { text: "value?.a?.b", value: {}, want: ["value present@5 1", "value absent@0 0", "value present@8 0", "value absent@0 1"] },
    { text: "value.f?.()", value: {}, want: ["value present@7 0", "value absent@0 1"] },
    { text: "[1, undefined].map((x = 2) => x)", value: 1, want: ["default used@24 1", "value given@20 1"] },
    { text: "(({ a = 1 }) => { return a })(value)", value: { a: 5 }, want: ["default used@8 0", "value given@4 1"] },
    {
      text: "(() => { const { a = 1, b = 2 } = value; return b })()",
      value: { a: 5 },
      want: ["default used@21 0", "value given@17 1", "default used@28 1", "value given@24 0"],
    },
    { text: "(x => x ||= 1)(value)", value: 0, want: ["right side runs@12 1", "left side decides@6 0"] },
    { text: "value.map(x => { if (x > 1) return x; return 0 })", value: [1, 2, 3], want: ["condition true@28 2", "condition false@21 1"] },
    { text: "value.map(x => x > 1 ? x : 0)", value: [1, 2, 3], want: ["condition true@23 2", "condition false@27 1"] },
  ])("the branches taken in $text with $value", ({ text, value, want }) => {
    const { points } = traceExpression(text, { values: false });
    const { seen } = trace(text, value, { values: false });
    const got = points.map(({ label, start }, index) => ({ at: start, text: `${label}@${start} ${seen[index]!.count}` }));
    expect(got.map((branch) => branch.text).sort()).toEqual([...want].sort());
  });

  test("reads no more of the context than before when only branches are watched", () => {
    const { text } = traceExpression('context.vcluster.name === "a" ? context.path : value', { values: false });
    expect(checkExpression(text).reads).toEqual([["vcluster", "name"], ["path"]].sort((left, right) => left.length - right.length));
  });

  test("less where the expression nests as deeply as one may", () => {
    for (const text of [
      `${"(".repeat(180)}value${")".repeat(180)}`,
      `${"[".repeat(150)}value${"]".repeat(150)}`,
      `value${" + 1".repeat(180)}`,
    ]) {
      expect(expectSame(text, 1)).toBe(true);
    }
    expect(traceExpression(`value${" + 1".repeat(100)}`).points.length).toBeGreaterThan(10);
  });

  test("nothing of a text that is not one expression", () => {
    expect(() => traceExpression("value; 1")).toThrow(expect.objectContaining({ code: "EXPRESSION_SYNTAX" }) as Error);
    expect(() => readTrace("value")).toThrow(TypeError);
  });
});
