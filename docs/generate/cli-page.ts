/**
 * The reference of the command line, from the very program that parses it.
 *
 * @module
 */
import type { Argument, Command, Option } from "commander";
import { EXIT_INTERNAL, EXIT_USAGE } from "../../src/cli/exit-codes.ts";
import { createProgram } from "../../src/cli/program.ts";
import type { Terminal } from "../../src/cli/terminal.ts";
import { code, GENERATED, prose, table } from "./markdown.ts";

/** `reference/cli.md`: every command with its arguments, options, defaults and example. */
export async function cliPage(): Promise<string> {
  let printed = "";
  // Help needs no more of the outside world than a place to write to.
  const terminal = { out: (text: string) => void (printed += text), err: () => undefined } as unknown as Terminal;
  const program = await createProgram({ terminal, exit: () => undefined });
  const helpOf = (command: Command) => {
    printed = "";
    command.outputHelp();
    return printed;
  };
  const commands = program.commands.map((command) => commandSection(command, helpOf(command)));
  return `${GENERATED}
# Command line

${overview(program)}
Every command takes \`--help\`. Results go to standard output; problems, warnings and log lines go to standard error.

${exitCodes()}
${commands.join("\n")}`;
}

function overview(program: Command): string {
  return table(
    ["command", "what it does"],
    program.commands.map((command) => [`[\`${command.name()}\`](#${command.name()})`, prose(command.description())]),
  );
}

function exitCodes(): string {
  const rows = [
    ["0", "done"],
    ["1", "it ran, and the answer is a failure: an expression failed, a path matched nothing, a cluster refused"],
    [String(EXIT_USAGE), "the command line, a path or a configuration is wrong; nothing was started"],
    [String(EXIT_INTERNAL), "a fault of the program itself"],
  ];
  return table(["exit code", "meaning"], rows);
}

function commandSection(command: Command, help: string): string {
  const parts = [
    `## ${command.name()}\n\n${sentence(command.description())}\n`,
    `\`\`\`text\nendpoint-sync ${command.name()} ${command.usage()}\n\`\`\`\n`,
    ...(command.registeredArguments.length > 0
      ? [table(["argument", "default", "meaning"], command.registeredArguments.map(argumentRow))]
      : []),
    ...(command.options.length > 0
      ? [table(["option", "default", "meaning"], command.options.filter(({ hidden }) => !hidden).map(optionRow))]
      : []),
    ...exampleOf(help),
  ];
  return parts.join("\n");
}

function argumentRow(argument: Argument): string[] {
  const { argChoices, defaultValue, required } = argument;
  const name = required ? `<${argument.name()}>` : `[${argument.name()}]`;
  return [code(name), defaultText({ mandatory: required, defaultValue }), prose(argument.description) + choicesText(argChoices)];
}

function optionRow({ flags, description, mandatory, defaultValue, argChoices }: Option): string[] {
  return [code(flags), defaultText({ mandatory, defaultValue: defaultValue as unknown }), prose(description) + choicesText(argChoices)];
}

function defaultText({ mandatory, defaultValue }: { mandatory: boolean; defaultValue: unknown }): string {
  if (defaultValue !== undefined) return code(typeof defaultValue === "string" ? defaultValue : JSON.stringify(defaultValue));
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
