import { describe, expect, test } from "vitest";
import { findDifferences, type FuelRow } from "../../suites/engines/fuel-table.ts";
import { readTable } from "./support.ts";

const rows = readTable<FuelRow>("expressions", "fuel.json");

describe("the fuel of expressions", () => {
  test("is what the table says (npm run fuel writes it again)", async () => {
    expect(rows.length).toBeGreaterThanOrEqual(100);
    expect(await findDifferences(rows)).toEqual([]);
  });

  test("is the same in the opposite order", async () => {
    expect(await findDifferences(rows.toReversed())).toEqual([]);
  });

  test("of the reference expressions leaves thousands of evaluations for one object", () => {
    const reference = rows.slice(0, 5);
    expect(reference.map(({ expression }) => expression)).toContain("value.replace(/^a/, 'b') + '-' + context.vcluster.name");
    for (const { fuel } of reference) expect(fuel).toBeLessThan(2000);
  });
});
