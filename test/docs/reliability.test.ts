/**
 * `docs/internals/reliability.md`: its faults are those of the simulator, its promises those of the oracles, and its counts those of its tables.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { EVENT_FAULTS } from "../../src/workbench/simulator/faults/event-faults.ts";
import { PROCESS_FAULTS } from "../../src/workbench/simulator/faults/process-faults.ts";
import { REQUEST_FAULTS } from "../../src/workbench/simulator/faults/request-faults.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const PAGE = readFileSync(join(ROOT, "docs/internals/reliability.md"), "utf8");
const sectionOf = (heading: string) => PAGE.split(`\n## ${heading}\n`)[1]!.split("\n## ")[0]!;

const promises = [...sectionOf("Faults and promises").matchAll(/^\| ([SL]\d+) \| (.+) \| (\d+) \| (\d+) \|$/gm)].map(
  ([, oracle = "", says = "", found, kills]) => ({ oracle, says, found: Number(found), kills: Number(kills) }),
);

test("faults are those of the simulator, under its names, each in its group", () => {
  const rows = [...sectionOf("Faults and promises").matchAll(/^\| (requests|events and lists|processes and clusters) \| (.+) \|$/gm)];
  const told = rows.map(([, , names = ""]) => [...names.matchAll(/`([^`]+)`/g)].map((match) => match[1]!).sort());
  const known = [REQUEST_FAULTS, EVENT_FAULTS, PROCESS_FAULTS].map((faults) => faults.map(({ name }) => name).sort());
  expect(told).toEqual(known);
});

test("promises are those that an oracle watches, and the guide has them all", () => {
  const folder = join(ROOT, "src/workbench/simulator");
  const source = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => readFileSync(join(folder, file), "utf8"))
    .join("\n");
  const watched = [...new Set([...source.matchAll(/"([SL]\d+)"/g)].map((match) => match[1]!))];
  expect(promises.map(({ oracle }) => oracle).sort()).toEqual(watched.sort());
  const guide = readFileSync(join(ROOT, "docs/guides/simulate.md"), "utf8").split("## What is checked")[1]!;
  expect(watched.filter((oracle) => !new RegExp(`\\b${oracle}\\b`).test(guide))).toEqual([]);
});

test("counts are those of the track record and of the seeded bugs", () => {
  const times = (names: readonly string[], oracle: string) => names.filter((name) => name === oracle).length;
  const found = [...sectionOf("Track record").matchAll(/^\| \d[^|]*\| ([SL][\d, SL]*) \|/gm)].flatMap((match) => match[1]!.split(", "));
  const killed = [...sectionOf("Seeded bugs").matchAll(/\| ([SL]\d+), seed \d+ \|$/gm)].map((match) => match[1]!);
  expect(found.length).toBeGreaterThan(10);
  expect(killed.length).toBeGreaterThan(30);
  expect(promises.map(({ oracle, found, kills }) => [oracle, found, kills])).toEqual(
    promises.map(({ oracle }) => [oracle, times(found, oracle), times(killed, oracle)]),
  );
  const total = /killed\*\*: (\d+) by the simulation/.exec(PAGE)![1];
  expect(killed.length).toBe(Number(total));
});
