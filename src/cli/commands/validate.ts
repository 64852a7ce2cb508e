import type { Command } from "commander";
import { EngineError } from "../../base/errors.ts";
import { sortProblems, type Problem } from "../../schema/problem.ts";
import { collect, examples, outputOption, type CommandContext } from "../process/command.ts";
import { EXIT_USAGE } from "../process/exit-codes.ts";
import { syncOf, type Config } from "../../engine/config/config.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { saysNothing } from "../../schema/yaml.ts";
import {
  checkConfiguration,
  NO_SETTINGS,
  problemText,
  withKinds,
  type ConfigurationOptions,
  type LoadedConfiguration,
} from "../input/configuration.ts";
import { reportProblem } from "../output/messages.ts";
import { readFiles } from "../input/objects.ts";
import { addVclusterOptions, configOption, parseCount, settingsOption } from "../input/options.ts";
import { formatValue, type OutputFormat } from "../output/output.ts";

interface ValidateOptions extends ConfigurationOptions {
  readonly output?: OutputFormat;
  readonly strict?: boolean;
  readonly laws?: boolean;
  readonly filename?: readonly string[];
  readonly seed?: number;
}

/** `validate`: reports every problem and warning of a configuration, with its place. */
export function defineValidate(command: Command, context: CommandContext): void {
  addVclusterOptions(
    command.argument("[files...]", "configuration files, as with --config").addOption(configOption()).addOption(settingsOption()),
  )
    .addOption(outputOption())
    .option("--strict", "treat warnings as errors, except warnings about settings if there is no --settings")
    .option("--laws", "also try the patches on many values, and report which patches are lossless, drift, or oscillate")
    .option("-f, --filename <file>", "file with objects to try the patches on, or - for standard input; repeatable", collect)
    .option("--seed <number>", "with --laws: random seed (default 1)", parseCount)
    .addHelpText(
      "after",
      examples(
        "endpoint-sync validate vcluster.yaml",
        "endpoint-sync validate --config vcluster.yaml --settings settings.yaml --strict -o json",
        "endpoint-sync validate vcluster.yaml -f endpoints.yaml",
        "endpoint-sync validate --config vcluster.yaml --laws",
      ),
    )
    .action((files: string[], { config = [], ...options }: ValidateOptions) => {
      // Files on the command line replace those of a variable or a context.
      const others = files.length > 0 && command.getOptionValueSource("config") !== "cli" ? [] : config;
      return validate(context, { ...options, config: [...files, ...others] });
    });
}

async function validate(context: CommandContext, options: ValidateOptions): Promise<void> {
  const { terminal, exit } = context;
  const { laws: wantsLaws = false, strict = false, output, filename } = options;
  refuseIdleOptions(options);
  const { problems, texts, loaded } = await checkConfiguration(terminal, withKinds(context, options));
  const files = options.config!.flatMap((file) => ({ file, text: texts.get(file) ?? "" }));
  const empty = files.filter(({ file, text }) => texts.has(file) && saysNothing(text)).map(({ file }) => emptyProblem(file));
  const objects = filename === undefined || loaded === undefined ? [] : await readFiles(terminal, filename);
  const tried = loaded === undefined ? NOTHING : await tryObjects(loaded, { files, objects });
  const settings = { file: options.settings ?? "", text: texts.get(options.settings ?? "") ?? "" };
  const laws = loaded === undefined || !wantsLaws ? undefined : await tryLaws(loaded, { options, files, objects, settings });
  const found = sortProblems([...problems, ...empty, ...tried.problems, ...(laws?.problems ?? [])]);
  const all = strict ? found.map(madeError) : found;
  const failed = all.some(({ severity }) => severity === "error");
  if (failed) exit(EXIT_USAGE);
  if (output !== undefined) return terminal.out(formatValue(laws === undefined ? all : { problems: all, laws: laws.report }, output));
  for (const problem of all) reportProblem(terminal, problem, problemText(problem, texts));
  if (laws !== undefined) terminal.out(laws.text);
  if (failed) return terminal.err(countOf(all));
  terminal.out(`Found ${contentsOf(loaded!)}.\n${tried.text}${missedAddresses(loaded!.config)}`);
  terminal.out(all.length === 0 ? "The configuration is valid.\n" : `The configuration is valid, with ${countOf(all)}.\n`);
}

interface ConfigFile {
  readonly file: string;
  readonly text: string;
}

interface TrialInput {
  readonly files: readonly ConfigFile[];
  readonly objects: readonly KubeObject[];
}

