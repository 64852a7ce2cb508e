/**
 * `docs/guides/types-in-your-editor.md`: its files and tables, through TypeScript itself.
 */
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSandbox } from "../../src/engine/sandbox/sandbox.ts";
import { blocksOf, tablesOf } from "../support/markdown.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const PAGE = readFileSync(join(ROOT, "docs/guides/types-in-your-editor.md"), "utf8");
/** One per process, so that two runs of the tests do not meet. */
const FOLDER = join(ROOT, ".cache", `docs-types-${process.pid}`);
const EXPRESSIONS = join(FOLDER, "expressions");

const files = blocksOf(PAGE).filter(({ words }) => words.length > 0);
const KINDS = { "text expressions": "endpoint-sync/expressions/text", "open expressions": "endpoint-sync/expressions" };
const rowsOf = (name: string) => tablesOf(PAGE).flatMap((table) => (table.name === name ? table.rows : []));

beforeAll(() => {
  mkdirSync(join(FOLDER, "node_modules"), { recursive: true });
  symlinkSync(ROOT, join(FOLDER, "node_modules/endpoint-sync"));
  for (const { words, text } of files) {
    const file = join(FOLDER, words[0]!);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
});
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

/** What TypeScript says of each of some texts, beside the page's own file and after it. */
function check(types: string, expressions: readonly string[]): readonly string[] {
  const file = join(EXPRESSIONS, "tsconfig.json");
  const { config } = ts.readConfigFile(file, (path) => ts.sys.readFile(path)) as { config: { compilerOptions: object } };
  const own = { ...config, compilerOptions: { ...config.compilerOptions, types: [types] } };
  const names = expressions.map((_, index) => join(EXPRESSIONS, `row-${index}.js`));
  expressions.forEach((expression, index) => writeFileSync(names[index]!, `${expression};\n`));
  const { fileNames, options } = ts.parseJsonConfigFileContent(own, ts.sys, EXPRESSIONS, {}, file);
  expect(fileNames.map((name) => basename(name)).sort()).toEqual([...names.map((name) => basename(name)), "team.js"].sort());
  const problems = ts.getPreEmitDiagnostics(ts.createProgram({ rootNames: fileNames, options }));
  names.forEach((name) => rmSync(name));
  const isAbout = (name: string) => problems.filter((problem) => problem.file === undefined || problem.file.fileName === name);
  const words = (name: string) => isAbout(name).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
  return [join(EXPRESSIONS, "team.js"), ...names].map((name) => words(name).join("\n"));
}

test("the files of the page are right as they stand", () => {
  expect(files.map(({ words }) => words[0])).toEqual(["expressions/tsconfig.json", "expressions/team.js"]);
  expect(check("endpoint-sync/expressions/text", [])).toEqual([""]);
});

describe.each(Object.entries(KINDS))("%s", (name, types) => {
  const own = rowsOf(name);
  let told: readonly string[];
  beforeAll(
    () =>
      void (told = check(
        types,
        own.map(({ expression = "" }) => expression),
      ).slice(1)),
  );

  const cases = own.map(({ line, expression, "what the editor reports": says = "" }, index) => ({ line, expression, says, index }));
  test.each(cases)("line $line: $expression", ({ says, index }) => {
    if (says === "") expect(told[index]).toBe("");
    else expect(told[index]).toContain(says);
  });

  test("are some", () => expect(own.length, name).toBeGreaterThan(3));
});

test("every expression of the page is one that the sandbox takes, comments and casts included", async () => {
  const sandbox = await createSandbox();
  const rows = tablesOf(PAGE).flatMap((table) => table.rows);
  for (const { expression = "" } of rows) expect(() => sandbox.compile(expression)).not.toThrow();
  sandbox.dispose();
});
