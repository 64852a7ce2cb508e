/**
 * Cost of data and texts: all work of the host for an evaluation is charged, and grows with the size of its input.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { createFuelBudget, createSandbox, type Sandbox } from "../../../src/engine/sandbox/sandbox.ts";
import { isEngineError } from "../../../src/base/errors.ts";
import { CONTEXT, failureOf } from "./support.ts";

/** The fuel may grow by so much when the data is twice as large. */
const GROWTH_MAX = 2.2;

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createSandbox();
});

/** Fuel of an evaluation charged to its object, stopped or not. */
function chargedFor(text: string, value: unknown, virtualObject: unknown = null): number {
  try {
    const { charged, contextCharged } = sandbox.evaluate(sandbox.compile(text), { value, context: { ...CONTEXT, virtualObject } });
    return charged + contextCharged;
  } catch (error) {
    if (!isEngineError(error)) throw error;
    const { charged, contextCharged = 0 } = error.details as { charged: number; contextCharged?: number };
    return charged + contextCharged;
  }
}

function mapOf(count: number, key: (index: number) => string): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [key(index), "v"]));
}

/** Keys that fall into one chain of a table. */
const colliding = (index: number) => String(index * 131_072);

const address = (index: number) => ({ ip: `10.0.${index >> 8}.${index & 255}`, hostname: `db-${index}`, targetRef: { kind: "Pod" } });

const SHAPES: readonly { readonly name: string; readonly make: (size: number) => unknown; readonly from: number }[] = [
  { name: "labels", make: (size) => mapOf(size, (index) => `example.com/key-${index}`), from: 256 },
  { name: "numbers as keys", make: (size) => mapOf(size, String), from: 256 },
  { name: "addresses", make: (size) => [{ addresses: Array.from({ length: size }, (_, index) => address(index)) }], from: 64 },
  { name: "ports", make: (size) => [{ ports: Array.from({ length: size }, (_, port) => ({ name: `p${port}`, port })) }], from: 64 },
  { name: "subsets", make: (size) => Array.from({ length: size }, (_, index) => ({ addresses: [address(index)] })), from: 64 },
  { name: "zeros", make: (size) => Array<number>(size).fill(0), from: 1024 },
  { name: "empty lists", make: (size) => Array.from({ length: size }, () => []), from: 1024 },
  { name: "maps of their own keys", make: (size) => Array.from({ length: size }, (_, index) => ({ [`k${index}`]: 1 })), from: 256 },
  { name: "a long text", make: (size) => "a".repeat(size), from: 8192 },
  { name: "a long text of wide characters", make: (size) => "é\ud800".repeat(size), from: 8192 },
  { name: "a long key", make: (size) => ({ ["k".repeat(size)]: 1 }), from: 8192 },
];

/** Data whose cost would grow with its square, if nothing ended it. */
const HOSTILE: readonly { readonly name: string; readonly make: (size: number) => unknown; readonly sizes: readonly number[] }[] = [
  { name: "keys that collide", make: (size) => mapOf(size, colliding), sizes: [16, 64, 256, 1024, 4096, 16_384] },
  { name: "keys that collide more", make: (size) => mapOf(size, (index) => String(index * 2 ** 20)), sizes: [16, 256, 2048] },
  { name: "nested lists", make: (size) => JSON.parse("[".repeat(size) + "]".repeat(size)) as unknown, sizes: [16, 64, 200] },
  { name: "maps of keys that collide", make: (size) => Array.from({ length: size }, () => mapOf(64, colliding)), sizes: [4, 64, 512] },
];

/** Price of one evaluation whose input is refused, and for each character of it. */
const REFUSAL = 1_250_000;
const PER_CHARACTER = 170;

describe.each(SHAPES)("$name", ({ make, from }) => {
  test.each([
    { use: "a value", cost: (data: unknown) => chargedFor("value", data) },
    { use: "a context", cost: (data: unknown) => chargedFor("context.virtualObject === null ? 1 : 2", 1, data) },
  ])("cost at most in proportion as $use", ({ cost }) => {
    for (let size = from; size < from * 16; size *= 2) expect(cost(make(size * 2)) / cost(make(size))).toBeLessThan(GROWTH_MAX);
  });
});

