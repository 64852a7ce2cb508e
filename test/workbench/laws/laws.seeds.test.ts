/**
 * The verdict about a pair does not depend on the seed, and rests on what it says it does.
 */
import { expect, test } from "vitest";
import { checkLaws } from "../../../src/workbench/laws/check-laws.ts";
import { engineWith } from "./laws-support.ts";
import { PAIR_TABLE } from "./pair-table.ts";

const SEEDS = Array.from({ length: 50 }, (_unused, index) => index + 1);

test("the table has sixty pairs, no two alike", () => {
  expect(PAIR_TABLE).toHaveLength(60);
  expect(new Set(PAIR_TABLE.map((row) => JSON.stringify(row))).size).toBe(60);
});

test.each(PAIR_TABLE)(
  "$path $expression and $reverseExpression: $verdict, $evidence, for every seed",
  { timeout: 300_000 },
  async ({ verdict, evidence, ...patch }) => {
    const engine = await engineWith({ endpoints: [patch] });
    try {
      const found = SEEDS.map((seed) => {
        const pair = checkLaws(engine, { seed }).pairs[0]!;
        return `${seed}: ${pair.verdict}, ${pair.evidence.kind}`;
      });
      expect(found).toEqual(SEEDS.map((seed) => `${seed}: ${verdict}, ${evidence}`));
    } finally {
      engine.dispose();
    }
  },
);
