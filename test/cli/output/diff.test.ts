/**
 * The unified diff of `plan`.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { unifiedDiff } from "../../../src/cli/output/diff.ts";

const name = "host Endpoints vc-blue/db";

test.each([
  { why: "equal texts have none", before: "a\nb\n", after: "a\nb\n", diff: "" },
  { why: "a new text comes whole", before: "", after: "a\nb\n", diff: `--- /dev/null\n+++ ${name}\n@@ -0,0 +1,2 @@\n+a\n+b\n` },
  { why: "an old text goes whole", before: "a\n", after: "", diff: `--- ${name}\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n` },
  {
    why: "three lines of context stand around a change",
    before: "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
    after: "1\n2\n3\n4\nfive\n6\n7\n8\n9\n",
    diff: `--- ${name}\n+++ ${name}\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n`,
  },
  {
    why: "distant changes are apart",
    before: "a\n1\n2\n3\n4\n5\n6\n7\nb\n",
    after: "A\n1\n2\n3\n4\n5\n6\n7\nB\n",
    diff: `--- ${name}\n+++ ${name}\n@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n`,
  },
])("$why", ({ before, after, diff }) => {
  expect(unifiedDiff({ name, before, after })).toBe(diff);
});

const text = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 30 }).map((lines) => lines.map((line) => `${line}\n`).join(""));

describe("of any two texts", () => {
  test("it turns the one into the other", () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        expect(applied(before, unifiedDiff({ name, before, after }))).toBe(after);
      }),
      { numRuns: 500 },
    );
  });

  test("it has no more changes than there must be", () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const diff = unifiedDiff({ name, before, after });
        const changes = diff.split("\n").filter((line) => /^[-+](?![-+])/.test(line)).length;
        const [left, right] = [before, after].map((one) => one.split("\n").slice(0, -1)) as [string[], string[]];
        expect(changes).toBe(left.length + right.length - 2 * longestCommon(left, right));
      }),
      { numRuns: 200 },
    );
  });
});

test("texts that differ all over are shown one after the other, in time", () => {
  const lines = (word: string) => Array.from({ length: 3_000 }, (_, index) => `${word}${index}\n`).join("");
  const diff = unifiedDiff({ name, before: lines("a"), after: lines("b") });
  expect(diff.split("\n").length).toBe(6_000 + 4);
});

test("patch(1) reads it", () => {
  if (spawnSync("patch", ["--version"]).status !== 0) return;
  const folder = mkdtempSync(join(tmpdir(), "endpoint-sync-diff-"));
  try {
    const file = join(folder, "text");
    const before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
    const after = "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n12\n";
    writeFileSync(file, before);
    spawnSync("patch", [file], { input: unifiedDiff({ name: file, before, after }) });
    expect(readFileSync(file, "utf8")).toBe(after);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** A diff carried out on a text, by its line numbers. */
function applied(before: string, diff: string): string {
  if (diff === "") return before;
  const old = before.split("\n").slice(0, -1);
  const result: string[] = [];
  let taken = 0;
  for (const line of diff.split("\n").slice(2, -1)) {
    const [, start, count = "1"] = /^@@ -(\d+)(?:,(\d+))? /.exec(line) ?? [];
    if (start !== undefined) {
      const first = Number(start) - (count === "0" ? 0 : 1);
      while (taken < first) result.push(old[taken++]!);
    } else if (line.startsWith("+")) result.push(line.slice(1));
    else {
      expect(old[taken]).toBe(line.slice(1));
      if (line.startsWith(" ")) result.push(old[taken]!);
      taken += 1;
    }
  }
  return [...result, ...old.slice(taken)].map((line) => `${line}\n`).join("");
}

function longestCommon(left: readonly string[], right: readonly string[]): number {
  const lengths = Array.from({ length: left.length + 1 }, () => new Array<number>(right.length + 1).fill(0));
  for (let i = 1; i <= left.length; i += 1) {
    for (let j = 1; j <= right.length; j += 1) {
      lengths[i]![j] = left[i - 1] === right[j - 1] ? lengths[i - 1]![j - 1]! + 1 : Math.max(lengths[i - 1]![j]!, lengths[i]![j - 1]!);
    }
  }
  return lengths[left.length]![right.length]!;
}
