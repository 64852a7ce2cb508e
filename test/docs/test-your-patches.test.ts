/**
 * `docs/guides/test-your-patches.md`: its files and commands, as they stand, from an empty folder.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { load } from "js-yaml";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openGuideShell, type GuideShell } from "../support/guide-shell.ts";
import { blocksOf } from "../support/markdown.ts";

const PAGE = readFileSync(join(resolve(import.meta.dirname, "../.."), "docs/guides/test-your-patches.md"), "utf8");
const blocks = blocksOf(PAGE);

let shell: GuideShell;
beforeAll(() => void (shell = openGuideShell({ ready: /./ })));
afterAll(() => shell.close());

/** What a command prints, on standard error first come, first served. */
function printed(command: string): string {
  const path = [join(shell.folder, "bin"), dirname(process.execPath), process.env["PATH"]].join(delimiter);
  const { stdout } = spawnSync("bash", ["-c", `exec 2>&1\n${command}`], {
    cwd: shell.folder,
    env: { ...process.env, PATH: path },
    encoding: "utf8",
  });
  return stdout;
}

/** The commands of a block, each with what the page says that it prints. */
function commandsOf(text: string): { readonly command: string; readonly output: string }[] {
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = "", ...lines] = part.split("\n");
      return { command, output: lines.join("\n") };
    });
}

describe("the page, in order", () => {
  const steps = blocks.filter(({ language, words }) => language === "console" || (language === "yaml" && words.length > 0));

  test.each(steps)("line $line", ({ language, words, text }) => {
    if (language === "yaml") {
      const file = join(shell.folder, words[0]!);
      mkdirSync(dirname(file), { recursive: true });
      return writeFileSync(file, text);
    }
    const commands = commandsOf(text);
    expect(commands.map(({ command }) => `$ ${command}\n${printed(command)}`).join("")).toBe(text);
  });
});

describe("in CI, as the page writes it", () => {
  interface Workflow {
    readonly jobs: Readonly<Record<string, { readonly steps: readonly { readonly run?: string }[] }>>;
  }
  interface Pipeline {
    readonly patches: { readonly script: readonly string[]; readonly artifacts: { readonly reports: { readonly junit: string } } };
  }
  const fileOf = (name: string) => load(blocks.find(({ words }) => words[0] === name)!.text);
  const github = () =>
    Object.values((fileOf(".github/workflows/patches.yaml") as Workflow).jobs).flatMap(({ steps }) =>
      steps.flatMap(({ run }) => run ?? []),
    );
  const gitlab = () => (fileOf(".gitlab-ci.yml") as Pipeline).patches;
  const codeOf = (command: string) => Number(/\ncode (\d+)\n$/.exec(printed(`${command}\nprintf '\\ncode %s\\n' $?`))![1]);

  test.each([
    ["GitHub", github],
    ["GitLab", () => gitlab().script],
  ])("%s installs what the lock file says, and every command ends with 0", (_name, commandsIn) => {
    const [first, ...others] = commandsIn();
    expect(first).toBe("npm ci");
    expect(others.map((command) => [command, codeOf(command)])).toEqual(others.map((command) => [command, 0]));
    expect(others.length).toBeGreaterThan(1);
  });

  test("a failing test fails the job, and GitLab finds its report", () => {
    const file = join(shell.folder, "vcluster.yaml");
    const good = readFileSync(file, "utf8");
    rmSync(join(shell.folder, gitlab().artifacts.reports.junit), { force: true });
    writeFileSync(file, good.replace('"-"', '"_"'));
    expect([github(), gitlab().script].map((commands) => codeOf(commands.at(-1)!))).toEqual([1, 1]);
    writeFileSync(file, good);
    expect(readFileSync(join(shell.folder, gitlab().artifacts.reports.junit), "utf8")).toMatch(/<failure/);
  });
});

test("six commands lead from nothing to a red test, and back to a green one", () => {
  const commands = blocksOf(PAGE.split("\n## State the expected result")[0]!).flatMap(({ text }) => commandsOf(text));
  expect(commands.length).toBeLessThanOrEqual(6);
  const sums = commands.map(({ output }) => /^PASS \d+ {2}FAIL (\d+)/m.exec(output)?.[1]).filter((failed) => failed !== undefined);
  expect(sums).toEqual(["0", "1", "0"]);
});
