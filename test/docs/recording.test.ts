/**
 * The recording of the demonstration: what it shows is what the demonstration shows today, but for times, versions and where long names
 * are cut. `npm run docs:recording` records it again.
 */
import { readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { recordDemo } from "../../docs/generate/recorded-demo.ts";
import { COLUMNS, recordingSvg, rowsOfRecording } from "../../docs/generate/recording.ts";
import { kubectlPath } from "../deploy/overlays.ts";

const FILE = resolve(import.meta.dirname, "../../docs/images/demo.svg");
const SVG = readFileSync(FILE, "utf8");
const README = readFileSync(join(FILE, "../../../README.md"), "utf8");

test("is small, plays by itself, loads nothing else, and is in the README", () => {
  expect(statSync(FILE).size).toBeLessThan(60 * 1024);
  expect(SVG).not.toMatch(/<script|\son\w+=|href=|url\((?!#)|@import|https?:\/\/(?!www\.w3\.org\/2000\/svg)/);
  expect(SVG).toContain("prefers-reduced-motion: no-preference");
  expect(README).toMatch(/!\[[^\]]{20,}\]\(docs\/images\/demo\.svg\)/);
});

test("names no folder of a machine", () => {
  expect(rowsOfRecording(SVG).filter((row) => /(?:^|[\s=])\/\w/.test(row))).toEqual([]);
});

/** Which objects the table has, and every other line without numbers; what wraps belongs together. */
function shapeOf(rows: readonly string[]): { readonly objects: readonly string[]; readonly lines: ReadonlySet<string> } {
  const isRow = (row: string) => /^(?:endpoints|services|secrets) /.test(row);
  const text = rows
    .filter((row) => !isRow(row))
    .map((row) => (row.length === COLUMNS ? row : `${row}\n`))
    .join("");
  return {
    // Versions and lags make columns wider or narrower, and so cut names at other places.
    objects: [...new Set(rows.filter(isRow).map((row) => row.split(" ")[0]!))].map(
      (kind) => `${kind} ${rows.slice(0, rows.indexOf("")).filter((row) => row.startsWith(`${kind} `)).length}`,
    ),
    lines: new Set(text.replace(/[\d.]+/g, "N").match(/\S+/g)),
  };
}

describe.runIf(kubectlPath !== undefined)("a recording of today", () => {
  test("has the same shape", { timeout: 900_000 }, async () => {
    const today = shapeOf(rowsOfRecording(recordingSvg(await recordDemo(kubectlPath!), { title: "", about: "" })));
    const kept = shapeOf(rowsOfRecording(SVG));
    expect(kept.objects.length).toBe(3);
    expect(kept.objects).toEqual(today.objects);
    expect([...kept.lines].sort()).toEqual([...today.lines].sort());
  });
});

test("a session is drawn with its waits cut short, wrapped, and escaped", () => {
  const events = [
    { atMs: 0, text: "echo", typed: true },
    { atMs: 60_000, text: `<&"> ${"x".repeat(200)}\n` },
  ];
  const svg = recordingSvg(events, { title: "A & B", about: "" });
  expect(rowsOfRecording(svg)).toEqual(["$ echo", `<&"> ${"x".repeat(121)}`, "x".repeat(79)]);
  expect(svg).toContain(".e1 { animation-delay: 1.60s; }");
  expect(svg).toContain("A &amp; B");
});
