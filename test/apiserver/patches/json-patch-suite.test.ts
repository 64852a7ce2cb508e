/**
 * The cases of the JSON Patch test suite, which its authors disable one by one where the RFC leaves things open.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe, expect, test } from "vitest";
import { applyJsonPatch, parseJsonPatch } from "../../../src/apiserver/patches/json-patch.ts";

interface Case {
  readonly comment?: string;
  readonly doc: unknown;
  readonly patch?: unknown;
  readonly expected?: unknown;
  readonly error?: string;
  readonly disabled?: boolean;
}

const require = createRequire(import.meta.url);
const casesIn = (file: string) => JSON.parse(readFileSync(require.resolve(`json-patch-test-suite/${file}`), "utf8")) as Case[];

const CASES = ["tests.json", "spec_tests.json"].flatMap((file) =>
  casesIn(file)
    .map((entry, index) => ({ ...entry, why: `${file} ${index}: ${entry.comment ?? entry.error ?? "no comment"}` }))
    .filter(({ disabled, patch }) => disabled !== true && patch !== undefined),
);

const apply = ({ doc, patch }: Case) => applyJsonPatch(doc, parseJsonPatch(patch));

describe("the JSON Patch test suite", () => {
  test("is there", () => {
    expect(CASES.length).toBeGreaterThan(90);
  });

  test.each(CASES.filter(({ error }) => error === undefined))("$why", (entry) => {
    const patched = apply(entry);
    if (Object.hasOwn(entry, "expected")) expect(patched).toEqual(entry.expected);
  });

  test.each(CASES.filter(({ error }) => error !== undefined))("refuses $why", (entry) => {
    expect(() => apply(entry)).toThrow();
  });
});
