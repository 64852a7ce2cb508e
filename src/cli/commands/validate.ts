import type { Command } from "commander";
import type { CommandContext } from "../command.ts";
import { collect, loadConfiguration } from "../configuration.ts";
import type { ConfigurationOptions } from "../configuration.ts";

/** `validate`: every problem and warning of a configuration, with its place. */
export function addValidateCommand(program: Command, context: CommandContext): void {
  program
    .command("validate")
    .description("check a configuration: every problem and warning with line and column")
    .requiredOption("--config <file>", "vcluster.yaml; may be given several times, later ones win", collect)
    .option("--settings <file>", "settings of the engine")
    .option("--name <name>", "name of the virtual cluster", "vcluster")
    .option("--namespace <namespace>", "host namespace of the virtual cluster", "default")
    .addHelpText("after", "\nExample:\n  endpoint-sync validate --config vcluster.yaml")
    .action(async (options: ConfigurationOptions) => {
      const loaded = await loadConfiguration(context, options);
      if (loaded !== undefined) context.terminal.out("The configuration is valid.\n");
    });
}
