import { isEngineError, type EngineError } from "../../base/errors.ts";
import { parseConfig, type Config, type ConfigResult, type ConfigText } from "../../engine/config/config.ts";
import { fillName } from "../../engine/config/namespaces.ts";
import { DEFAULT_SETTINGS, parseSettings, resolveSettings, type Settings, type SettingsResult } from "../../engine/config/settings.ts";
import { SYNCED_KINDS } from "../../engine/kinds/synced-kinds.ts";
import type { SyncedKind } from "../../engine/reconcile/rules/rules.ts";
import type { Problem } from "../../schema/problem.ts";
import { saysNothing } from "../../schema/yaml.ts";
import type { VCluster } from "../../engine/translate/name.ts";
import type { CommandContext } from "../process/command.ts";
import { EXIT_USAGE } from "../process/exit-codes.ts";
import { reportProblem } from "../output/messages.ts";
import type { Terminal } from "../process/terminal.ts";
import { emptyFile } from "../files/text-file.ts";

/** The options that name the configuration, as commander parses them. */
export interface ConfigurationOptions {
  readonly config?: readonly string[];
  readonly settings?: string;
  /** Treats an empty file as an error, because a program that writes a file in place empties it first. Default false. */
  readonly refuseEmpty?: boolean;
  /** The names are checked against the mappings only if both are known, because placeholders differ from the real names. */
  readonly name?: string;
  readonly namespace?: string;
  /** The kinds that can be synced. Default {@link SYNCED_KINDS}. */
  readonly kinds?: readonly SyncedKind[];
}

/** Default names of a virtual cluster: those of a test file without a context. */
export const DEFAULT_VCLUSTER: VCluster = { name: "blue", namespace: "vc-blue" };

/** Host namespaces to use if none is given, best first. */
const STAND_INS = [DEFAULT_VCLUSTER.namespace, "vcluster", "host"];

/** A configuration without problems. */
export interface LoadedConfiguration {
  readonly config: Config;
  readonly settings: Settings;
  readonly vcluster: VCluster;
  /** The kinds that the configuration was read for. */
  readonly kinds: readonly SyncedKind[];
}

/** Enables the sync of Endpoints in a configuration if `--enable-endpoints` is set, regardless of the file. */
export function withEndpoints(
  loaded: LoadedConfiguration,
  { enableEndpoints }: { readonly enableEndpoints?: boolean },
): LoadedConfiguration {
  if (enableEndpoints !== true) return loaded;
  const { config } = loaded;
  return { ...loaded, config: { ...config, endpoints: { ...config.endpoints, enabled: true } } };
}

/** Result of checking the files. */
export interface CheckedConfiguration {
  /** Errors and warnings, in the order of the files. */
  readonly problems: readonly Problem[];
  /** The texts that could be read, by file. */
  readonly texts: ReadonlyMap<string, string>;
  /** Undefined when there is an error. */
  readonly loaded: LoadedConfiguration | undefined;
}

/** The place that problems of the default settings name instead of a file. */
export const NO_SETTINGS = "settings (no --settings given)";

/** Reads configuration and settings and reports all problems, including files that cannot be read. */
export async function checkConfiguration(terminal: Terminal, options: ConfigurationOptions): Promise<CheckedConfiguration> {
  const read = (file: string) => readText(terminal, file, options);
  const files = await Promise.all((options.config ?? []).map(read));
  const settingsFile = options.settings === undefined ? undefined : await read(options.settings);
  const settings = checkSettings(settingsFile);
  const config = checkFiles(files, {
    name: options.name,
    namespace: options.namespace,
    kinds: options.kinds ?? SYNCED_KINDS,
    settings: settings.ok ? settings.settings : DEFAULT_SETTINGS,
  });
  const readable = [...files, ...(settingsFile === undefined ? [] : [settingsFile])].filter((file) => "text" in file);
  return {
    problems: [...problemsOf(config), ...problemsOf(settings)],
    texts: new Map(readable.map(({ file, text }) => [file, text])),
    loaded: config.ok && settings.ok ? loadedOf(config.config, settings.settings, options) : undefined,
  };
}

/**
 * Loads the configuration for a command, and writes problems and warnings of the files to standard error. After an error, the result is
 * `undefined` and the exit code is set.
 */
