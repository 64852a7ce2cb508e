/**
 * Random sequences of make, change, rotate, disable, delete and wait, of people who come and go, and of limits that change:
 *
 *   npm run test:key-chains [-- --sequences 10000] [--seed 1]
 *
 * After each step every key works exactly if an independent model says so, and every request is answered as the model does. The first
 * difference ends it with the seed and the steps; `--sequences 1 --seed N` plays it again. The exit code is 1 then.
 */
import { parseArgs } from "node:util";
import { play } from "./play.ts";

const { values } = parseArgs({ options: { sequences: { type: "string", default: "10000" }, seed: { type: "string", default: "1" } } });
const [sequences, first] = [Number(values.sequences), Number(values.seed)];
const startMs = performance.now();
try {
  await play(Array.from({ length: sequences }, (_none, index) => first + index));
} catch (error) {
  console.log((error as Error).message);
  process.exit(1);
}
console.log(`${sequences} sequences from seed ${first} on, as the model says, ${((performance.now() - startMs) / 1_000).toFixed(0)} s`);
