/** The record of a long run of seeds: finished chunks are not run again, and unfinished ones are never trusted. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openRecord, remaining, sourcesOf, type Header, type Report } from "../../suites/simulation/record.ts";

const HEADER: Header = { first: 1, last: 25, steps: 200, replicas: 2, sources: "abc" };
const VIOLATION = { oracle: "S3", message: "gone", step: 7 };

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "record-"));
  path = join(folder, "run.jsonl");
});
afterEach(() => rmSync(folder, { recursive: true }));

function report(first: number, last: number): Report {
  const failed = [{ seed: first, setting: "plain", violation: VIOLATION }];
  return { first, last, ms: 5, steps: 9, writes: 3, elapsedMs: 8, seeds: { crash: 1 }, times: { crash: 2 }, failed };
}

test("what was recorded is there when it is opened again", () => {
  openRecord(path, HEADER).add(report(1, 10));
  openRecord(path, HEADER).add(report(21, 25));
  expect(openRecord(path, HEADER).reports).toEqual([report(1, 10), report(21, 25)]);
});

test("a line that was never finished does not count, and harms none that follows", () => {
  openRecord(path, HEADER).add(report(1, 10));
  appendFileSync(path, '{"first":11,"la');
  openRecord(path, HEADER).add(report(11, 20));
  expect(openRecord(path, HEADER).reports).toEqual([report(1, 10), report(11, 20)]);
});

test.each([{ last: 26 }, { steps: 100 }, { replicas: 1 }, { sources: "abd" }])("a record of something else is refused: %j", (other) => {
  openRecord(path, HEADER).add(report(1, 10));
  const before = readFileSync(path, "utf8");
  expect(() => openRecord(path, { ...HEADER, ...other })).toThrow("and not");
  expect(readFileSync(path, "utf8")).toBe(before);
});

test("chunks that are not done yet remain, the last one shorter", () => {
  expect(remaining(HEADER, [], 10)).toEqual([
    { first: 1, last: 10 },
    { first: 11, last: 20 },
    { first: 21, last: 25 },
  ]);
  expect(remaining(HEADER, [report(11, 20), report(21, 25)], 10)).toEqual([{ first: 1, last: 10 }]);
  expect(remaining(HEADER, [report(1, 10), report(11, 20), report(21, 25)], 10)).toEqual([]);
});

test("the digest of the sources tells those of the simulation from others", () => {
  const own = sourcesOf(join(import.meta.dirname, "../../suites/simulation"));
  expect(own).toBe(sourcesOf(join(import.meta.dirname, "../../suites/simulation")));
  expect(own).not.toBe(sourcesOf(join(import.meta.dirname, "..")));
  expect(sourcesOf(join(import.meta.dirname, "../.."), ["suites/simulation"])).not.toBe(sourcesOf(join(import.meta.dirname, "../..")));
});

test("the digest leaves out only what exists", () => {
  expect(() => sourcesOf(join(import.meta.dirname, "../.."), ["suites/simulation", "client"])).toThrow("has no client");
});
