import { describe, expect, test } from "vitest";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { CONTEXT, answer, createTestSandbox, readTable } from "./support.ts";
import type { Answer } from "./support.ts";

interface Attack {
  readonly why: string;
  /** The text, or its pieces with the number of their repetitions. */
  readonly expression: string | { readonly parts: readonly (readonly [text: string, times: number])[] };
  /** Default "abc". */
  readonly value?: unknown;
  readonly want: Answer;
}

/** Touches what attacks aim at: globals, prototypes, hidden intrinsics, the scope's own functions. */
const SENTINEL = `[typeof x, typeof ({}).foo, typeof [].map, JSON.stringify({ a: 1 }), String(undefined), /a/.test("a"), context.vcluster.name,
  virtualToHostDNS("a.b.svc"), atob(btoa("q")), [..."ab"].length, [...new Map([[1, 2]]).keys()].length, String(new Error("q").message),
  (function* () { yield 1 })().next().value, Object.keys(globalThis).length, new Date(0).toISOString(), Symbol.for("left").description].join("|")`;

const CATEGORIES = ["time", "memory", "stack", "escape", "pollution", "determinism", "strings", "results"];

describe.each(CATEGORIES)("an attack on %s", (category) => {
  let sandbox: Sandbox;
  let before: unknown;
  const attacks = readTable<Attack>("attacks", `${category}.json`);
  const sentinel = () => sandbox.evaluate(sandbox.compile(SENTINEL), { value: 1, context: CONTEXT });

  test.each(attacks)("$why", async ({ expression, want, ...row }) => {
    sandbox ??= await createTestSandbox();
    before ??= sentinel();
    const text = typeof expression === "string" ? expression : expression.parts.map(([part, times]) => part.repeat(times)).join("");
    // As text, because comparison of objects would overlook a key __proto__.
    expect(JSON.stringify(answer(sandbox, text, "value" in row ? row.value : "abc"))).toBe(JSON.stringify(want));
    // Not only the answer: an attack that left anything behind would also change the steps it takes.
    expect(sentinel()).toEqual(before);
  });
});
