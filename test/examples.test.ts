/**
 * What the doc comments show is true: every `@example` runs against the exports of its file, and yields what its comments say.
 *
 * An example may also use what other files export, if there is no doubt which file is meant. It is left to the reader if it
 * names anything else (`client`, `registry`), or awaits something and expects nothing (it needs a cluster or a file).
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { EngineError } from "../src/base/errors.ts";
import { findExamples, isLiteral, type Example } from "./support/examples.ts";

const ROOT = resolve(import.meta.dirname, "..");

const texts = new Map(
  readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .sort()
    .map((file) => [`src/${file}`, readFileSync(join(ROOT, "src", file), "utf8")]),
);

/** Name → the files that export it as a value, and as what. */
const exporters = new Map<string, { file: string; kind: string }[]>();
for (const [file, text] of texts) {
  for (const [, kind, name] of text.matchAll(/^export (?:async )?(function|class|const)\*? (\w+)/gm)) {
    exporters.set(name!, [...(exporters.get(name!) ?? []), { file, kind: kind! }]);
  }
}

const examples = [...texts].flatMap(([file, text]) => findExamples(file, text));
const runnable = examples.filter(
  (example) => example.script !== "" && missingNames(example).length === 0 && (!example.awaits || example.expectations.length > 0),
);

function roomOf({ file }: { file: string }): string {
  return file.split("/").slice(0, -1).slice(0, 2).join("/");
}

/** The file that means `name` in an example: its own, one of its room, or the only one. */
function exporterOf(name: string, example: Example): string | undefined {
  const all = exporters.get(name) ?? [];
  const near = all.filter((exporter) => roomOf(exporter) === roomOf(example));
  // "endpoints" in an example is the reader's own rather than a constant of that name far away.
  const far = all.filter(({ kind }) => kind !== "const" || /^[A-Z]/.test(name));
  const candidates = [all.filter(({ file }) => file === example.file), near, far];
  return candidates.find((files) => files.length === 1)?.[0]!.file;
}

function missingNames(example: Example): string[] {
  return example.names.filter((name) => exporterOf(name, example) === undefined);
}

async function load(name: string, example: Example): Promise<unknown> {
  const module = (await import(join(ROOT, exporterOf(name, example)!))) as Record<string, unknown>;
  return module[name];
}

/** Runs an example and answers how many values were compared. */
async function run(example: Example): Promise<number> {
  const scope = new Map<string, unknown>();
  const named = example.expectations.filter((comment) => /^\w+$/.test(comment) && exporterOf(comment, example) !== undefined);
  for (const name of [...example.names, ...named]) scope.set(name, await load(name, example));
  let compared = 0;
  const yields = (number: number, value: unknown) => {
    const comment = example.expectations[number]!;
    if (!isLiteral(comment) && !scope.has(comment)) return;
    compared += 1;
    expect(value).toEqual(scope.has(comment) ? scope.get(comment) : literal(comment));
  };
  const throws = async (number: number, action: () => Promise<unknown>) => {
    compared += 1;
    const error = await action().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(EngineError);
    expect((error as EngineError).code).toBe(/^throws (\w+)/.exec(example.expectations[number]!)![1]);
  };
  await compileScript(["yields", "throws", ...scope.keys()], example.script)(yields, throws, ...scope.values());
  return compared;
}

const AsyncFunction = (async () => {}).constructor as new (...parts: string[]) => (...values: unknown[]) => Promise<void>;

/** The braces let an example declare a name that it is given as well. */
function compileScript(names: readonly string[], script: string): (...values: unknown[]) => Promise<void> {
  return new AsyncFunction(...names, `"use strict"; {\n${script}\n}`);
}

function literal(text: string): unknown {
  return new Function(`"use strict"; return (${text});`)() as unknown;
}

describe(`${runnable.length} of ${examples.length} examples`, () => {
  test.each([...new Set(examples.map(roomOf))])("run, and some of them are in %s", (room) => {
    expect(runnable.filter((example) => roomOf(example) === room).length).toBeGreaterThan(0);
  });

  test.each(runnable)("$file: $subject", async (example) => {
    const literals = example.expectations.filter((comment) => isLiteral(comment) || comment.startsWith("throws "));
    expect(await run(example)).toBeGreaterThanOrEqual(literals.length);
  });
});

test("the runner notices a value, an error and a type that are not what the comment says", async () => {
  const example = (code: string): Example =>
    findExamples("src/kube/object/key.ts", `/**\n * @example\n${code.replace(/^/gm, " * ")}\n */\nexport const x = 1;`)[0]!;
  for (const right of [
    'parseKey("a/b"); // { namespace: "a", name: "b" }',
    'const key: ObjectKey = parseKey("a/b");\nkey.name;\n// "b"',
    'const text = formatKey({ namespace: "", name: "b" }); // "b"',
    'parseKey("a/b") as unknown; // the key',
    'assert(false, "x"); // throws INTERNAL',
    "[parseKey][0]; // parseKey",
  ]) {
    await expect(run(example(right)), right).resolves.toBeTypeOf("number");
  }
  for (const wrong of [
    'parseKey("a/b"); // { namespace: "a", name: "c" }',
    'const key: ObjectKey = parseKey("a/b");\nkey.name;\n// "c"',
    'const text = formatKey({ namespace: "", name: "b" }); // undefined',
    'parseKey("a/b").missing.name;',
    'parseKey("a/b"); // throws INTERNAL',
    'assert(false, "x"); // throws USAGE',
    "[parseKey][0]; // formatKey",
  ]) {
    await expect(run(example(wrong)), wrong).rejects.toThrow();
  }
});
