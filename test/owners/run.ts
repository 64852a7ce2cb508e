/**
 * Whose the objects on a host are, from outside: clusters and syncers are processes, and a checker with names of its own watches the host.
 *
 *   npm run test:owners [-- --short] [--only TEXT] [--lanes 2]
 *
 * Nothing in it is random. The exit code is 1 when a case failed.
 */
import { parseArgs } from "node:util";
import { runCases } from "../outside/cases.ts";
import { CLAIMS } from "./claims.ts";
import { pairs } from "./pairs.ts";
import { PLACES } from "./places.ts";

const { values } = parseArgs({
  options: { short: { type: "boolean", default: false }, only: { type: "string", default: "" }, lanes: { type: "string", default: "2" } },
});
const all = [...CLAIMS, ...PLACES, ...pairs(values.short)];
const cases = all.filter(({ name }) => name.includes(values.only));
console.log(`${cases.length} cases, each with a host of its own`);
await runCases(cases, { lanes: Number(values.lanes) });
process.exit();
