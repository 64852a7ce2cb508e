/**
 * The score of seeded bugs:
 *
 *   npm run test:mutants [-- --only host-edit --only fence] [--seeds 2000] [--jobs 2] [--report]
 *
 * First without any bug: all seeds and all named tests must be green. Then every bug by itself, in a private copy of the sources:
 * seeds of the simulator until one fails, and where none does, the named test. Prints what killed each, and exits with 1 if one
 * survives, or cannot be made any more. `--report` writes the table of docs/internals/reliability.md.
 */
import { parseArgs } from "node:util";
import { readMutants, rotten, type Mutant, type NamedTest } from "./catalogue.ts";
import { killerOf, writeReport, type Verdict } from "./report.ts";
import { createWorkspace, type Workspace } from "./workspace.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true, default: [] },
    seeds: { type: "string", default: "2000" },
    jobs: { type: "string", default: "2" },
    report: { type: "boolean", default: false },
  },
});
const seeds = Number(values.seeds);
const startMs = performance.now();

const mutants = readMutants().filter(({ id }) => values.only.length === 0 || values.only.some((part) => id.includes(part)));
if (mutants.length === 0) throw new Error(`No mutant is called like "${values.only.join('" or "')}"`);
const workspaces = Array.from({ length: Number(values.jobs) }, createWorkspace);
try {
  const wrong = mutants.flatMap((mutant) => rotten(workspaces[0]!.root, mutant) ?? []);
  if (wrong.length > 0) throw new Error(wrong.join("\n"));
  await control();
  report(await verdicts());
} finally {
  for (const workspace of workspaces) workspace.remove();
}

/** A test that fails without a bug proves nothing. */
async function control(): Promise<void> {
  const named = mutants.flatMap(({ test }) => test ?? []);
  const asked = mutants.some(({ unseen }) => unseen === undefined);
  const tests = async () => named.length > 0 && checkTests(named, await workspaces.at(-1)!.tests(named));
  const simulation = async () => {
    if (!asked) return;
    const { oracle, message, ran } = await workspaces[0]!.seeds(seeds);
    if (oracle !== undefined) throw new Error(`Seed ${ran} fails without any bug: ${oracle} ${message}`);
  };
  await Promise.all([simulation(), tests()]);
  console.log(`Without a bug: ${asked ? `${seeds} seeds and ` : ""}${named.length} named tests are green, ${secondsSince(startMs)} s\n`);
}

function checkTests(named: readonly NamedTest[], { passed, failed }: { passed: readonly string[]; failed: readonly string[] }): void {
  if (failed.length > 0) throw new Error(`These tests fail without any bug:\n${failed.join("\n")}`);
  const missing = named.filter(({ title }) => !passed.some((full) => full.includes(title)));
  if (missing.length > 0) throw new Error(`These tests do not exist: ${missing.map(({ file, title }) => `${file} > ${title}`).join("; ")}`);
}

/** Each workspace takes the next mutant when it is done with one. */
async function verdicts(): Promise<readonly Verdict[]> {
  const all: Verdict[] = [];
  const left = mutants.keys();
  const work = async (workspace: Workspace) => {
    for (const index of left) {
      const verdict = await verdictIn(workspace, mutants[index]!);
      console.log(`${verdict.killer === undefined ? "SURVIVED" : "killed  "}  ${verdict.mutant.id}: ${killerOf(verdict)}`);
      all[index] = verdict;
    }
  };
  await Promise.all(workspaces.map(work));
  return all;
}

async function verdictIn(workspace: Workspace, mutant: Mutant): Promise<Verdict> {
  const restore = workspace.change(mutant.changes);
  try {
    return await judge(workspace, mutant);
  } finally {
    restore();
  }
}

async function judge(workspace: Workspace, mutant: Mutant): Promise<Verdict> {
  const ran = mutant.unseen === undefined ? await workspace.seeds(seeds) : undefined;
  if (ran?.oracle !== undefined) return { mutant, killer: { seeds: ran.ran, oracle: ran.oracle, message: ran.message ?? "" } };
  if (mutant.test === undefined) return { mutant, killer: undefined };
  const { failed, passed } = await workspace.tests([mutant.test]);
  if (failed.length + passed.length === 0) throw new Error(`The mutant "${mutant.id}" is not a program: its test could not even begin`);
  return { mutant, killer: failed.length === 0 ? undefined : { test: mutant.test } };
}

function report(all: readonly Verdict[]): void {
  const killed = all.filter(({ killer }) => killer !== undefined);
  const bySeeds = killed.filter(({ killer }) => "oracle" in killer!).length;
  console.log(
    `\n${killed.length} of ${all.length} seeded bugs killed: ${bySeeds} by the simulation within ${seeds} seeds, ` +
      `${killed.length - bySeeds} by a named test; ${secondsSince(startMs)} s`,
  );
  if (killed.length < all.length) process.exitCode = 1;
  if (values.report) writeReport(all, seeds);
}

function secondsSince(ms: number): string {
  return ((performance.now() - ms) / 1000).toFixed(0);
}
