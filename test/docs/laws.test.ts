/**
 * The verdicts that the guide to patches shows, from the real command line.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { LAW } from "../../src/workbench/laws/schema.ts";
import { run } from "../cli/support.ts";
import { blocksOf, tablesOf } from "../support/markdown.ts";

const GUIDE = readFileSync(join(import.meta.dirname, "../../docs/guides/write-patches.md"), "utf8");
const rows = tablesOf(GUIDE).find(({ name }) => name === "laws")?.rows ?? [];
const settings = blocksOf(GUIDE).find(({ words }) => words[0] === "settings.yaml")!.text;

describe("a row of the guide's verdicts", () => {
  test.each(rows)("line $line: $patch is $verdict", async ({ patch = "", verdict = "", meaning = "", "exit code": exit = "" }) => {
    const files = { "settings.yaml": settings, "one.yaml": `sync: { toHost: { endpoints: { patches: [${patch}] } } }\n` };
    const { code, stdout } = await run(["validate", "--config", "one.yaml", "--settings", "settings.yaml", "--laws"], { files });
    expect(stdout).toContain(`: ${verdict}, ${meaning}${verdict === "lossless" ? "; " : "\n"}`);
    expect(code).toBe(Number(exit[0]));
    expect(stdout.includes("with 1 warning")).toBe(exit.includes("with a warning"));
  });

  test("is there for every verdict", () => {
    expect(rows.map(({ verdict }) => verdict)).toEqual(["lossless", "one-way", "drifts", "oscillates"]);
  });
});

test("the guide explains every law that a test file can name", () => {
  const explained = [...GUIDE.matchAll(/^- \*([a-z ]+)\*:/gm)].map(([, name = ""]) =>
    name.replace(/ (\w)/g, (_space, letter: string) => letter.toUpperCase()),
  );
  // convergent is another word for settles.
  expect(explained.sort()).toEqual(
    Object.keys(LAW.fields)
      .filter((name) => name !== "convergent")
      .sort(),
  );
});
