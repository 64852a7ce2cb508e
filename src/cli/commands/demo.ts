import type { Command } from "commander";
import { examples, type CommandContext } from "../process/command.ts";

/** `demo`: syncs two embedded clusters and shows the result. */
export function defineDemo(command: Command, context: CommandContext): void {
  command
    .option("--once", "wait until the clusters converge, print the table and exit")
    .addHelpText("after", examples("endpoint-sync demo --once"))
    .action(async (options: { once?: boolean }) => {
      const { runDemo } = await import("../demo/demo-run.ts");
      await runDemo(context, options.once === true ? "once" : "live");
    });
}
