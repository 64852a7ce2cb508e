/**
 * Scripts that complete the command line in shells. They contain every command and flag, so that completion starts no process.
 *
 * @module
 */
import type { Command, Option } from "commander";

/** Value that follows a flag. */
type Value = "none" | "file" | readonly string[];

interface Flag {
  /** `--output`, `-o`. */
  readonly names: readonly string[];
  readonly value: Value;
  readonly meaning: string;
}

/** Completions for the words of one command. */
export interface CommandWords {
  /** The words of the command, separated by spaces; empty for the program itself. */
  readonly path: string;
  readonly meaning: string;
  readonly commands: readonly { readonly name: string; readonly meaning: string }[];
  readonly flags: readonly Flag[];
  /** Possible values of the first argument, if it has a fixed list of them. */
  readonly choices: readonly string[];
}

/** The words of all commands of a program. Subcommands follow their command. */
export function wordsOfProgram(program: Command): readonly CommandWords[] {
  return wordsOf(program, []);
}

function wordsOf(command: Command, path: readonly string[]): readonly CommandWords[] {
  const help: Flag = { names: ["--help", "-h"], value: "none", meaning: "this help" };
  const own = {
    path: path.join(" "),
    meaning: command.description(),
    commands: command.commands.map((one) => ({ name: one.name(), meaning: one.description() })),
    flags: [...command.options.filter(({ hidden }) => !hidden).map(flagOf), help],
    choices: command.registeredArguments[0]?.argChoices ?? [],
  };
  return [own, ...command.commands.flatMap((one) => wordsOf(one, [...path, one.name()]))];
}

function flagOf(option: Option): Flag {
  const { long, short, description, argChoices, required, optional } = option;
  const names = [long, short].filter((name) => name !== undefined && name !== null);
  return { names, value: argChoices ?? (required || optional ? "file" : "none"), meaning: description };
}

/** The scripts, by shell. */
export const COMPLETION_SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

/** Puts a word in single quotes, for all three shells. Quotes, backslashes and line breaks in the word become spaces. */
function quoted(text: string): string {
  return `'${text.replace(/['\\\n]/g, " ")}'`;
}

function namesOf({ flags, commands, choices }: CommandWords): string {
  return [...commands.map(({ name }) => name), ...choices, ...flags.map(({ names }) => names[0]!)].join(" ");
}

/** Returns the `case` branches that find the command from the words of the line. */
function pathCases(all: readonly CommandWords[]): string {
  return all
    .flatMap(({ path, commands }) =>
      commands.map(({ name }) => `      ${quoted(`${path}|${name}`)}) path=${quoted(`${path} ${name}`.trim())} ;;`),
    )
    .join("\n");
}

function valueCases(all: readonly CommandWords[], { words, files }: { words: (list: string) => string; files: string }): string {
  return all
    .flatMap(({ path, flags }) =>
      flags
        .filter(({ value }) => value !== "none")
        .map(({ names, value }) => {
          const patterns = names.map((name) => quoted(`${path}|${name}`)).join("|");
          return `    ${patterns}) ${value === "file" || value === "none" ? files : words(value.join(" "))}; return ;;`;
        }),
    )
    .join("\n");
}

function wordCases(all: readonly CommandWords[]): string {
  return all.map((one) => `    ${quoted(one.path)}) words=${quoted(namesOf(one))} ;;`).join("\n");
}

function bashScript(all: readonly CommandWords[]): string {
  return `# bash completion of endpoint-sync
_endpoint_sync() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" path='' words='' index
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "$path|\${COMP_WORDS[index]}" in
${pathCases(all)}
    esac
  done
  case "$path|$before" in
${valueCases(all, { words: (list) => `COMPREPLY=($(compgen -W ${quoted(list)} -- "$current"))`, files: 'COMPREPLY=($(compgen -f -- "$current"))' })}
  esac
  case "$path" in
${wordCases(all)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _endpoint_sync endpoint-sync
`;
}

function zshScript(all: readonly CommandWords[]): string {
  return `#compdef endpoint-sync
# zsh completion of endpoint-sync
_endpoint_sync() {
  local place='' list='' index
  for ((index = 2; index < CURRENT; index++)); do
    case "$place|\${words[index]}" in
${pathCases(all).replaceAll(") path=", ") place=")}
    esac
  done
  case "$place|\${words[CURRENT-1]}" in
${valueCases(all, { words: (list) => `compadd -- ${list}`, files: "_files" })}
  esac
  case "$place" in
${wordCases(all).replaceAll(") words=", ") list=")}
  esac
  compadd -- \${=list} && return
  _files
}
if [ "\${funcstack[1]}" = "_endpoint-sync" ]; then
  _endpoint_sync "$@"
else
  compdef _endpoint_sync endpoint-sync
fi
`;
}

/** Creates the fish script. A function finds the command of the line, and each completion applies to one command. */
function fishScript(all: readonly CommandWords[]): string {
  const lines = all.flatMap(({ path, commands, flags, choices }) => {
    const here = `complete -c endpoint-sync -n ${quoted(`__endpoint_sync_at "${path}"`)}`;
    const words = [...commands, ...choices.map((name) => ({ name, meaning: "" }))];
    return [
      ...words.map(({ name, meaning }) => `${here} -f -a ${quoted(name)} -d ${quoted(meaning)}`),
      ...flags.map((flag) => `${here}${fishFlag(flag)} -d ${quoted(flag.meaning)}`),
    ];
  });
  return `# fish completion of endpoint-sync
function __endpoint_sync_at
  set -l path ''
  for word in (commandline -opc)[2..-1]
    switch "$path|$word"
${all
  .flatMap(({ path, commands }) =>
    commands.map(({ name }) => `      case ${quoted(`${path}|${name}`)}\n        set path ${quoted(`${path} ${name}`.trim())}`),
  )
  .join("\n")}
    end
  end
  test "$path" = "$argv[1]"
end
${lines.join("\n")}
`;
}

function fishFlag({ names, value }: Flag): string {
  const forms = names.map((name) => (name.startsWith("--") ? ` -l ${name.slice(2)}` : ` -s ${name.slice(1)}`)).join("");
  if (value === "none") return forms;
  return value === "file" ? `${forms} -r` : `${forms} -x -a ${quoted(value.join(" "))}`;
}