describe.each(HOSTILE)("$name", ({ make, sizes }) => {
  test.each(sizes)("of size %d cost no more than their number of characters allows", (size) => {
    const data = make(size);
    const most = REFUSAL + PER_CHARACTER * JSON.stringify(data).length;
    expect(chargedFor("1", data)).toBeLessThan(most);
    expect(chargedFor("context.virtualObject === null ? 1 : 2", 1, data)).toBeLessThan(most);
  });
});

describe("data that costs more than its size allows", () => {
  const labels = mapOf(16_384, colliding);

  test("is refused before the expression runs, and the error says so", () => {
    const { code, message, details } = failureOf(sandbox, "value", labels);
    expect(code).toBe("EXPRESSION_FUEL");
    expect(message).toContain("was not evaluated: reading its ");
    expect(message).toContain("many keys that are large round numbers");
    expect(message).not.toContain("endless loop");
    expect(details["fuel"]).toBe(0);
    expect(details["charged"]).toBeGreaterThan(1_000_000);
  });

  test("is charged each time, so that an object with it comes to its end", () => {
    expect(chargedFor("value", labels)).toBeGreaterThanOrEqual(4_000_000);
    expect(chargedFor("context.virtualObject === 1 ? 1 : 2", 1, labels)).toBeGreaterThanOrEqual(4_000_000);
  });
});

describe("an evaluation that is stopped", () => {
  test.each([
    { by: "fuel", text: "(() => { for (;;); })()" },
    {
      by: "the engine's own tables",
      text: "(() => { const o = {}; for (let i = 0; i < 2000; i++) o[i * 1048576] = 1; for (;;) o[2001 * 1048576] })()",
    },
    { by: "a call of the host in a loop", text: "(() => { for (;;) try { virtualToHostDNS('a'.repeat(1e6)) } catch {} })()" },
  ])("by $by is charged in full", ({ text }) => {
    expect(chargedFor(text, 1)).toBeGreaterThan(5_000_000);
  });

  test("by memory in a used instance is tried again in a fresh one once, and then always begins in a fresh one", async () => {
    const own = await createSandbox({ limits: { fuel: 50_000_000 } });
    own.evaluate(own.compile("value"), { value: 1, context: CONTEXT });
    const text = "(() => { const all = []; for (let i = 0; i < 1e4; i++) all.push('x'.repeat(1500) + i); return all.length })()";
    const evaluate = () => own.evaluate(own.compile(text), { value: 1, context: CONTEXT });
    const [first, second, third] = [evaluate(), evaluate(), evaluate()];
    expect([first.value, second.value, third.value]).toEqual([1e4, 1e4, 1e4]);
    expect(new Set([first.fuel, second.fuel, third.fuel]).size).toBe(1);
    expect(second.charged).toBeLessThan(first.charged);
    expect(third.charged).toBe(second.charged);
  });

  test.each([32, 64, 128])("by memory pays for each of the %d MiB that it made the machine clear", async (mib) => {
    const own = await createSandbox({ limits: { memoryBytes: mib * 1024 * 1024, fuel: 500_000_000 } });
    const budget = createFuelBudget(Number.MAX_SAFE_INTEGER);
    const expression = own.compile("(() => { const text = 'x'.repeat(5e4), all = []; for (;;) all.push(text.slice(1)) })()");
    expect(() => own.evaluate(expression, { value: 1, context: CONTEXT }, { budget })).toThrow("bytes of memory");
    expect(budget.limit - budget.remaining).toBeGreaterThan(1_200_000 + (mib - 16) * 128_000);
  });

  test("by its own tables says what to look for", () => {
    const { message } = failureOf(sandbox, "(() => { for (;;) ({ a: 1, b: [1, 2, 3] }) })()");
    expect(message).toContain("caused more work in the engine's internal tables");
  });
});

test("a context is charged alike, whether it was brought in before or not", () => {
  const virtualObject = { metadata: { labels: mapOf(500, (index) => `k${index}`) } };
  const expression = sandbox.compile("Object.keys(context.virtualObject.metadata.labels).length");
  const prices = Array.from({ length: 3 }, () => sandbox.evaluate(expression, { value: 1, context: { ...CONTEXT, virtualObject } }));
  expect(new Set(prices.map(({ contextCharged }) => contextCharged)).size).toBe(1);
  expect(new Set(prices.map(({ charged }) => charged)).size).toBe(1);
  expect(prices[0]!.contextCharged).toBeGreaterThan(10_000);
});
