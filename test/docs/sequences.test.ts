/**
 * `docs/guides/test-sequences.md`: its file passes, fails as it says, and every event, fault and expectation that it lists can be
 * written so.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { load } from "js-yaml";
import { expect, test } from "vitest";
import { runSuite } from "../../src/workbench/patch-tests/run-suite.ts";
import { SEQUENCE } from "../../src/workbench/sequences/reading/schema.ts";
import { blocksOf, tablesOf } from "../support/markdown.ts";

const PAGE = readFileSync(join(resolve(import.meta.dirname, "../.."), "docs/guides/test-sequences.md"), "utf8");
const FILE = "web.patch-test.yaml";
const BLOCKS = blocksOf(PAGE);
const TEXT = BLOCKS.find(({ words }) => words.includes(FILE))!.text;

async function run(text: string) {
  return runSuite(FILE, { read: () => Promise.resolve(text) });
}

test("the command of the page runs its file, which passes", async () => {
  const [command, printed] = [BLOCKS.findIndex(({ language }) => language === "sh")].flatMap((index) => BLOCKS.slice(index, index + 2));
  expect(command!.text.trim()).toBe(`npx endpoint-sync test ${FILE}`);
  const { problems, results } = await run(TEXT);
  expect(problems).toEqual([]);
  const lines = results.map(({ verdict, name }) => `${verdict === "passed" ? "PASS" : verdict}  ${name}`);
  expect(printed!.text.trim().split("\n")).toEqual(lines);
});

test("the file fails as the page says without its reverseExpression", async () => {
  const { problems, results } = await run(TEXT.replace(/^ *reverseExpression: .*\n/m, ""));
  expect(problems).toEqual([]);
  expect(results.map(({ verdict }) => verdict)).toEqual(["passed", "failed"]);
  const { message, explanation } = results[1]!.failures[0]!;
  expect(BLOCKS.find(({ words }) => words.includes("failure"))!.text.trimEnd()).toBe(`${message}\n${explanation}`);
});

/** The first column of a table. */
function listed(word: "event" | "fault" | "expectation"): string[] {
  return tablesOf(PAGE)
    .filter(({ name }) => name === `sequence ${word}s`)
    .flatMap(({ rows }) => rows.map((row) => row[word]!));
}

/** What is wrong with the file when it has this sequence only. */
async function problemsOf(sequence: string): Promise<readonly string[]> {
  const rival = `  rival:\n    metadata: { name: own, namespace: vc-blue }\n`;
  const { problems } = await run(TEXT.replace(/^sequences:[^]*/m, `${rival}sequences:\n  - ${sequence}\n`));
  return problems.map(({ message }) => message);
}

test.each(listed("event"))("the event %s can be written so", async (event) => {
  const concrete = event
    .replace(/^fault: …$/, "fault: { crash: syncer }")
    .replace(/patches: …/, "patches: []")
    .replace(/set: …/, "set: { a.b: 1 }");
  expect(await problemsOf(`{ it: x, events: [{ at: 1s, ${concrete} }], expect: [{ quiescent: true }] }`)).toEqual([]);
});

test.each(listed("fault"))("the fault %s can be written so", async (fault) => {
  expect(await problemsOf(`{ it: x, events: [{ at: 1s, fault: ${fault} }], expect: [{ quiescent: true }] }`)).toEqual([]);
});

test.each(listed("expectation"))("the expectation %s can be written so", async (expectation) => {
  const concrete = expectation.replace("[…]", "[{ exists: { path: subsets } }]");
  expect(await problemsOf(`{ it: x, expect: [{ ${concrete} }] }`)).toEqual([]);
});

test("the page lists every fault", () => {
  const modifiers = ["on", "for", "times", "behind"];
  const known = Object.keys(SEQUENCE.fields.events.items.fields.fault.fields).filter((name) => !modifiers.includes(name));
  expect(listed("fault").map((fault) => Object.keys(load(fault) as object)[0])).toEqual(known);
});
