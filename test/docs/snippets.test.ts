/**
 * The TypeScript of the guides and the README: it compiles against the package's public surface, runs, and prints what the page
 * says.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { blocksOf } from "../support/markdown.ts";

const ROOT = resolve(import.meta.dirname, "../..");
/** One per process, so that two runs of the tests do not meet. */
const FOLDER = join(ROOT, ".cache", `docs-snippets-${process.pid}`);

/** What a user imports, and where it stands in this checkout. */
const ENTRIES: Readonly<Record<string, string>> = {
  "endpoint-sync": "src/index.ts",
  "endpoint-sync/clusters": "src/clusters.ts",
  "endpoint-sync/management": "src/management.ts",
  "endpoint-sync/testing": "src/testing.ts",
};

const guides = readdirSync(join(ROOT, "docs/guides")).map((name) => `docs/guides/${name}`);
const snippets = ["README.md", ...guides].flatMap((page) => {
  const blocks = blocksOf(readFileSync(join(ROOT, page), "utf8"));
  return blocks.flatMap((block, index) => {
    const next = blocks[index + 1];
    if (block.language !== "ts") return [];
    const name = `${page.replaceAll(/[/.]/g, "-")}-${block.line}.ts`;
    return [{ page, line: block.line, text: block.text, file: join(FOLDER, name), prints: next?.language === "text" ? next.text : "" }];
  });
});

beforeAll(() => {
  mkdirSync(FOLDER, { recursive: true });
  for (const { file, text } of snippets) writeFileSync(file, inThisCheckout(text));
});
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

test("the package offers what the snippets import from it", () => {
  const { exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { exports: Record<string, { default: string }> };
  for (const [name, source] of Object.entries(ENTRIES)) {
    const entry = exports[name.replace("endpoint-sync", ".")];
    expect(entry?.default).toBe(source.replace(/^src/, "./dist").replace(/ts$/, "js"));
  }
});

test("snippets compile", () => {
  const { config } = ts.readConfigFile(join(ROOT, "tsconfig.json"), (path) => ts.sys.readFile(path)) as {
    config: { compilerOptions: object };
  };
  const { options } = ts.convertCompilerOptionsFromJson({ ...config.compilerOptions, noUnusedLocals: false }, ROOT);
  const program = ts.createProgram({ rootNames: snippets.map(({ file }) => file), options });
  const problems = snippets.flatMap(({ file, page, line }) => {
    const source = program.getSourceFile(file);
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map(({ messageText, start = 0 }) => {
      const at = line + (source?.getLineAndCharacterOfPosition(start).line ?? 0) + 1;
      return `${page}:${at} ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
    });
  });
  expect(problems).toEqual([]);
});

describe("a snippet runs and prints what stands below it", () => {
  test.each(snippets)("$page:$line", async ({ file, prints }) => {
    const lines: string[] = [];
    const print = vi.spyOn(console, "log").mockImplementation((...words: unknown[]) => void lines.push(`${words.map(String).join(" ")}\n`));
    try {
      await import(/* @vite-ignore */ pathToFileURL(file).href);
    } finally {
      print.mockRestore();
    }
    expect(lines.join("")).toBe(prints);
  });
});

/** The snippet with the sources of this checkout in place of the installed package. */
function inThisCheckout(text: string): string {
  return text.replace(/(?<=from ")endpoint-sync[^"]*(?=")/g, (name) => relative(FOLDER, join(ROOT, ENTRIES[name] ?? name)));
}
