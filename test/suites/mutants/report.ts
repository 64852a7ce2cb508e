/** Results of seeded bugs, as lines and as a table of docs/internals/reliability.md. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readMutants, type Mutant, type NamedTest } from "./catalogue.ts";

/** The test that killed a mutant; undefined if it survived. */
export interface Verdict {
  readonly mutant: Mutant;
  readonly killer: { readonly seeds: number; readonly oracle: string; readonly message: string } | { readonly test: NamedTest } | undefined;
}

const PAGE = join(import.meta.dirname, "../../../docs/internals/reliability.md");
const BEGIN = "<!-- mutants: written by npm run test:mutants -- --report -->";
const END = "<!-- end of mutants -->";

/** The killer in a line. */
export function killerOf({ mutant, killer }: Verdict): string {
  if (killer === undefined) return mutant.why;
  if ("test" in killer) return `${killer.test.file} > ${killer.test.title}`;
  return `${killer.oracle}, seed ${killer.seeds}: ${killer.message.slice(0, 160)}`;
}

/** Writes the table between the two marks of the page. What was not run keeps the row that it has. */
export function writeReport(verdicts: readonly Verdict[], seeds: number): void {
  const text = readFileSync(PAGE, "utf8");
  const [start, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (start < 0 || end < start) throw new Error(`${PAGE} has no place for the table of mutants`);
  const before = [...text.slice(start, end).matchAll(/^\| `([\w-]+)` \|.*$/gm)].map(([row, id]) => [id!, row] as const);
  const now = verdicts.map((verdict) => [verdict.mutant.id, rowOf(verdict)] as const);
  const known = new Map([...before, ...now]);
  const rows = readMutants().flatMap(({ id }) => known.get(id) ?? []);
  const survived = rows.filter((row) => row.endsWith("| nothing |")).length;
  const bySeeds = rows.filter((row) => /, seed \d+ \|$/.test(row)).length;
  const score =
    `**${rows.length - survived} of ${rows.length} seeded bugs are killed**: ${bySeeds} by the simulation within ${seeds} seeds, ` +
    `${rows.length - survived - bySeeds} by a named test.`;
  const table = ["| bug | what is wrong | what kills it |", "|---|---|---|", ...rows].join("\n");
  writeFileSync(PAGE, `${text.slice(0, start)}${BEGIN}\n\n${score}\n\n${table}\n\n${text.slice(end)}`);
}

function rowOf(verdict: Verdict): string {
  return `| \`${verdict.mutant.id}\` | ${cell(verdict.mutant.why)} | ${cell(placeOf(verdict))} |`;
}

function placeOf({ killer }: Verdict): string {
  if (killer === undefined) return "nothing";
  if ("test" in killer) return `\`${killer.test.file}\`: ${killer.test.title}`;
  return `${killer.oracle === "threw" ? "an assertion" : killer.oracle}, seed ${killer.seeds}`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
