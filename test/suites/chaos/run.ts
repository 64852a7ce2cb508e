/**
 * Storms over real processes: faults on every way to both API servers, random changes on all sides, kills and pauses, and a checker of its
 * own that follows every change to its end.
 *
 *   npm run test:chaos -- --minutes 60 [--seed 1] [--only TEXT] [--alone] [--with REF] [--loop]
 *
 * `--only` takes the faults whose name has the text; with `--alone` there is one virtual cluster; `--with` looks at an earlier version;
 * with `--loop` a patch never comes to rest, and the run must fail. A failure prints what happened around the object, and the seed: the
 * same seed makes the same choices, as far as processes allow. The exit code is 1 after a failure, and where a run of half an hour with all
 * faults lacked one.
 */
import { parseArgs } from "node:util";
import { seedOf } from "../outside/cases.ts";
import { checkOut } from "../outside/earlier.ts";
import { ROOT } from "../outside/processes.ts";
import { World } from "./world.ts";

/** In so many minutes each fault happens. */
const LONG_MINUTES = 30;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "2" },
    seed: { type: "string" },
    only: { type: "string", default: "" },
    alone: { type: "boolean", default: false },
    loop: { type: "boolean", default: false },
    with: { type: "string" },
  },
});
const root = values.with === undefined ? ROOT : checkOut(values.with);
if (root === undefined) {
  console.log(`skipped: this clone does not have ${values.with}`);
  process.exit();
}
const seed = seedOf(values.seed);
console.log(`seed ${seed}, ${values.minutes} minutes`);
const world = new World({ seed, root, only: values.only, alone: values.alone, loop: values.loop });
let storms = 0;
try {
  await world.begin();
  const until = performance.now() + 60_000 * Number(values.minutes);
  while (storms === 0 || performance.now() < until) {
    const from = performance.now();
    const faults = await world.storm();
    storms += 1;
    console.log(`storm ${storms}: ${((performance.now() - from) / 1_000).toFixed(1)} s  ${faults}`);
  }
  await world.end();
  console.log("at rest, and nothing is written, however rarely");
} catch (error) {
  console.log(`FAILED after ${storms} storms of seed ${seed}: ${(error as Error).message}`);
  process.exitCode = 1;
}
const counts = [...world.counts].sort(([, left], [, right]) => right - left);
const never = counts.filter(([, count]) => count === 0).map(([name]) => name);
console.log(`\n${storms} storms, ${world.changes} changes, ${counts.length - never.length} kinds of fault:`);
for (const [name, count] of counts) console.log(`${String(count).padStart(8)}  ${name}`);
if (Number(values.minutes) >= LONG_MINUTES && values.only === "" && never.length > 0) {
  console.log(`FAILED: what never happened shows nothing: ${never.join(", ")}`);
  process.exitCode = 1;
}
await world.close();
process.exit();
