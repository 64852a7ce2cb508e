/** Known pitfalls of engines in a sandbox: one test for each, here, even if other tests cover it. */
import { HOST_FUNCTIONS } from "../../../src/engine/expression/functions/host-functions.ts";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { createSandbox, type Sandbox } from "../../../src/engine/sandbox/sandbox.ts";
import { Instance } from "../../../src/engine/sandbox/realm/instance.ts";
import { loadRealm } from "../../../src/engine/sandbox/realm/load.ts";
import { checkExpression } from "../../../src/engine/expression/check.ts";
import { ENGINE_DIGEST, readEngineFile } from "../../../src/engine/sandbox/quickjs/wasm-file.ts";
import { CONTEXT, answer, createTestSandbox, failureOf } from "./support.ts";

const FUEL = { code: "EXPRESSION_FUEL" };
const ERROR = { code: "EXPRESSION_ERROR" };
const RESULT = { code: "EXPRESSION_RESULT" };
const SYNTAX = { code: "EXPRESSION_SYNTAX" };

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createTestSandbox();
});
afterEach(() => {
  vi.restoreAllMocks();
});

const all = (texts: readonly string[], want: unknown) => {
  expect(texts.map((text) => [text, answer(sandbox, text)])).toEqual(texts.map((text) => [text, want]));
};

describe("a pitfall: time and memory", () => {
  test("an interrupt handler that native loops never ask", () => {
    all(
      [
        "[].indexOf.call({ length: 2 ** 53 - 1 }, 0)",
        "[].reverse.call({ length: 2 ** 53 - 1 })",
        'new Array(2 ** 32 - 1).join("ab")',
        "String.raw({ raw: { length: 1e9 } })",
        '("a".repeat(2e5) + "b").lastIndexOf("a".repeat(1e5) + "c")',
        '(() => { const s = "a".repeat(1e5); for (;;) s.toUpperCase() })()',
      ],
      FUEL,
    );
  });

  test("a deadline by the clock that stops a good evaluation on a busy machine", () => {
    const noClock = () => {
      throw new Error("the clock was read");
    };
    vi.spyOn(Date, "now").mockImplementation(noClock);
    vi.spyOn(performance, "now").mockImplementation(noClock);
    const got = answer(sandbox, "Array.from({ length: 20_000 }, (_, index) => index).length");
    const stopped = answer(sandbox, "(() => { for (;;); })()");
    vi.restoreAllMocks();
    expect([got, stopped]).toEqual([{ value: 20_000 }, FUEL]);
  });

  test("an overflow of the machine's stack that leaves less of the engine's own", () => {
    const depth = "(function f(n) { try { return f(n + 1) } catch { return n } })(0)";
    const before = answer(sandbox, depth);
    for (const text of [
      'JSON.parse("[".repeat(1e5))',
      "(a => { for (let i = 0; i < 1e5; i++) a = [a]; return a })([])",
      'new RegExp("(".repeat(1e5))',
    ])
      for (let round = 0; round < 8; round += 1) expect(answer(sandbox, text)).toHaveProperty("code");
    expect(answer(sandbox, depth)).toEqual(before);
  });

  test('an "out of memory" that can be caught, or is null', () => {
    all(['(() => { try { return "a".repeat(1e9) } catch (error) { return "caught " + error } })()'], { code: "EXPRESSION_MEMORY" });
  });

  test("a memory without a maximum", async () => {
    const { module, image } = await loadRealm(64 * 1024);
    const instance = new Instance(
      { module, memoryBytes: 20 * 2 ** 20, stackBytes: 64 * 1024, functions: HOST_FUNCTIONS, outside: {} },
      image,
    );
    const grow = checkExpression('(() => { const all = []; for (;;) all.push("x".repeat(1e5) + all.length) })()');
    const run = () => instance.evaluate(grow, { value: 1, valueExists: true, context: CONTEXT, fuel: 5e8, resultBytes: 1 });
    expect(run).toThrow("The memory limit is reached");
    expect(instance.engine.memoryBytes).toBeLessThanOrEqual(20 * 2 ** 20);
  });

  test("garbage of some hundred evaluations that kills the engine", () => {
    const cycles = "(() => { for (let i = 0; i < 100; i++) { const a = { big: Array(100).fill(value) }; a.a = a } return 1 })()";
    for (let round = 0; round < 500; round += 1) expect(answer(sandbox, cycles, round)).toEqual({ value: 1 });
  });

  test("a value that was not freed and makes the end abort", async () => {
    const own = await createTestSandbox();
    for (let round = 0; round < 200; round += 1) {
      for (const text of ["({ a: [value] })", "null.x", "() => value", "(() => { throw { value } })()", "10n"]) answer(own, text);
    }
    expect(() => own.dispose()).not.toThrow();
  });
});

