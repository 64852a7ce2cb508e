/**
 * Command lines of documentation, held against the very program that parses them, without running anything.
 */
import type { Command } from "commander";
import { createProgram } from "../../src/cli/program.ts";
import { createTestTerminal, shellWords } from "../cli/support.ts";

/** Every command line of `endpoint-sync` in a script for a shell, one string each, without what comes behind a pipe and without those into which
 * the shell puts what another command says. */
export function commandLinesOf(script: string): string[] {
  return (
    script
      .replaceAll("\\\n", " ")
      .split("\n")
      .flatMap((line) => line.split(/ \| (?=[a-z])/))
      .map((line) => line.trim().replace(/ (&|2?>.*|\|\| true)$/, ""))
      // Text that a shell substitutes is not known in advance.
      .filter((line) => /^(npx )?endpoint-sync /.test(line) && !line.includes("$("))
  );
}

/** Why the program would not take a command line; undefined when it would. */
export async function refusalOf(line: string): Promise<string | undefined> {
  let command: Command = await createProgram({ terminal: createTestTerminal(), exit: () => undefined });
  const words = shellWords(line).slice(line.startsWith("npx ") ? 2 : 1);
  while (words.length > 0) {
    const next = command.commands.find((one) => one.name() === words[0]);
    if (next === undefined) break;
    command = next;
    words.shift();
  }
  if (command.parent === null) return `there is no command ${words[0]}`;
  try {
    const { operands, unknown } = command.parseOptions(words);
    const missing = command.options.filter((option) => option.mandatory && command.getOptionValue(option.attributeName()) === undefined);
    const known = command.registeredArguments;
    const wanted = known.filter(({ required }) => required).length;
    const most = known.some(({ variadic }) => variadic) ? Infinity : known.length;
    if (unknown.length > 0) return `unknown: ${unknown.join(" ")}`;
    if (missing.length > 0) return `missing: ${missing.map(({ flags }) => flags).join(", ")}`;
    return operands.length < wanted || operands.length > most ? `${operands.length} arguments` : undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
