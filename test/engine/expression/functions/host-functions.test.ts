/** One entry of the table is all that a function of expressions needs. */
import { describe, expect, test } from "vitest";
import { declarationsOf, tableOf } from "../../../../docs/generate/host-functions.ts";
import { HOST_FUNCTIONS } from "../../../../src/engine/expression/functions/host-functions.ts";
import { evaluateWithFourth, findDifferencesOfFourth, WITH_FOURTH } from "../../../suites/engines/fourth-function.ts";

test.each(WITH_FOURTH)("$name is declared for editors, and has a row in the reference", ({ name, signature, about }) => {
  expect(declarationsOf(WITH_FOURTH)).toContain(`/** ${about} */\ndeclare function ${name}${signature};\n`);
  const call = `${name}(${signature.slice(1, signature.indexOf(":"))})`;
  expect(tableOf(WITH_FOURTH)).toContain(`| \`${call}\` | ${about} |\n`);
});

test("a call has no types in the reference, however many parameters it has", () => {
  const [one] = HOST_FUNCTIONS;
  expect(tableOf([{ ...one!, name: "cut", signature: "(text: string, from: number): string" }])).toContain("| `cut(text, from)` |");
});

describe("a fourth function", () => {
  test("works with nothing but its entry, beside the others", async () => {
    expect(await findDifferencesOfFourth()).toEqual([]);
  });

  test("cannot be replaced", async () => {
    const text = "(() => { try { globalThis.reversed = 1 } catch { return reversed(value) } })()";
    expect(await evaluateWithFourth(text, 100_000)).toMatchObject({ value: "cba" });
  });

  test("is paid for before its work is done", async () => {
    await expect(evaluateWithFourth("reversed(value)", 4_000)).rejects.toThrow("does not cover");
  });
});
