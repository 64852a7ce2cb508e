/**
 * The verdict about a pair does not depend on the seed.
 */
import { expect, test } from "vitest";
import type { PatchDefinition } from "../../src/engine/patch/patch-definition.ts";
import type { PairVerdict } from "../../src/workbench/laws/check-laws.ts";
import { check } from "./laws-support.ts";

const IP = "subsets[*].addresses[*].ip";
const NOTE = "metadata.annotations.note";
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];

const PAIRS: readonly (readonly [string, PairVerdict, string, string])[] = [
  [IP, "drifts", 'value.replace(/^10\\.1\\./, "172.20.")', 'value.replace(/^172\\.20\\./, "10.1.")'],
  [
    IP,
    "drifts",
    'value.startsWith("10.1.") ? "172.20." + value.slice(5) : value',
    'value.startsWith("172.20.") ? "10.1." + value.slice(7) : value',
  ],
  [IP, "drifts", 'value.replace("192.168.", "10.0.")', 'value.replace("10.0.", "192.168.")'],
  [NOTE, "drifts", 'value === "" ? "none" : value', 'value === "none" ? "" : value'],
  [NOTE, "drifts", 'value.startsWith("x-") ? value : "x-" + value', "value.slice(2)"],
  [NOTE, "drifts", 'value.replace(/^prod$/, "production")', 'value.replace(/^production$/, "prod")'],
  [NOTE, "drifts", '({ a: "b", b: "c" })[value] ?? value', '({ b: "a", c: "b" })[value] ?? value'],
  [NOTE, "lossless", '({ a: "b", b: "a" })[value] ?? value', '({ a: "b", b: "a" })[value] ?? value'],
  [NOTE, "lossless", '"x-" + value', "value.slice(2)"],
  [NOTE, "oscillates", '"x-" + value', "value"],
];

test.each(PAIRS)("%s %s for every seed: %s", async (path, verdict, expression, reverseExpression) => {
  const patch: PatchDefinition = { path, expression, reverseExpression };
  const found: Record<number, string> = {};
  for (const seed of SEEDS) found[seed] = (await check(patch, { seed })).verdict;
  expect(found).toEqual(Object.fromEntries(SEEDS.map((seed) => [seed, verdict])));
});
