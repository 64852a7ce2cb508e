/**
 * Edits of copies on the host, with a fault between the two writes that each of them needs, from outside:
 *
 *   npm run test:edits -- --times 100 [--seed 1] [--only TEXT] [--lanes 2]
 *
 * Every edit is followed to its end. The exit code is 1 when one was lost, or when an Event blames the tenant for it.
 */
import { parseArgs } from "node:util";
import { Chance, runCases, seedOf, type Case } from "../outside/cases.ts";
import { Bench, type Doing, type Followed, type Trouble } from "./bench.ts";

/** Objects that are edited at the same time. The syncer has a connection for each of them. */
const BATCH = 7;

const TROUBLES: readonly Trouble[] = [
  "no fault",
  "answer lost",
  "two answers lost",
  "killed before the answer",
  "killed before the base",
  "lost and killed",
];
const DOINGS: Readonly<Record<string, Doing>> = {
  "one edit": ["set"],
  "second edit": ["set", "set"],
  "edit of another part": ["set", "set another part"],
  removal: ["remove"],
  "removal after an edit": ["set", "remove"],
  "edit after a removal": ["remove", "set"],
  "the tenant edits another part": ["set", "tenant sets another part"],
  "the tenant takes it back": ["set", "tenant sets it back"],
};

const { values } = parseArgs({
  options: {
    times: { type: "string", default: "5" },
    seed: { type: "string" },
    only: { type: "string", default: "" },
    lanes: { type: "string", default: "2" },
  },
});
const times = Number(values.times);
const seed = seedOf(values.seed);
const benches: Bench[] = [];
const total = { edits: 0, lost: 0, blamed: 0 };

/** So often in a row. */
const KILLS = 4;

const cases: Case[] = [
  ...TROUBLES.flatMap((trouble) =>
    Object.entries(DOINGS).map(([what, doing]) => ({
      name: `${trouble}: ${what}`,
      run: () => play((bench, size, chance) => bench.play(size, trouble, doing, chance)),
    })),
  ),
  { name: `killed ${KILLS} times in a row`, run: () => play((bench, size, chance) => bench.playKills(size, KILLS, chance)) },
];

async function play(batch: (bench: Bench, size: number, chance: Chance) => Promise<Followed>): Promise<string> {
  const chance = new Chance(seed + times);
  const bench = benches.pop() ?? (await Bench.start());
  const lost: string[] = [];
  const blamed: string[] = [];
  let edits = 0;
  for (let left = times; left > 0; left -= BATCH) {
    const followed = await batch(bench, Math.min(left, BATCH), chance);
    edits += followed.edits;
    lost.push(...followed.lost);
    blamed.push(...followed.blamed);
  }
  benches.push(bench);
  total.edits += edits;
  total.lost += lost.length;
  total.blamed += blamed.length;
  const told = `${edits} edits, ${lost.length} lost, ${blamed.length} blamed on the tenant`;
  if (lost.length + blamed.length === 0) return told;
  throw new Error(`${told}: ${[...lost.slice(0, 3), ...blamed.slice(0, 2)].join("; ")}`);
}

console.log(`seed ${seed}, ${times} times each`);
await runCases(
  cases.filter(({ name }) => name.includes(values.only)),
  { lanes: Number(values.lanes) },
);
console.log(`${total.edits} edits were followed to their end, ${total.lost} lost, ${total.blamed} blamed on the tenant`);
await Promise.all(benches.map((bench) => bench.close()));
process.exit();
