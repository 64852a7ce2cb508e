import type { Command } from "commander";
import type { Problem } from "../../schema/problem.ts";
import { examples, outputOption } from "../command.ts";
import type { CommandContext } from "../command.ts";
import { EXIT_USAGE } from "../exit-codes.ts";
import { checkConfiguration, textOf } from "../configuration.ts";
import type { ConfigurationOptions } from "../configuration.ts";
import { tellProblem } from "../messages.ts";
import { addVclusterOptions, configOption, settingsOption } from "../options.ts";
import { formatValue } from "../output.ts";
import type { OutputFormat } from "../output.ts";

interface ValidateOptions extends ConfigurationOptions {
  readonly output?: OutputFormat;
}

/** `validate`: every problem and warning of a configuration, with its place. */
export function defineValidate(command: Command, context: CommandContext): void {
  addVclusterOptions(command.addOption(configOption().makeOptionMandatory()).addOption(settingsOption()))
    .addOption(outputOption())
    .addHelpText(
      "after",
      examples(
        "endpoint-sync validate --config vcluster.yaml",
        "endpoint-sync validate --config vcluster.yaml --settings settings.yaml -o json",
      ),
    )
    .action((options: ValidateOptions) => validate(context, options));
}

async function validate({ terminal, exit }: CommandContext, options: ValidateOptions): Promise<void> {
  const { problems, texts, loaded } = await checkConfiguration(terminal, options);
  if (loaded === undefined) exit(EXIT_USAGE);
  if (options.output !== undefined) return terminal.out(formatValue(problems, options.output));
  for (const problem of problems) tellProblem(terminal, problem, textOf(problem, texts));
  if (loaded === undefined) terminal.err(countOf(problems));
  else terminal.out(problems.length === 0 ? "The configuration is valid.\n" : `The configuration is valid, with ${countOf(problems)}.\n`);
}

/** `2 errors, 1 warning`. */
function countOf(problems: readonly Problem[]): string {
  return (["error", "warning"] as const)
    .map((severity) => ({ severity, count: problems.filter((problem) => problem.severity === severity).length }))
    .filter(({ count }) => count > 0)
    .map(({ severity, count }) => `${count} ${severity}${count === 1 ? "" : "s"}`)
    .join(", ");
}
