import type { Command } from "commander";
import type { CommandContext } from "../command.ts";

/** `demo`: the main job between two embedded clusters. */
export function addDemoCommand(program: Command, context: CommandContext): void {
  program
    .command("demo")
    .description("the main job between two embedded clusters, with a live table")
    .option("--once", "converge, print the table and exit")
    .addHelpText("after", "\nExample:\n  endpoint-sync demo --once")
    .action(async (options: { once?: boolean }) => {
      const { runDemo } = await import("../demo-run.ts");
      await runDemo(context, options.once === true ? "once" : "live");
    });
}
