import { Argument, type Command } from "commander";
import { examples, type CommandContext } from "../process/command.ts";
import { COMPLETION_SCRIPTS, wordsOfProgram } from "../output/completion-scripts.ts";

type Shell = keyof typeof COMPLETION_SCRIPTS;

/** `completion`: prints a completion script for a shell. `program` creates the whole command line; only this command needs it. */
export function defineCompletion(command: Command, { terminal }: CommandContext, program: () => Promise<Command>): void {
  command
    .addArgument(new Argument("<shell>", "which shell").choices(Object.keys(COMPLETION_SCRIPTS)))
    .addHelpText(
      "after",
      examples(
        "endpoint-sync completion bash > ~/.local/share/bash-completion/completions/endpoint-sync",
        'endpoint-sync completion zsh > "${fpath[1]}/_endpoint-sync"',
        "endpoint-sync completion fish > ~/.config/fish/completions/endpoint-sync.fish",
      ),
    )
    .action(async (shell: Shell) => terminal.out(COMPLETION_SCRIPTS[shell](wordsOfProgram(await program()))));
}
