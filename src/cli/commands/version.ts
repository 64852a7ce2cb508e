import type { Command } from "commander";
import { examples } from "../process/command.ts";
import type { CommandContext } from "../process/command.ts";
import { readVersion } from "../process/version.ts";

/** `version`: the same as `--version`, as kubectl and helm have it. */
export function defineVersion(command: Command, { terminal }: CommandContext): void {
  command.addHelpText("after", examples("endpoint-sync version")).action(() => terminal.out(`${readVersion()}\n`));
}
