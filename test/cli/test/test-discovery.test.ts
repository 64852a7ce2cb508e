/**
 * Which test files a command line means.
 */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { discoverTests } from "../../../src/cli/test/files/discover.ts";
import { globPattern, globRoot, isGlob } from "../../../src/cli/test/files/glob.ts";
import { parseFilter } from "../../../src/cli/test/name-filter.ts";

const folder = mkdtempSync(join(tmpdir(), "endpoint-sync-discovery-"));
afterAll(() => rmSync(folder, { recursive: true }));

const FILES = [
  "a.patch-test.yaml",
  "b/c/d.patch-test.yaml",
  "b/other.yaml",
  "b/x [1].patch-test.yaml",
  "node_modules/p/e.patch-test.yaml",
  "b/dist/f.patch-test.yaml",
  ".git/g.patch-test.yaml",
];

beforeAll(() => {
  for (const file of FILES) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), "");
  }
  symlinkSync(folder, join(folder, "b/loop"));
});

async function found(...named: readonly string[]): Promise<string[]> {
  const { files } = await discoverTests(named.map((name) => join(folder, name)));
  return files.map((file) => file.slice(folder.length + 1));
}

describe("test files", () => {
  test.each([
    {
      what: "a folder, but for what others have made",
      named: ["."],
      files: ["a.patch-test.yaml", "b/c/d.patch-test.yaml", "b/x [1].patch-test.yaml"],
    },
    { what: "a folder that would be passed over, when it is named", named: ["node_modules"], files: ["node_modules/p/e.patch-test.yaml"] },
    { what: "a file of any name, once", named: ["b/other.yaml", "b/../b/other.yaml"], files: ["b/other.yaml"] },
    { what: "a file whose name is also a glob", named: ["b/x [1].patch-test.yaml"], files: ["b/x [1].patch-test.yaml"] },
    { what: "a glob", named: ["b/**/*.yaml"], files: ["b/c/d.patch-test.yaml", "b/other.yaml", "b/x [1].patch-test.yaml"] },
    { what: "a glob that matches nothing", named: ["nowhere/*.yaml"], files: [] },
    { what: "an empty folder", named: ["b/empty"], files: [] },
  ])("of $what", async ({ named, files }) => {
    mkdirSync(join(folder, "b/empty"), { recursive: true });
    expect(await found(...named)).toEqual(files);
  });

  test("that are named have to exist", async () => {
    const missing = join(folder, "nowhere.patch-test.yaml");
    await expect(discoverTests([missing])).rejects.toMatchObject({
      code: "USAGE",
      message: `There is no test file or folder "${missing}"`,
    });
    expect(await discoverTests([missing], { missing: "passed over" })).toEqual({ files: [], folders: [] });
  });

  test("below the working directory have names relative to it", async () => {
    expect((await discoverTests(["./test/cli/run"])).folders).toEqual(["test/cli/run"]);
  });
});

test.each([
  ["*.yaml", "a.yaml", true],
  ["*.yaml", "b/a.yaml", false],
  ["**/*.yaml", "a.yaml", true],
  ["b/**", "b/c/d", true],
  ["b/?.yaml", "b/a.yaml", true],
  ["{a,b}/*.y{a,}ml", "b/x.yml", true],
  ["{a,b}/x", "c/x", false],
  ["a.b", "aXb", false],
  ["a(b)+[c]|d", "a(b)+[c]|d", true],
])("the glob %s and %s: %s", (glob, path, matches) => {
  expect(globPattern(glob).test(path)).toBe(matches);
});

test("the root of a glob is the last folder without a pattern", () => {
  expect(["**/a", "a/b/*.yaml", "/x/{a,b}", "/*", "a*/b"].map(globRoot)).toEqual([".", "a/b", "/x", "/", "."]);
  expect(["a.yaml", "x [1].yaml", "a?"].map(isGlob)).toEqual([false, false, true]);
});

test.each([
  ["IPs", "moves pod IPs", true],
  ["ips", "moves pod IPs", false],
  ["/^moves .* ips$/i", "moves pod IPs", true],
  ["/ip/gi", "moves pod IPs", true],
  ["a/b", "x a/b y", true],
  [".", "abc", false],
])("the filter %s and %s: %s", (filter, name, wanted) => {
  const wants = parseFilter(filter);
  expect([wants(name), wants(name)]).toEqual([wanted, wanted]);
});

test("a filter that is not a regular expression is refused", () => {
  expect(() => parseFilter("/(/")).toThrow(/Invalid regular expression/);
});
