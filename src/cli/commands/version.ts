import type { Command } from "commander";
import { examples, type CommandContext } from "../process/command.ts";
import { readVersion } from "../process/version.ts";

/** `version`: prints the same as `--version`, as in kubectl and helm. */
export function defineVersion(command: Command, { terminal }: CommandContext): void {
  command.addHelpText("after", examples("endpoint-sync version")).action(() => terminal.out(`${readVersion()}\n`));
}