export async function loadConfiguration(context: CommandContext, options: ConfigurationOptions): Promise<LoadedConfiguration | undefined> {
  const { problems, texts, loaded } = await checkConfiguration(context.terminal, withKinds(context, options));
  for (const problem of problems) {
    // Gaps of the default settings matter only to `validate` and `run`, which report them themselves.
    if (problem.file !== NO_SETTINGS) reportProblem(context.terminal, problem, problemText(problem, texts));
  }
  if (loaded === undefined) context.exit(EXIT_USAGE);
  return loaded;
}

/** Adds the kinds of the command to the options. */
export function withKinds<Options extends ConfigurationOptions>({ kinds }: Pick<CommandContext, "kinds">, options: Options): Options {
  return kinds === undefined ? options : { ...options, kinds };
}

/** The option with which `reportProblem` shows the place of a problem; empty if the file could not be read. */
export function problemText({ file }: Problem, texts: ReadonlyMap<string, string>): { text?: string } {
  const text = texts.get(file);
  return text === undefined ? {} : { text };
}

interface CheckOptions {
  readonly name: string | undefined;
  readonly namespace: string | undefined;
  readonly kinds: readonly SyncedKind[];
  readonly settings: Settings;
}

type ReadFile = ConfigText | { readonly file: string; readonly fault: EngineError };

async function readText(terminal: Terminal, file: string, { refuseEmpty = false }: ConfigurationOptions): Promise<ReadFile> {
  try {
    const text = await terminal.read(file);
    return refuseEmpty && saysNothing(text) ? { file, fault: emptyFile(file) } : { file, text };
  } catch (error) {
    if (isEngineError(error, "CONFIG_FILE", "CONFIG_SYNTAX")) return { file, fault: error };
    throw error;
  }
}

function checkSettings(file: ReadFile | undefined): SettingsResult {
  if (file === undefined) return resolveSettings({}, { file: NO_SETTINGS });
  return "text" in file ? parseSettings(file.text, file) : { ok: false, problems: [unreadableProblem(file.file, file.fault)] };
}

function checkFiles(files: readonly ReadFile[], options: CheckOptions): ConfigResult {
  const faults = files.flatMap((file) => ("fault" in file ? [unreadableProblem(file.file, file.fault)] : []));
  // The missing content of an unreadable file would only cause further errors in the others.
  if (faults.length > 0) return { ok: false, problems: faults };
  const texts = files.filter((file) => "text" in file);
  const { settings, name, namespace, kinds } = options;
  const named = name !== undefined && namespace !== undefined;
  return parseConfig(texts.length === 0 ? "" : texts, { settings, kinds, ...(named && { vcluster: { name, namespace } }) });
}

function unreadableProblem(file: string, { code, message, details }: EngineError): Problem {
  const { reason = message, hint = "" } = details as { reason?: string; hint?: string };
  const sentence = reason.charAt(0).toUpperCase() + reason.slice(1);
  return { code, severity: "error", message: sentence, file, line: 0, column: 0, field: "", hint };
}

function problemsOf(result: ConfigResult | SettingsResult): readonly Problem[] {
  return result.ok ? result.warnings : result.problems;
}

function loadedOf(config: Config, settings: Settings, given: ConfigurationOptions): LoadedConfiguration {
  const { mappings, ...namespaces } = config.namespaces;
  const name = given.name ?? DEFAULT_VCLUSTER.name;
  // If the name was unknown when the mappings were checked, they still contain `${name}`.
  const byName = fillName(mappings.byName, name);
  const namespace = given.namespace ?? standIn(Object.values(byName));
  const { kinds = SYNCED_KINDS } = given;
  return { config: { ...config, namespaces: { ...namespaces, mappings: { byName } } }, settings, vcluster: { name, namespace }, kinds };
}

/** Returns a host namespace for a virtual cluster without one: a namespace that no mapping uses, as no mapping may use the real one. */
function standIn(mapped: readonly string[]): string {
  const free = (namespace: string) =>
    !mapped.some((host) => (host.endsWith("*") ? namespace.startsWith(host.slice(0, -1)) : host === namespace));
  return STAND_INS.find(free) ?? DEFAULT_VCLUSTER.namespace;
}
