/**
 * Three servers on one etcd that is put back to backups, older and newer ones, under writes, reads and watches on all of them:
 *
 *   npm run test:restores -- --restores 200 [--seed 1] [--within 5]
 *
 * Each server notices each restoration within so many seconds, shows no discarded state from then on, creates what is new,
 * accepts no key that was revoked or never was, and ends watches with 410. The exit code is 1 when one of these does not hold.
 */
import { parseArgs } from "node:util";
import { etcdVersion, lacksRestore } from "../../support/etcd.ts";
import { seedOf } from "../outside/cases.ts";
import { play } from "./play.ts";

const { values } = parseArgs({
  options: {
    restores: { type: "string", default: "20" },
    seed: { type: "string", default: String(seedOf()) },
    within: { type: "string", default: "5" },
  },
});

if (etcdVersion === undefined || lacksRestore !== undefined) {
  console.log(`skipped: there is no ${etcdVersion === undefined ? "etcd" : lacksRestore} here`);
} else {
  const { restores, seed, within } = values;
  console.log(`etcd ${etcdVersion}, seed ${seed}, ${restores} restores`);
  const options = { restores: Number(restores), seed: Number(seed), within: Number(within) };
  const { problems, ...figures } = await play({ ...options, onProgress: (line) => console.log(line) });
  for (const [name, value] of Object.entries(figures)) console.log(`${name}: ${Math.round(value * 10) / 10}`);
  for (const problem of problems.slice(0, 20)) console.log(`BROKEN: ${problem}`);
  console.log(`${problems.length} problems`);
  process.exitCode = problems.length === 0 && figures.created > 0 && figures.lost > 0 ? 0 : 1;
}