/** Problems found by trying objects, and notes on a valid configuration. */
interface Trial {
  readonly problems: readonly Problem[];
  readonly text: string;
}

const NOTHING: Trial = { problems: [], text: "" };

/**
 * Tries the patches on objects. The modules are loaded only if there is something to try, because they include the API server's validation.
 */
async function tryObjects(loaded: LoadedConfiguration, input: TrialInput): Promise<Trial> {
  if (input.objects.length === 0 && patchedLists(loaded).length === 0) return NOTHING;
  const [{ sampleProblems }, { forecastFuel, formatForecasts, fuelProblems }] = await Promise.all([
    import("../test/samples/sample-problems.ts"),
    import("../test/samples/fuel-forecast.ts"),
  ]);
  const forecasts = await forecastFuel(loaded);
  const problems = [...(await sampleProblems(loaded, input)), ...fuelProblems(forecasts, input.files)];
  return { problems, text: formatForecasts(forecasts) };
}

/** Checks the laws. The modules are loaded here, so that `validate` without `--laws` does not wait for them. */
async function tryLaws(
  loaded: LoadedConfiguration,
  { options, files, objects, settings }: TrialInput & { options: ValidateOptions; settings: ConfigFile },
) {
  const { seed } = options;
  const { checkConfigurationLaws, formatLawReport, idleAcceptanceProblems, lawProblems } = await import("../test/laws.ts");
  const report = await checkConfigurationLaws(loaded, { objects, ...(seed !== undefined && { seed }) });
  const problems = [...lawProblems(report, files), ...idleAcceptanceProblems(report, settings)];
  return { report, problems, text: formatLawReport(report) };
}

/** @throws USAGE if there is nothing to check, or an option would have no effect. */
function refuseIdleOptions({ config = [], seed, laws }: ValidateOptions): void {
  const hint = "endpoint-sync validate vcluster.yaml";
  if (config.length === 0) throw new EngineError("USAGE", "Specify a configuration file to validate", { details: { hint } });
  if (seed !== undefined && laws !== true)
    throw new EngineError("USAGE", "--seed has no effect without --laws", { details: { hint: "Add --laws" } });
}

function emptyProblem(file: string): Problem {
  const message = "The file is empty, so every default applies";
  const hint = "Write {} for an empty configuration";
  return { code: "CONFIG_FILE", severity: "warning", message, file, line: 0, column: 0, field: "", hint };
}

/** Converts a warning into an error, except for warnings about default settings, which no file sets. */
function madeError(problem: Problem): Problem {
  return problem.file === NO_SETTINGS ? problem : { ...problem, severity: "error" };
}

/** The lists that have patches. */
function patchedLists({ config, kinds }: LoadedConfiguration) {
  return kinds.flatMap((kind) => {
    const { patches } = syncOf(config, kind);
    return patches.length === 0 ? [] : [{ list: kind.section, patches }];
  });
}

/** `10 patches on endpoints, 1 reference`. */
function contentsOf(loaded: LoadedConfiguration): string {
  const counted = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`;
  const lists = patchedLists(loaded);
  if (lists.length === 0) return "no patches";
  const patches = lists.map(({ list, patches: { length } }) => `${counted(length, "patch", "patches")} on ${list}`);
  const references = lists.flatMap((list) => list.patches).filter(({ reference }) => reference !== undefined).length;
  return [...patches, ...(references > 0 ? [counted(references, "reference", "references")] : [])].join(", ");
}

const READY = /^(\$\.)?subsets\[\*\]\.addresses\b/;

/** Returns a hint if patches match ready addresses and none matches addresses that are not ready, because this may be unintended. */
function missedAddresses({ endpoints: { patches } }: Config): string {
  const ready = patches.find(({ path }) => READY.test(path));
  if (ready === undefined || patches.some(({ path }) => path.includes("notReadyAddresses") || path.includes(".."))) return "";
  const other = ready.path.replace("addresses", "notReadyAddresses");
  return `Hint: ${ready.path} does not match addresses that are not ready. To patch these too, add a patch with the path ${other}.\n`;
}

/** `2 errors, 1 warning`. */
function countOf(problems: readonly Problem[]): string {
  return (["error", "warning"] as const)
    .map((severity) => ({ severity, count: problems.filter((problem) => problem.severity === severity).length }))
    .filter(({ count }) => count > 0)
    .map(({ severity, count }) => `${count} ${severity}${count === 1 ? "" : "s"}`)
    .join(", ");
}
