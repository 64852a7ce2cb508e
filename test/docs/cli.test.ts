/**
 * `docs/reference/cli.md` has every command with all that it takes, its examples parse, and the exit codes are those that come.
 */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { COMMAND_EXIT_CODES, EXIT_CODES } from "../../docs/generate/cli-exit-codes.ts";
import { commandsOf } from "../../docs/generate/cli-page.ts";
import { code } from "../../docs/generate/markdown.ts";
import { createProgram } from "../../src/cli/program.ts";
import { createTestTerminal, exampleFiles, run, shellWords } from "../cli/support.ts";
import { commandLinesOf, refusalOf } from "../support/command-lines.ts";
import { blocksOf } from "../support/markdown.ts";

const PAGE = readFileSync(resolve(import.meta.dirname, "../../docs/reference/cli.md"), "utf8");
const program = await createProgram({ terminal: createTestTerminal(), exit: () => undefined });
const found = commandsOf(program);

/** What stands below the heading of a command, up to the next heading. */
function sectionOf(name: string): string {
  const [, text] = PAGE.split(new RegExp(`^#+ ${name}\n`, "m"));
  return text?.split(/^#+ /m)[0] ?? "";
}

describe("the page", () => {
  test("has subcommands too", () => {
    const names = found.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["run", "test init", "platform-data backup", "secret sync"]));
    expect([...PAGE.matchAll(/^##+ (.+)$/gm)].map(([, heading]) => heading)).toEqual(["Exit codes", ...names]);
  });

  test.each(found)("names every argument and option of $name, with a meaning", ({ name, command }) => {
    const rows = sectionOf(name)
      .split("\n")
      .filter((line) => line.startsWith("| `"))
      .map((line) => line.slice(2, -2).split(/(?<!\\) \| /));
    const options = command.options.filter(({ hidden }) => !hidden).map(({ flags }) => code(flags));
    const args = command.registeredArguments.map((argument) => code(argument.required ? `<${argument.name()}>` : `[${argument.name()}]`));
    expect(rows.map(([first]) => first)).toEqual([...args, ...options]);
    expect(rows.filter((cells) => cells.length !== 3 || cells[2]!.trim() === "")).toEqual([]);
  });

  test("has an example of every command, which the command takes", async () => {
    const without = found.filter(({ name }) => !sectionOf(name).includes("```sh\n")).map(({ name }) => name);
    expect(without).toEqual([]);
    for (const block of blocksOf(PAGE).filter(({ language }) => language === "sh")) {
      for (const line of commandLinesOf(block.text)) expect(await refusalOf(line), line).toBeUndefined();
    }
  });
});

test.each([
  "endpoint-sync run --no-such",
  "endpoint-sync frobnicate",
  "endpoint-sync explain A B",
  "endpoint-sync match",
  "endpoint-sync run --services who --name a --namespace b --config c",
  "npx endpoint-sync platform-data backup",
])("%s is refused", async (line) => {
  expect(commandLinesOf(line)).toEqual([line]);
  expect(await refusalOf(line)).toBeDefined();
});

describe("exit codes", () => {
  const config = (text: string) => ({ "vcluster.yaml": `sync: { toHost: { endpoints: { patches: [${text}] } } }` });
  const failing = config("{ path: metadata.annotations.team, expression: value.a.b }");
  const object = { "endpoints.yaml": exampleFiles()["endpoints.yaml"]!.replace("example.com/team", "team") };
  const nowhere = "--tenant-kubeconfig missing --host-kubeconfig missing --config vcluster.yaml --name blue --namespace vc-blue";

  /** Command line, its files, what it ends with. Those that need clusters or folders are tested in `test/cli`. */
  const cases: readonly (readonly [string, Record<string, string>, number])[] = [
    ["endpoint-sync explain USAGE", {}, 0],
    ["endpoint-sync frobnicate", {}, 2],
    [`endpoint-sync plan ${nowhere}`, config(""), 2],
    [`endpoint-sync audit ${nowhere}`, config(""), 2],
    ["endpoint-sync render --config vcluster.yaml -f endpoints.yaml", { ...failing, ...object }, 0],
    ["endpoint-sync eval value.a.b --value 1", {}, 1],
    ["endpoint-sync match a.b -f endpoints.yaml", object, 1],
    ["endpoint-sync match metadata.name -f endpoints.yaml", object, 0],
    ["endpoint-sync validate --config vcluster.yaml", config("{ path: a.b, expression: value }"), 0],
    ["endpoint-sync validate --config vcluster.yaml", config("{ path: a..b, expression: value }"), 2],
  ];

  test.each(cases)("%s", async (line, files, wanted) => {
    const { code: ended, stderr } = await run(shellWords(line).slice(1), { files });
    expect(ended, stderr).toBe(wanted);
  });

  test("are reported for commands that exist, with codes that exist", () => {
    const names = found.map(({ name }) => name);
    expect(Object.keys(COMMAND_EXIT_CODES).filter((name) => !names.includes(name))).toEqual([]);
    const codes = new Set(EXIT_CODES.map((exit) => exit.code));
    expect(
      Object.values(COMMAND_EXIT_CODES)
        .flat()
        .filter((exit) => !codes.has(exit.code)),
    ).toEqual([]);
  });
});
