/** One entry of the table is all that a function of expressions needs. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkExpression } from "../../../../src/engine/expression/check.ts";
import { HOST_FUNCTIONS, type HostFunction } from "../../../../src/engine/expression/functions/host-functions.ts";
import { Instance } from "../../../../src/engine/sandbox/realm/instance.ts";
import { loadRealm } from "../../../../src/engine/sandbox/realm/load.ts";
import { buildRealm } from "../../../../src/engine/sandbox/realm/realm.ts";
import { CONTEXT } from "../../sandbox/support.ts";

const ROOT = join(import.meta.dirname, "../../../..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

describe.each(HOST_FUNCTIONS)("$name", ({ name, signature, about }) => {
  test("is declared for editors as the table says", () => {
    expect(read("types/context.d.ts")).toContain(`/** ${about} */\ndeclare function ${name}${signature};\n`);
  });

  test("has a row in the reference", () => {
    const call = `${name}(${signature.slice(1, signature.indexOf(":"))})`;
    expect(read("docs/reference/expressions.md")).toContain(`| \`${call}\` | ${about} |`);
  });
});

describe("a fourth function", () => {
  const reversed: HostFunction = {
    name: "reversed",
    signature: "(text: string): string",
    about: "The text from its end.",
    guest: " return host(flat(text)); ",
    fuel: 5_000,
    answer: { fromText: (text) => [...text].reverse().join("") },
  };

  async function evaluate(text: string, fuel: number) {
    const { module } = await loadRealm(64 * 1024);
    const options = { module, memoryBytes: 32 * 2 ** 20, stackBytes: 64 * 1024, functions: [...HOST_FUNCTIONS, reversed], outside: {} };
    const instance = new Instance(options, buildRealm(options));
    return instance.evaluate(checkExpression(text), { value: "abc", valueExists: true, context: CONTEXT, fuel, resultBytes: 1_000 });
  }

  test("works with nothing but its entry, beside the others", async () => {
    expect(await evaluate("reversed(btoa(value)) + typeof atob", 100_000)).toMatchObject({ value: "jJWYfunction" });
  });

  test("cannot be replaced", async () => {
    expect(await evaluate("(() => { try { globalThis.reversed = 1 } catch { return reversed(value) } })()", 100_000)).toMatchObject({
      value: "cba",
    });
  });

  test("is paid for before its work is done", async () => {
    await expect(evaluate("reversed(value)", 4_000)).rejects.toThrow("does not cover");
  });
});
