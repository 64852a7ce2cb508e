/**
 * The seeded bugs. Each is a small textual replacement, kept as data in `mutants/*.yaml`:
 *
 * ```yaml
 * - id: deletes-without-a-live-read                   # unique
 *   why: The source is not read live before a delete  # what is wrong, in a sentence
 *   file: src/engine/reconcile/object-strategy.ts
 *   find: operation.confirm === "none"                # must occur exactly once in the file
 *   replace: "true"
 *   also: [{ file: …, find: …, replace: … }]          # more replacements, where it takes several
 *   test: test/engine/sync/a.test.ts > title                 # the named test that kills it, if no seed does; a title may be a part of one
 *   unseen: There are no EndpointSlices in it         # why the simulation is not asked; left out, it is
 * ```
 *
 * @module
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";

/** One replacement in one file; paths are relative to the root of the repository. */
export interface Change {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

/** A vitest file, and a part of the full title of some of its tests. */
export interface NamedTest {
  readonly file: string;
  readonly title: string;
}

/** One seeded bug. */
export interface Mutant {
  readonly id: string;
  readonly why: string;
  readonly changes: readonly Change[];
  readonly test: NamedTest | undefined;
  /** Why the simulation is not asked. */
  readonly unseen: string | undefined;
}

type Entry = Change & { readonly [field: string]: unknown; readonly also?: readonly Change[] };

const FOLDER = join(import.meta.dirname, "mutants");
const FIELDS = ["id", "why", "file", "find", "replace", "also", "test", "unseen"];

/** Reads all mutants. What is wrong with one of them is thrown as an error that names it. */
export function readMutants(): readonly Mutant[] {
  const mutants = readdirSync(FOLDER)
    .sort()
    .flatMap((name) => load(readFileSync(join(FOLDER, name), "utf8")) as readonly Entry[])
    .map(mutantOf);
  const twice = mutants.find(({ id }, index) => mutants.findIndex((other) => other.id === id) !== index);
  if (twice !== undefined) throw new Error(`Two mutants are called "${twice.id}"`);
  return mutants;
}

function mutantOf(entry: Entry): Mutant {
  const { id, why, file, find, replace, also = [], test, unseen } = entry;
  const unknown = Object.keys(entry).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined) throw new Error(`The mutant "${String(id)}" has an unknown field "${unknown}"`);
  const texts = [id, why, file, find, replace, ...also.flatMap((change) => [change.file, change.find, change.replace])];
  if (texts.some((text) => typeof text !== "string")) throw new Error(`The mutant "${String(id)}" lacks a field`);
  if (unseen !== undefined && test === undefined) throw new Error(`Nothing is said to kill the mutant "${String(id)}"`);
  return {
    id: id as string,
    why: why as string,
    changes: [{ file, find, replace }, ...also],
    test: test === undefined ? undefined : namedTest(String(test)),
    unseen: unseen as string | undefined,
  };
}

function namedTest(text: string): NamedTest {
  const [file, ...title] = text.split(" > ");
  return { file: file!, title: title.join(" > ") };
}

/** Why a mutant cannot be made of the sources below `root` any more; undefined when it can. */
export function rotten(root: string, { id, changes, test }: Mutant): string | undefined {
  for (const { file, find } of changes) {
    const count = existsSync(join(root, file)) ? readFileSync(join(root, file), "utf8").split(find).length - 1 : 0;
    if (count !== 1) return `The mutant "${id}" looks for a text that must occur once in ${file}, and occurs ${count} times: ${find}`;
  }
  return test === undefined || existsSync(join(root, test.file))
    ? undefined
    : `The mutant "${id}" names ${test.file}, which does not exist`;
}
