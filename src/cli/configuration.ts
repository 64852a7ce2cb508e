import { EngineError } from "../base/errors.ts";
import { parseConfig } from "../config/config.ts";
import type { Config } from "../config/config.ts";
import { DEFAULT_SETTINGS, parseSettings } from "../config/settings.ts";
import type { Settings } from "../config/settings.ts";
import { formatProblem } from "../schema/problem.ts";
import type { Problem } from "../schema/problem.ts";
import type { VCluster } from "../translate/name.ts";
import { EXIT_USAGE } from "./command.ts";
import type { CommandContext } from "./command.ts";

/** The options that name the configuration, as commander hands them over. */
export interface ConfigurationOptions {
  readonly config?: readonly string[];
  readonly settings?: string;
  readonly name?: string;
  readonly namespace?: string;
}

/** A configuration without problems. */
export interface LoadedConfiguration {
  readonly config: Config;
  readonly settings: Settings;
  readonly vcluster: VCluster;
}

/**
 * Reads configuration and settings. Every problem and warning goes to standard error; after an error the answer is `undefined`
 * and the exit code is set.
 */
export async function loadConfiguration(context: CommandContext, options: ConfigurationOptions): Promise<LoadedConfiguration | undefined> {
  const { terminal } = context;
  const vcluster = { name: options.name ?? "vcluster", namespace: options.namespace ?? "default" };
  const files = await Promise.all((options.config ?? []).map(async (file) => ({ file, text: await terminal.read(file) })));
  const settingsText = options.settings === undefined ? undefined : await terminal.read(options.settings);
  const settings = settingsText === undefined ? undefined : parseSettings(settingsText, { file: options.settings! });
  const usable = settings?.ok === true ? settings.settings : DEFAULT_SETTINGS;
  const config = parseConfig(files.length === 0 ? "" : files, { settings: usable, vcluster });

  const texts = new Map(files.map(({ file, text }) => [file, text]));
  if (settingsText !== undefined) texts.set(options.settings!, settingsText);
  for (const problem of [...problemsOf(settings), ...problemsOf(config)]) {
    terminal.err(formatProblem(problem, { ...(texts.has(problem.file) && { text: texts.get(problem.file)! }) }));
  }
  if (config.ok && settings?.ok !== false) return { config: config.config, settings: usable, vcluster };
  context.exit(EXIT_USAGE);
  return undefined;
}

function problemsOf(result: { ok: boolean; problems?: readonly Problem[]; warnings?: readonly Problem[] } | undefined): readonly Problem[] {
  return result?.problems ?? result?.warnings ?? [];
}

/** JSON given on the command line. @throws USAGE when it does not parse. */
export function parseJsonOption(text: string, option: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new EngineError("USAGE", `Cannot read ${option}: ${(error as Error).message}`, {
      cause: error,
      details: { hint: `Quote text twice, as in ${option} '"text"'` },
    });
  }
}

/** For options that may be given several times. */
export function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}
