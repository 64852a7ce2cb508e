/** The page of figures beside the benches that write it. Figures themselves are not judged here: they are one machine's. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const page = readFileSync(join(ROOT, "docs/performance.md"), "utf8");
const figures = page.slice(page.indexOf("\n## Figures\n"));

const benches = readdirSync(join(ROOT, "bench"))
  .filter((file) => file.endsWith(".bench.ts"))
  .map((file) => {
    const question = /^export const question = "(.+)";$/m.exec(readFileSync(join(ROOT, "bench", file), "utf8"))?.[1];
    return { name: file.slice(0, -".bench.ts".length), question };
  })
  .sort((left, right) => left.name.localeCompare(right.name));

describe("docs/performance.md", () => {
  test("has a section for each bench and no other, under the bench's question", () => {
    const sections = [...figures.matchAll(/^### (\w+)\n\n(.+)$/gm)].filter(([, name]) => name !== "Goals");
    expect(sections.map(([, name, question]) => ({ name, question }))).toEqual(benches);
  });

  test("says what was measured, where and with what", () => {
    expect(figures).toMatch(/^Measured at commit `[0-9a-f]{7,}\+?` on .+, \d+ cores, Node \d+\.\d+\.\d+, with .+\.$/m);
  });

  test("has a line for each goal, with a figure", () => {
    const goals = /^### Goals\n\n((?:\|.*\n)+)/m.exec(figures)![1]!.trim().split("\n").slice(2);
    expect(
      goals.filter((line) => !/^\| .+: .+ compared with .+ \| at (least|most) [\d.]+ × .+ \| [\d.]+ × \| (met|missed) \|$/.test(line)),
    ).toEqual([]);
    expect(goals.length).toBeGreaterThan(10);
  });

  test("shows pictures that exist and can be read on light and on dark paper", () => {
    const pictures = [...figures.matchAll(/^!\[.+\]\((.+\.svg)\)$/gm)].map(([, file]) => join(ROOT, "docs", file!));
    expect(pictures.length).toBeGreaterThan(2);
    expect(pictures.filter((file) => !existsSync(file) || !readFileSync(file, "utf8").includes("prefers-color-scheme: dark"))).toEqual([]);
  });

  test("names commands that exist", () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: Record<string, string> };
    const named = [...page.matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => name!);
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  });
});

test("the figures of the README are those of this page, of one run", () => {
  const cellsOf = (row: string) => row.split("|").slice(1, -1).map((cell) => cell.trim()); // prettier-ignore
  const readme = /^<!-- figures: syncer -->\n\n((?:\|.*\n)+)/m.exec(readFileSync(join(ROOT, "README.md"), "utf8"))![1]!;
  const rows = readme.trim().split("\n").map(cellsOf).slice(2);
  expect(rows.length).toBeGreaterThan(3);
  const run = /^\| what \| endpoint-sync \| client-node \| bare undici \|\n((?:\|.*\n)+)/m.exec(page)![1]!;
  const known = run.trim().split("\n").map(cellsOf);
  const isKnown = ([, own = "?", other = "?"]: string[]) => known.some((cells) => cells[1]!.endsWith(own) && cells[2]!.endsWith(other));
  expect(rows.filter((row) => !isKnown(row))).toEqual([]);
});

describe("figures of vCluster's own syncer", () => {
  const rowsOf = (text: string) => {
    const table = /^<!-- figures: vCluster -->\n\n((?:\|.*\n)+)/m.exec(text)?.[1] ?? "";
    return table.trim().split("\n").slice(2).map((row) => row.split("|").slice(1, -1).map((cell) => cell.trim())); // prettier-ignore
  };
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  const known = rowsOf(page);

  test("in the README are those of this page, with some that are worse", () => {
    const rows = rowsOf(readme);
    expect(rows.length).toBeGreaterThan(3);
    expect(rows.filter((row) => !known.some((one) => one.join() === row.join()))).toEqual([]);
    expect(rows.some(([, own, other]) => Number(own) > Number(other))).toBe(true);
  });

  test("in the README's first lines are those of this page", () => {
    const first = readme.slice(0, readme.indexOf("\n## "));
    const pairs = [...first.matchAll(/([\d.]+) ms(?: of CPU)? instead of ([\d.]+) ms/g)].map(([, own, other]) => [own, other]);
    expect(pairs.length).toBe(2);
    expect(pairs.filter(([own, other]) => !known.some((row) => row[1] === own && row[2] === other))).toEqual([]);
  });

  test("say when, of which version and where they were measured", () => {
    const section = page.slice(page.indexOf("\n### Beside vCluster's own syncer\n"));
    expect(section).toMatch(/on \d{4}-\d\d-\d\d,\nagainst version `[0-9a-f]{7}`[^|]*kube-apiserver \d+\.\d+\.\d+/);
  });
});

test("the installation of the benches' peers names no registry host and no download address", () => {
  expect(readFileSync(join(ROOT, "bench/package-lock.json"), "utf8")).not.toMatch(/https?:/);
});
