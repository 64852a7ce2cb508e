/**
 * The guides of the management API: their commands are run as they stand, in order, and print what the pages say.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { everyVerbOf } from "../../src/management/access/permissions/object-permissions.ts";
import { hasKubectl, openGuideShell, stepsOf, type GuideShell } from "../support/guide-shell.ts";
import { blocksOf } from "../support/markdown.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const read = (name: string) => readFileSync(join(ROOT, `docs/guides/${name}.md`), "utf8");

const GUIDES = ["first-key", "teams-and-groups", "share-a-secret", "back-up-the-platform", "use-clusters-directly", "watch-the-platform"];

describe.runIf(hasKubectl).each(GUIDES)("%s", (name) => {
  const steps = stepsOf(blocksOf(read(name)));
  let shell: GuideShell;
  beforeAll(() => {
    shell = openGuideShell({ ready: /get teams\n|first start\n|get namespaces\n|follows its SharedSecret/ });
  });
  afterAll(() => shell.close());

  test("has results to compare", () => {
    expect(steps.filter(({ prints }) => prints !== "").length).toBeGreaterThanOrEqual(name === "watch-the-platform" ? 1 : 3);
  });

  test.each(steps)("line $line", (step) => shell.run(step));
});

test("the verbs of teams-and-groups are those of the source", () => {
  const section = read("teams-and-groups").split("\n## Verbs\n")[1]!.split("\n## ")[0]!;
  const verbs = section
    .split("\n")
    .flatMap((line) => (/^\| `/.test(line) ? [...line.split("|")[1]!.matchAll(/`([^`]+)`/g)].map((match) => match[1]!) : []));
  expect(verbs.sort()).toEqual([...everyVerbOf({ kind: "Team" }), "create", "VerbAll", "*"].sort());
});

test("the reference says of each field what it means", () => {
  const rows = readFileSync(join(ROOT, "docs/reference/management-api.md"), "utf8")
    .split("\n")
    .filter((line) => line.startsWith("| `"));
  expect(rows.length).toBeGreaterThan(100);
  expect(rows.filter((line) => line.split(/(?<!\\)\|/)[3]!.trim() === "")).toEqual([]);
});
