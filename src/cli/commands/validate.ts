import type { Command } from "commander";
import { EngineError } from "../../base/errors.ts";
import { sortProblems } from "../../schema/problem.ts";
import type { Problem } from "../../schema/problem.ts";
import { examples, outputOption } from "../process/command.ts";
import type { CommandContext } from "../process/command.ts";
import { EXIT_USAGE } from "../process/exit-codes.ts";
import { checkConfiguration, problemText } from "../input/configuration.ts";
import type { CheckedConfiguration, ConfigurationOptions, LoadedConfiguration } from "../input/configuration.ts";
import { tellProblem } from "../output/messages.ts";
import { readObjects } from "../input/objects.ts";
import { addVclusterOptions, configOption, parseCount, settingsOption } from "../input/options.ts";
import { formatValue } from "../output/output.ts";
import type { OutputFormat } from "../output/output.ts";
import type { Terminal } from "../process/terminal.ts";

interface ValidateOptions extends ConfigurationOptions {
  readonly output?: OutputFormat;
  readonly laws?: boolean;
  readonly filename?: string;
  readonly seed?: number;
}

/** `validate`: every problem and warning of a configuration, with its place. */
export function defineValidate(command: Command, context: CommandContext): void {
  addVclusterOptions(command.addOption(configOption().makeOptionMandatory()).addOption(settingsOption()))
    .addOption(outputOption())
    .option("--laws", "also try the patches on many values, to find those that drift or oscillate")
    .option("-f, --filename <file>", "with --laws: objects whose values to try too; - is standard input")
    .option("--seed <number>", "with --laws: random seed (default: 1)", parseCount)
    .addHelpText(
      "after",
      examples(
        "endpoint-sync validate --config vcluster.yaml",
        "endpoint-sync validate --config vcluster.yaml --settings settings.yaml -o json",
        "endpoint-sync validate --config vcluster.yaml --laws",
      ),
    )
    .action((options: ValidateOptions) => validate(context, options));
}

async function validate(context: CommandContext, options: ValidateOptions): Promise<void> {
  const { terminal, exit } = context;
  if (options.laws !== true) refuseLawOptions(options);
  const { problems, texts, loaded } = await checkConfiguration(terminal, options);
  if (loaded === undefined) exit(EXIT_USAGE);
  if (options.laws === true && loaded !== undefined) return validateLaws(context, options, { problems, texts, loaded });
  if (options.output !== undefined) return terminal.out(formatValue(problems, options.output));
  tellProblems(terminal, problems, texts);
  if (loaded === undefined) terminal.err(countOf(problems));
  else terminal.out(problems.length === 0 ? "The configuration is valid.\n" : `The configuration is valid, with ${countOf(problems)}.\n`);
}

interface Valid extends CheckedConfiguration {
  readonly loaded: LoadedConfiguration;
}

async function validateLaws(
  { terminal, exit }: CommandContext,
  options: ValidateOptions,
  { problems, texts, loaded }: Valid,
): Promise<void> {
  const { config = [], filename, seed, output } = options;
  const objects = filename === undefined ? [] : await readObjects(terminal, filename);
  // Loaded only here: plain `validate` does not wait for it.
  const { checkConfigurationLaws, formatLawReport, lawProblems } = await import("../test/laws.ts");
  const laws = await checkConfigurationLaws(loaded, { objects, ...(seed !== undefined && { seed }) });
  const files = config.map((file) => ({ file, text: texts.get(file) ?? "" }));
  const all = sortProblems([...problems, ...lawProblems(laws, files)]);
  const failed = all.some(({ severity }) => severity === "error");
  if (failed) exit(EXIT_USAGE);
  if (output !== undefined) return terminal.out(formatValue({ problems: all, laws }, output));
  tellProblems(terminal, all, texts);
  terminal.out(formatLawReport(laws));
  if (failed) terminal.err(countOf(all));
  else terminal.out(all.length === 0 ? "The configuration is valid.\n" : `The configuration is valid, with ${countOf(all)}.\n`);
}

function refuseLawOptions({ filename, seed }: ValidateOptions): void {
  if (filename === undefined && seed === undefined) return;
  throw new EngineError("USAGE", `${filename === undefined ? "--seed" : "--filename"} is for --laws`, { details: { hint: "Add --laws" } });
}

function tellProblems(terminal: Terminal, problems: readonly Problem[], texts: CheckedConfiguration["texts"]): void {
  for (const problem of problems) tellProblem(terminal, problem, problemText(problem, texts));
}

/** `2 errors, 1 warning`. */
function countOf(problems: readonly Problem[]): string {
  return (["error", "warning"] as const)
    .map((severity) => ({ severity, count: problems.filter((problem) => problem.severity === severity).length }))
    .filter(({ count }) => count > 0)
    .map(({ severity, count }) => `${count} ${severity}${count === 1 ? "" : "s"}`)
    .join(", ");
}
