/**
 * `docs/guides/playground.md` and the README's section: the commands exist, panes and verdicts are called as on the page, and the pictures
 * are small.
 */
import { readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";
import { run } from "../cli/support.ts";
import { blocksOf, tablesOf } from "../support/markdown.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const GUIDE = read("docs/guides/playground.md");
const [PANES, VERDICTS] = tablesOf(GUIDE).map(({ rows }) => rows);
const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };

test("the commands are there", async () => {
  const command = blocksOf(GUIDE)
    .find(({ language }) => language === "sh")!
    .text.trim();
  expect(command).toBe("npx endpoint-sync playground");
  expect(read("README.md")).toContain(command);
  expect(await run([...command.split(" ").slice(2), "--help"])).toMatchObject({ code: 0 });
  for (const page of [GUIDE, read("README.md")])
    for (const [, script] of page.matchAll(/`npm run ([\w:]+)`/g)) expect(Object.keys(scripts)).toContain(script);
});

test("panes are called as on the page", () => {
  const titles = [...read("src/workbench/playground/page/layout.ts").matchAll(/createPane\(\s*"\w+",\s*\{ title: "([^"]+)"/g)].map(
    ([, title]) => title!,
  );
  expect(PANES!.map(({ pane }) => pane!).sort()).toEqual(titles.sort());
});

test("verdicts are called, and mean, what they do on the page", () => {
  const words = [...read("src/workbench/playground/page/cards/words.ts").matchAll(/text: "([^"]+)"[^}]*meaning: "([^"]+)"/g)];
  const known = new Map(words.map(([, text, meaning]) => [text!, meaning!]));
  expect(VERDICTS!.map(({ verdict }) => verdict)).toEqual(["Lossless", "One-way", "Drifts", "Oscillates"]);
  for (const { verdict, meaning } of VERDICTS!) expect(known.get(verdict!)).toBe(meaning);
});

test.each(["README.md", "docs/guides/playground.md"])("the pictures of %s have a description, and less than 200 KB", (page) => {
  const pictures = [...read(page).matchAll(/!\[([^\]]*)\]\(([^)]+\.png)\)/g)];
  expect(pictures.length).toBeGreaterThan(0);
  for (const [, description, path] of pictures) {
    expect(description!.length).toBeGreaterThan(20);
    expect(statSync(join(ROOT, dirname(page), path!)).size).toBeLessThan(200_000);
  }
});
