/**
 * `init`: a small project whose commands all work.
 */
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { run, shellWords } from "../support.ts";

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "endpoint-sync-init-"))));
afterEach(() => rmSync(folder, { recursive: true }));

test("writes a project, each command of whose README works there without a warning", async () => {
  const { code, stdout } = await run(["init", folder]);
  expect(code).toBe(0);
  expect(readdirSync(folder).sort()).toEqual(["README.md", "endpoints.yaml", "patch-tests", "settings.yaml", "vcluster.yaml"]);
  expect(stdout).toMatch(/Wrote .*README\.md\n/);
  const [, block] = readFileSync(join(folder, "README.md"), "utf8").split(/^```(?:sh)?\n/m);
  const commands = block!.trim().split("\n");
  expect(commands).toHaveLength(3);
  const names = readdirSync(folder);
  for (const command of commands) {
    const words = shellWords(command).slice(1);
    const argv = words.map((word) => (names.includes(word) ? join(folder, word) : word));
    const told = await run(argv[0] === "test" ? ["test", folder] : argv);
    expect({ command, code: told.code, stderr: told.stderr }).toEqual({ command, code: 0, stderr: "" });
  }
});

test("tells of each file once, and of a folder as a shell takes it", async () => {
  const { stdout } = await run(["init", join(folder, "my dir")]);
  expect(stdout).not.toContain("Kept");
  expect(stdout.match(/vcluster\.yaml$/gm)).toHaveLength(1);
  expect(shellWords(stdout.split("Run the tests with: ")[1]!)).toEqual(["endpoint-sync", "test", join(folder, "my dir")]);
});

test("keeps what is there", async () => {
  writeFileSync(join(folder, "README.md"), "mine\n");
  const { stdout } = await run(["init", folder]);
  expect(readFileSync(join(folder, "README.md"), "utf8")).toBe("mine\n");
  expect(stdout).toMatch(/Kept .*README\.md\n/);
});
