/**
 * Every block of code in the documentation is run by a test that says so, or stands in one short list with the reason why not. All
 * of them can be read: YAML and JSON parse, TypeScript and JavaScript have no syntax errors, commands exist and take their options.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { loadAll } from "js-yaml";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { parseConfig, type ConfigResult } from "../../src/engine/config/config.ts";
import { parseSettings, type SettingsResult } from "../../src/engine/config/settings.ts";
import { commandLinesOf, refusalOf } from "../support/command-lines.ts";
import { DOC_RUNNERS, NOT_RUN, type DocRunner } from "../support/doc-runners.ts";
import { blocksOf, type Block } from "../support/markdown.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

/** What a reader copies and uses. */
const USED = ["sh", "bash", "console", "ts", "typescript", "js", "yaml", "json"];
/** What is printed, and pictures. */
const SHOWN = ["text", "mermaid"];

const pages = [
  "README.md",
  ...readdirSync(join(ROOT, "docs"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".md"))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .sort(),
];

type PageBlock = Block & { readonly page: string };
const all: readonly PageBlock[] = pages.flatMap((page) => blocksOf(read(page)).map((block) => ({ page, ...block })));
const used = all.filter(({ language }) => USED.includes(language));

const concerns = ({ page }: DocRunner, block: PageBlock) => (page.endsWith("/") ? block.page.startsWith(page) : block.page === page);
const runnersOf = (block: PageBlock) => DOC_RUNNERS.filter((runner) => concerns(runner, block) && runner.runs(block));
const excuseOf = ({ page, text }: PageBlock) => NOT_RUN.find((entry) => entry.page === page && text.startsWith(entry.begins));
const place = ({ page, line, language, words }: PageBlock) => `${page}:${line} ${[language, ...words].join(" ")}`;

describe("every block", () => {
  test("has a language that says what it is", () => {
    expect(all.filter(({ language }) => ![...USED, ...SHOWN].includes(language)).map(place)).toEqual([]);
    expect(used.length).toBeGreaterThan(150);
  });

  test("is run by a test, or listed in test/support/doc-runners.ts with the reason why not", () => {
    expect(used.filter((block) => runnersOf(block).length === 0 && excuseOf(block) === undefined).map(place)).toEqual([]);
  });

  test("is not both", () => {
    expect(used.filter((block) => runnersOf(block).length > 0 && excuseOf(block) !== undefined).map(place)).toEqual([]);
  });
});

test("no guide stops a job by its number, which bash gives again", () => {
  expect(used.filter(({ page, text }) => page !== "README.md" && text.includes("kill %")).map(place)).toEqual([]);
});

describe("every runner", () => {
  test.each(DOC_RUNNERS)("$test runs blocks of $page, which it reads", (runner) => {
    expect(existsSync(join(ROOT, runner.test)), runner.test).toBe(true);
    expect(used.filter((block) => concerns(runner, block) && runner.runs(block)).length).toBeGreaterThan(0);
    const name = runner.page.replace(/\/$/, "").split("/").at(-1)!.replace(/\.md$/, "");
    const texts = [read(runner.test), ...(runner.test.startsWith("test/cli/") ? [read("test/cli/support.ts")] : [])];
    expect(texts.some((text) => text.includes(name))).toBe(true);
  });

  test("and every reason is for a block that is there", () => {
    expect(NOT_RUN.filter((entry) => !used.some((block) => excuseOf(block) === entry))).toEqual([]);
    expect(NOT_RUN.filter(({ why }) => why.length < 10)).toEqual([]);
  });
});

describe("syntax", () => {
  test.each(used.filter(({ language }) => ["yaml", "json"].includes(language)))("$page:$line parses", ({ language, text }) => {
    const parsed: unknown = language === "json" ? (JSON.parse(text) as unknown) : loadAll(text);
    expect(typeof parsed).toBe("object");
  });

  test.each(used.filter(({ language }) => ["ts", "typescript", "js"].includes(language)))(
    "$page:$line has no syntax error",
    ({ language, text }) => {
      const { diagnostics = [] } = ts.transpileModule(text, { fileName: `a.${language}`, reportDiagnostics: true });
      expect(diagnostics.map(({ messageText }) => messageText)).toEqual([]);
    },
  );

  const scripts = used.flatMap((block) => {
    if (block.language === "console")
      return [{ ...block, text: [...block.text.matchAll(/^\$ (.*)$/gm)].map((match) => match[1]!).join("\n") }];
    return ["sh", "bash"].includes(block.language) ? [block] : [];
  });

  test.each(scripts)("$page:$line is a script, of commands that exist with options that they take", async ({ text }) => {
    const checked = spawnSync("bash", ["-n"], { input: text, encoding: "utf8" });
    expect([checked.status, checked.stderr]).toEqual([0, ""]);
    for (const line of commandLinesOf(text)) expect(await refusalOf(line), line).toBeUndefined();
    const { scripts: known } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
    const named = [...text.matchAll(/\bnpm run (?:--silent )?([\w:]+)/g)].map((match) => match[1]!);
    expect(named.filter((name) => !Object.hasOwn(known, name))).toEqual([]);
  });
});

test("configurations and settings of bring-references are valid", () => {
  const blocks = used.filter(({ page }) => page === "docs/guides/bring-references.md");
  const found = blocks.flatMap(({ words: [name], text }): (ConfigResult | SettingsResult)[] => {
    if (name === "vcluster.yaml") return [parseConfig(text)];
    return name === "settings.yaml" ? [parseSettings(text)] : [];
  });
  expect(found.length).toBe(blocks.length);
  expect(found.flatMap((result) => (result.ok ? [] : result.problems))).toEqual([]);
});
