/**
 * The reference of the command line, from the very program that parses it.
 *
 * @module
 */
import type { Argument, Command, Option } from "commander";
import { createProgram } from "../../src/cli/program.ts";
import type { Terminal } from "../../src/cli/process/terminal.ts";
import { COMMAND_EXIT_CODES, EXIT_CODES, type ExitMeaning } from "./cli-exit-codes.ts";
import { code, GENERATED, prose, table } from "./markdown.ts";

/** `reference/cli.md`: every command and subcommand with its arguments, options, defaults, exit codes and example. */
export async function cliPage(): Promise<string> {
  let printed = "";
  // Help needs no more of the outside world than a place to write to.
  const terminal = { out: (text: string) => void (printed += text), err: () => undefined } as unknown as Terminal;
  const program = await createProgram({ terminal, exit: () => undefined });
  const found = commandsOf(program);
  const helpOf = (command: Command) => {
    printed = "";
    command.outputHelp();
    return printed;
  };
  const commands = found.map((entry) => commandSection(entry, helpOf(entry.command)));
  return `${GENERATED}
# Command line

${overview(found)}
Every command takes \`--help\`. Results go to standard output; problems, warnings and log lines go to standard error.

## Exit codes

${exitTable(EXIT_CODES)}
${commands.join("\n")}`;
}

/** A command, or a command of a command. */
export interface FoundCommand {
  /** As it is typed behind `endpoint-sync`: `platform-data backup`. */
  readonly name: string;
  readonly command: Command;
  /** 2 for a command, 3 for one of a command. */
  readonly level: number;
}

/** Every command below `parent`, each before its own ones. */
export function commandsOf(parent: Command, before: readonly string[] = []): readonly FoundCommand[] {
  return parent.commands.flatMap((command) => {
    const words = [...before, command.name()];
    return [{ name: words.join(" "), command, level: words.length + 1 }, ...commandsOf(command, words)];
  });
}

function overview(commands: readonly FoundCommand[]): string {
  return table(
    ["command", "what it does"],
    commands.map(({ name, command }) => [`[\`${name}\`](#${name.replaceAll(" ", "-")})`, prose(command.description())]),
  );
}

function exitTable(meanings: readonly ExitMeaning[]): string {
  return table(
    ["exit code", "meaning"],
    meanings.map((exit) => [String(exit.code), prose(exit.meaning)]),
  );
}

function commandSection({ name, command, level }: FoundCommand, help: string): string {
  const exits = COMMAND_EXIT_CODES[name];
  const parts = [
    `${"#".repeat(level)} ${name}\n\n${sentence(command.description())}\n`,
    `\`\`\`text\nendpoint-sync ${name} ${command.usage()}\n\`\`\`\n`,
    ...(command.registeredArguments.length > 0
      ? [table(["argument", "default", "meaning"], command.registeredArguments.map(argumentRow))]
      : []),
    ...(shown(command.options).length > 0 ? [table(["option", "default", "meaning"], shown(command.options).map(optionRow))] : []),
    ...(exits === undefined ? [] : [exitTable(exits)]),
    ...exampleOf(help),
  ];
  return parts.join("\n");
}

function shown(options: readonly Option[]): readonly Option[] {
  return options.filter(({ hidden }) => !hidden);
}

function argumentRow(argument: Argument): string[] {
  const { argChoices, defaultValue, description, required } = argument;
  const name = required ? `<${argument.name()}>` : `[${argument.name()}]`;
  return [code(name), defaultText({ mandatory: required, defaultValue }), prose(description) + choicesText(argChoices)];
}

function optionRow({ flags, description, mandatory, defaultValue, argChoices, envVar }: Option): string[] {
  const meaning = prose(description) + choicesText(argChoices) + (envVar === undefined ? "" : `; or set ${code(envVar)}`);
  return [code(flags), defaultText({ mandatory, defaultValue: defaultValue as unknown }), meaning];
}

function defaultText({ mandatory, defaultValue }: { mandatory: boolean; defaultValue: unknown }): string {
  if (defaultValue !== undefined && defaultValue !== "")
    return code(typeof defaultValue === "string" ? defaultValue : JSON.stringify(defaultValue));
  return mandatory ? "required" : "–";
}

function choicesText(choices: readonly string[] | undefined): string {
  return choices === undefined ? "" : `: ${choices.map(code).join(", ")}`;
}

function exampleOf(help: string): string[] {
  const [, example] = help.split(/\nExamples?:\n/);
  return example === undefined ? [] : [`\`\`\`sh\n${example.replace(/^ {2}/gm, "").trimEnd()}\n\`\`\`\n`];
}

function sentence(text: string): string {
  return `${prose(text.slice(0, 1).toUpperCase() + text.slice(1))}.`;
}
