/**
 * Whose the objects on a host are, from outside: clusters and syncers are processes, and a checker with names of its own watches the host.
 *
 *   npm run test:owners -- [--pairs 18] [--only TEXT] [--lanes 2]
 *
 * Nothing in it is random. Two virtual clusters of one name are paired in 18 ways, of which the first five have every shape once. The exit
 * code is 1 when a case failed.
 */
import { parseArgs } from "node:util";
import { runCases } from "../outside/cases.ts";
import { CLAIMS } from "./claims.ts";
import { pairs } from "./pairs.ts";
import { PLACES } from "./places.ts";

const { values } = parseArgs({
  options: {
    pairs: { type: "string", default: "9" },
    only: { type: "string", default: "" },
    lanes: { type: "string", default: "2" },
  },
});
const all = [...pairs().slice(0, Number(values.pairs)), ...CLAIMS, ...PLACES];
const cases = all.filter(({ name }) => name.includes(values.only));
console.log(`${cases.length} cases, each with a host of its own`);
await runCases(cases, { lanes: Number(values.lanes) });
process.exit();
