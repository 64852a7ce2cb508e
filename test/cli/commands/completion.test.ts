/**
 * The completion scripts, in the shells that are installed here.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { wordsOfProgram } from "../../../src/cli/output/completion-scripts.ts";
import { createProgram } from "../../../src/cli/program.ts";
import { createTestTerminal, run } from "../support.ts";

const folder = mkdtempSync(join(tmpdir(), "endpoint-sync-completion-"));
const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

beforeAll(async () => {
  for (const shell of SHELLS) writeFileSync(join(folder, shell), (await run(["completion", shell])).stdout);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Text before the cursor → completions. A shell's own functions that show words print them here. */
const ASK: Readonly<Record<Shell, (words: readonly string[]) => string>> = {
  bash: (words) =>
    `source ${folder}/bash; COMP_WORDS=(${quoted(words)}); COMP_CWORD=${words.length - 1}; _endpoint_sync; printf '%s\\n' "\${COMPREPLY[@]}"`,
  zsh: (words) =>
    `compdef() { }; _files() { print -l -- FILES }; compadd() { shift; print -l -- $@ }; source ${folder}/zsh; words=(${quoted(words)}); CURRENT=${words.length}; _endpoint_sync`,
  fish: (words) => `source ${folder}/fish; complete -C "${words.join(" ")}" | string replace -r '\\t.*' ''; true`,
};

const quoted = (words: readonly string[]) => words.map((word) => `'${word}'`).join(" ");

function offered(shell: Shell, line: string): string[] {
  const words = line.split(" ");
  const out = execFileSync(shell, shell === "zsh" ? ["-fc", ASK.zsh(words)] : ["-c", ASK[shell](words)], { encoding: "utf8", cwd: folder });
  const last = words.at(-1)!;
  // zsh leaves it to compadd, which stands in here, to drop what does not begin like the word.
  return out.split("\n").filter((word) => word !== "" && word.startsWith(last));
}

const isInstalled = (shell: Shell) => spawnSync(shell, ["-c", "exit 0"]).status === 0;

describe.each(SHELLS)("%s", (shell) => {
  const here = isInstalled(shell);
  if (!here) console.warn(`${shell} is not installed: its completion is not tried`);

  test.runIf(here).each([
    ["endpoint-sync compl", ["completion"]],
    ["endpoint-sync test in", ["init"]],
    ["endpoint-sync plan --tenant-", ["--tenant-context", "--tenant-kubeconfig"]],
    ["endpoint-sync plan --output ", ["json", "yaml"]],
    ["endpoint-sync completion z", ["zsh"]],
    ["endpoint-sync context show --hel", ["--help"]],
    ["endpoint-sync run --services man", ["managed"]],
    ["endpoint-sync schema ", ["config", "settings", "test"]],
  ] as const)("completes %s", (line, words) => {
    expect(
      offered(shell, line)
        .filter((word) => line !== "endpoint-sync schema " || !word.startsWith("-"))
        .sort(),
    ).toEqual(words);
  });
});

test("has every command and flag, with a meaning", async () => {
  const words = wordsOfProgram(await createProgram({ terminal: createTestTerminal(), exit: () => undefined }));
  const paths = words.map(({ path }) => path);
  expect(paths).toEqual(expect.arrayContaining(["", "run", "test init", "context set", "platform-data backup"]));
  for (const { path, flags } of words.slice(1)) {
    expect(
      flags.filter(({ meaning, names }) => meaning === "" || names.length === 0),
      path,
    ).toEqual([]);
  }
});

test("a shell that is not known is refused", async () => {
  const { code, stderr } = await run(["completion", "csh"]);
  expect(code).toBe(2);
  expect(stderr).toContain("Allowed choices are bash, zsh, fish");
});
