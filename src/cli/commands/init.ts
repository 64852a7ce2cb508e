import type { Command } from "commander";
import { examples, type CommandContext } from "../process/command.ts";

/** `init`: writes a small project to start with. */
export function defineInit(command: Command, context: CommandContext): void {
  command
    .argument("[folder]", "the folder of the project (default: the working directory)")
    .addHelpText("after", "\nExisting files are kept. test init writes only the tests.")
    .addHelpText("after", examples("endpoint-sync init", "endpoint-sync init my-patches"))
    .action(async (folder: string | undefined) => (await import("../test/init.ts")).initProject(context, folder ?? "."));
}
