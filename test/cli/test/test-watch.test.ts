/**
 * `test --watch` on real files: the tests that run again, and the reports. Nothing here judges time.
 */
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { runCli } from "../../../src/cli/program.ts";
import { createTestTerminal, type TestTerminal } from "../support.ts";
import { WAIT } from "../../support/patience.ts";

let folder: string;
let terminal: TestTerminal;
let ended: Promise<number>;
/** Characters of the output that earlier steps have looked at. */
let seen: number;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "endpoint-sync-watch-"));
  terminal = createTestTerminal();
  seen = 0;
});
afterEach(async () => {
  terminal.interrupt();
  await ended;
  rmSync(folder, { recursive: true });
});

function write(name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

const watch = (...argv: readonly string[]) => void (ended = runCli(["test", "--watch", ...argv], terminal));

/** Output from here until it waits again, without the folder's name. */
async function nextRun(): Promise<string> {
  const end = "Press Ctrl-C to stop.\n";
  await vi.waitFor(() => expect(`${terminal.stdout.slice(seen)}\n${terminal.stderr}`).toContain(end), WAIT);
  const next = terminal.stdout.indexOf(end, seen) + end.length;
  const text = terminal.stdout.slice(seen, next);
  seen = next;
  return text.replaceAll(`${folder}/`, "");
}

const config = (prefix: string) => `sync:
  toHost:
    endpoints:
      patches:
        - path: metadata.labels.tier
          expression: '"${prefix}" + value'
`;

const suite = (name: string, { configFile = "vcluster.yaml", wants = "x-web" } = {}) => `apiVersion: cli.endpointsync.dev/v1alpha1
kind: PatchTest
metadata: { name: ${name} }
config: ${configFile}
tests:
  - it: is marked
    object: { metadata: { name: web, labels: { tier: web } } }
    asserts:
      - equal: { path: metadata.labels.tier, value: ${wants} }
`;

const ran = (text: string) => [...text.matchAll(/^(\S+\.patch-test\.yaml) /gm)].map(([, file]) => file);
const sum = (text: string) => /^PASS \d+ {2}FAIL \d+/m.exec(text)?.[0];

function writeTwo(): void {
  write("vcluster.yaml", config("x-"));
  write("other/vcluster.yaml", config("x-"));
  write("a.patch-test.yaml", suite("a"));
  write("other/b.patch-test.yaml", suite("b"));
}

test("runs all, and then only what depends on the file that changed", async () => {
  writeTwo();
  watch(folder);
  const first = await nextRun();
  expect([ran(first), sum(first)]).toEqual([["a.patch-test.yaml", "other/b.patch-test.yaml"], "PASS 2  FAIL 0"]);
  expect(first).toContain("Watching 2 test files.");

  write("other/vcluster.yaml", config("y-"));
  const second = await nextRun();
  expect([ran(second), sum(second)]).toEqual([["other/b.patch-test.yaml"], "PASS 1  FAIL 1"]);
  expect(second).toMatch(/^\nChanged: other\/vcluster\.yaml\n/);

  // Failures elsewhere are still counted.
  write("a.patch-test.yaml", `${suite("a")}  - { it: is there, object: { metadata: { name: web } }, result: unchanged }\n`);
  const third = await nextRun();
  expect([ran(third), sum(third)]).toEqual([["a.patch-test.yaml"], "PASS 2  FAIL 1"]);
});

test("survives files that are saved by renaming, again and again", async () => {
  writeTwo();
  watch(folder);
  await nextRun();
  for (const [prefix, result] of [
    ["y-", "PASS 1  FAIL 1"],
    ["x-", "PASS 2  FAIL 0"],
    ["z-", "PASS 1  FAIL 1"],
  ] as const) {
    write(".vcluster.yaml.new", config(prefix));
    renameSync(join(folder, ".vcluster.yaml.new"), join(folder, "vcluster.yaml"));
    const text = await nextRun();
    expect([ran(text), sum(text)]).toEqual([["a.patch-test.yaml"], result]);
  }
});

test("follows files and folders that appear and disappear", async () => {
  writeTwo();
  watch(folder);
  await nextRun();

  write("new/deep/c.patch-test.yaml", suite("c", { configFile: "../../vcluster.yaml" }));
  const appeared = await nextRun();
  expect([ran(appeared), sum(appeared)]).toEqual([["new/deep/c.patch-test.yaml"], "PASS 3  FAIL 0"]);
  expect(appeared).toMatch(/^\nNew: new\/deep\/c\.patch-test\.yaml\n/);

  rmSync(join(folder, "new"), { recursive: true });
  const removed = await nextRun();
  expect([ran(removed), sum(removed)]).toEqual([[], "PASS 2  FAIL 0"]);
  expect(removed).toMatch(/^\nRemoved: new\/deep\/c\.patch-test\.yaml\n/);

  write("new/deep/c.patch-test.yaml", suite("c", { configFile: "../../vcluster.yaml", wants: "y-web" }));
  expect(sum(await nextRun())).toBe("PASS 2  FAIL 1");
  write("new/deep/c.patch-test.yaml", suite("c", { configFile: "../../vcluster.yaml" }));
  expect(sum(await nextRun())).toBe("PASS 3  FAIL 0");
});

test("runs what waited for a file that was missing", async () => {
  write("a.patch-test.yaml", suite("a"));
  watch(folder);
  expect(await nextRun()).toContain("1 file could not be run");
  write("vcluster.yaml", config("x-"));
  expect(sum(await nextRun())).toBe("PASS 1  FAIL 0");
  rmSync(join(folder, "vcluster.yaml"));
  expect(await nextRun()).toContain("1 file could not be run");
});

test("starts in a folder that has no tests yet", async () => {
  write("vcluster.yaml", config("x-"));
  watch(folder);
  expect(await nextRun()).toContain("Watching 0 test files.");
  write("a.patch-test.yaml", suite("a"));
  expect(sum(await nextRun())).toBe("PASS 1  FAIL 0");
});

test("a file that is named comes back", async () => {
  writeTwo();
  watch(join(folder, "a.patch-test.yaml"));
  expect(ran(await nextRun())).toEqual(["a.patch-test.yaml"]);
  rmSync(join(folder, "a.patch-test.yaml"));
  expect(await nextRun()).toMatch(/^\nRemoved: a\.patch-test\.yaml\n/);
  write("a.patch-test.yaml", suite("a"));
  expect(ran(await nextRun())).toEqual(["a.patch-test.yaml"]);
});

test("golden files that it writes itself are not a change", async () => {
  writeTwo();
  write("a.patch-test.yaml", suite("a").replace(/ {4}asserts:\n.*\n/, "    expected: golden.yaml\n"));
  watch(folder, "-u");
  await nextRun();
  expect(readFileSync(join(folder, "golden.yaml"), "utf8")).toContain("x-web");
  write("vcluster.yaml", config("y-"));
  expect(await nextRun()).toMatch(/^\nChanged: vcluster\.yaml\n/);
  expect(readFileSync(join(folder, "golden.yaml"), "utf8")).toContain("y-web");
  // The next run is that of the next change.
  write("vcluster.yaml", config("z-"));
  expect(await nextRun()).toMatch(/^\nChanged: vcluster\.yaml\n/);
});

test("ends with 0 when it is stopped, and 2 when what is named does not exist", async () => {
  writeTwo();
  watch(folder);
  await nextRun();
  terminal.interrupt();
  expect(await ended).toBe(0);
  terminal = createTestTerminal();
  watch(join(folder, "nowhere"));
  expect(await ended).toBe(2);
});
