/**
 * Writes what every row of `fixtures/expressions/fuel.json` costs now: `npm run fuel`. To add a row, write its `expression` and run it.
 * The difference in the file is what a change costs; review it as such.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { measureFuel, type FuelCase } from "./fuel-table.ts";

const file = join(import.meta.dirname, "../../../fixtures/expressions/fuel.json");
const cases = JSON.parse(readFileSync(file, "utf8")) as FuelCase[];
const rows = await measureFuel(cases);
writeFileSync(file, `[\n${rows.map((row) => `  ${JSON.stringify(row)}`).join(",\n")}\n]\n`);
console.log(`${rows.length} rows written`);