describe("a pitfall: the realm", () => {
  test("a frozen global object whose properties can be defined again", () => {
    all(
      [
        'Object.defineProperty(globalThis, "JSON", { value: 1 })',
        'Object.defineProperty(globalThis, "undefined", { value: 1 })',
        'Object.defineProperty(globalThis, "fresh", { value: 1 })',
      ],
      ERROR,
    );
    expect(
      answer(sandbox, '[Reflect.defineProperty(globalThis, "Math", { value: 1 }), typeof Math, typeof undefined, typeof fresh]'),
    ).toEqual({
      value: [false, "object", "undefined", "undefined"],
    });
  });

  test("a frozen Error that still takes prepareStackTrace and stackTraceLimit", () => {
    all(['Error.prepareStackTrace = () => "own"', "Error.stackTraceLimit = 0", "Error.captureStackTrace = 1"], ERROR);
    expect(answer(sandbox, 'typeof new Error("x").stack')).toEqual({ value: "string" });
  });

  test("a frozen prototype that forbids a member of the same name", () => {
    expect(answer(sandbox, 'Object.assign({}, value, { constructor: "c" })', { toString: "x", hasOwnProperty: 1 })).toEqual({
      value: { toString: "x", hasOwnProperty: 1, constructor: "c" },
    });
    expect(answer(sandbox, '(() => { const o = {}; o.valueOf = 1; o.toString = "t"; return o })()')).toEqual({
      value: { valueOf: 1, toString: "t" },
    });
    expect(answer(sandbox, '(() => { const e = new Error("a"); e.message = "b"; e.name = "N"; return String(e) })()')).toEqual({
      value: "N: b",
    });
  });

  test("a time zone and a locale that are the host's", () => {
    vi.spyOn(Date.prototype, "getTimezoneOffset").mockReturnValue(300);
    vi.spyOn(Intl.DateTimeFormat.prototype, "resolvedOptions").mockImplementation(() => {
      throw new Error("the host's time zone was read");
    });
    expect(
      answer(sandbox, "[new Date(2026, 0, 1).getTimezoneOffset(), new Date(2026, 0, 1).toISOString(), (1234.5).toLocaleString()]"),
    ).toEqual({
      value: [0, "2026-01-01T00:00:00.000Z", "1234.5"],
    });
    expect(answer(sandbox, 'typeof Intl + ["b", "a", "C"].sort((x, y) => x.localeCompare(y)).join("")')).toEqual({ value: "undefinedCab" });
  });

  test("a frozen list that sorts without complaint when it is sorted already", () => {
    const context = { ...CONTEXT, virtualObject: { sorted: [1, 2], unsorted: [2, 1] } };
    const texts = [
      "context.virtualObject.unsorted.sort()",
      "context.virtualObject.sorted.push(3)",
      "context.virtualObject.sorted.reverse()",
    ];
    for (const text of texts) expect(answer(sandbox, text, 1, context)).toEqual(ERROR);
    answer(sandbox, "context.virtualObject.sorted.sort()", 1, context);
    expect(answer(sandbox, "[context.virtualObject.sorted, context.virtualObject.unsorted]", 1, context)).toEqual({
      value: [
        [1, 2],
        [2, 1],
      ],
    });
  });

  test("asynchronous code without promises, or with them", () => {
    all(["async () => 1", "(async () => 1)()", "async function* f() {}", "await 1", "[async () => 1].length"], SYNTAX);
    all(["Promise.resolve(1)", "new Promise(() => 1)"], ERROR);
  });
});

describe("a pitfall: text of expressions", () => {
  test("a script that is taken for an expression", () => {
    expect(answer(sandbox, "{ a: 1 }")).toEqual({ value: { a: 1 } });
    expect(answer(sandbox, "{ a: 1, b: 2 }")).toEqual({ value: { a: 1, b: 2 } });
    expect(answer(sandbox, "{}")).toEqual({ value: {} });
    all(["", "// nothing", "var a = 1", "1; 2", 'if (1) { "y" }', "throw 1", "return value"], SYNTAX);
  });

  test("a text that leaves its enclosure, and a comment that eats the end of it", () => {
    all(["value), (globalThis.y = 1", "1 }); (function () {", "value\n) + (1", "a) => (a"], SYNTAX);
    expect(answer(sandbox, "value // )")).toEqual({ value: "abc" });
    all(["this", "(() => this)()"], RESULT);
    all(["arguments", "arguments.callee"], SYNTAX);
  });
});

describe("a pitfall: what crosses the border", () => {
  test("a failure that becomes a value", () => {
    all(
      [
        "({ a: 10n })",
        "(a => (a[0] = a, a))([])",
        "({ get a() { throw 1 } })",
        "({ toJSON() { throw 1 } })",
        "() => 1",
        "class {}",
        "Symbol()",
        "10n",
      ],
      RESULT,
    );
    all(["({ get a() { for (;;); } })", "({ toJSON() { for (;;); } })"], FUEL);
  });

  test("a string that loses NUL, lone surrogates or a byte order mark", () => {
    for (const value of ["a\0b", "\0", "\ud800x", "x\udc00", "\ufeffa", "\ufeff", "\u2028\ud83d\ude00"]) {
      expect(answer(sandbox, "[value, value.length, `${value}${context.path}`]", value, { ...CONTEXT, path: value })).toEqual({
        value: [value, value.length, value + value],
      });
      expect(answer(sandbox, "value", value)).toEqual({ value });
    }
  });

  test("a key __proto__ that sets a prototype of the host", () => {
    const { value } = answer(sandbox, 'JSON.parse(\'{"__proto__": {"x": 1}}\')') as { value: object };
    expect(Object.keys(value)).toEqual(["__proto__"]);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect((value as { x?: unknown }).x).toBeUndefined();
    all(["2n ** 70n", "[2n ** 70n]"], RESULT);
  });

  test("an error that carries the engine's insides", () => {
    for (const text of ["null.x", "missing", "(() => { throw context })()", "(() => { throw globalThis })()", '"a".repeat(1e9)', "10n"]) {
      const { message, details, cause } = failureOf(sandbox, text);
      expect(message.length + JSON.stringify(details).length).toBeLessThan(1200);
      expect(Object.values(details).every((detail) => ["string", "number"].includes(typeof detail))).toBe(true);
      expect(cause).toBeUndefined();
    }
  });

  test("an exception of the host that the engine logs, or lets through", async () => {
    const log = vi.spyOn(console, "error");
    const strange = [new Error("secret"), null, undefined, "secret", { toString: () => "secret" }, Symbol("secret")];
    for (const thrown of strange) {
      const own = await createSandbox({ toHostDns: () => String(AbortSignal.abort(thrown).throwIfAborted()) });
      expect(failureOf(own, 'virtualToHostDNS("a")').message).not.toContain("secret");
      expect(answer(own, '(() => { try { return virtualToHostDNS("a") } catch (error) { return error instanceof Error } })()')).toEqual({
        value: true,
      });
      expect(answer(own, "value")).toEqual({ value: "abc" });
    }
    expect(log).not.toHaveBeenCalled();
  });

  test("fuel that another build of the engine counts otherwise", async () => {
    const { dependencies } = JSON.parse(readFileSync(join(import.meta.dirname, "../../../package.json"), "utf8")) as {
      dependencies: Record<string, string>;
    };
    expect(dependencies["@jitl/quickjs-wasmfile-release-sync"]).toMatch(/^\d+\.\d+\.\d+$/);
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await readEngineFile()));
    expect(Buffer.from(digest).toString("hex")).toBe(ENGINE_DIGEST);
  });
});
