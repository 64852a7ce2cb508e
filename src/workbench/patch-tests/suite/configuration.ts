/**
 * Reads the configuration and the settings of a test file, from other files or from the test file itself.
 *
 * @module
 */
import { parseConfig, resolveConfigNode, type ConfigResult, type ConfigText } from "../../../engine/config/config.ts";
import { DEFAULT_SETTINGS, resolveSettingsNode, type Settings } from "../../../engine/config/settings.ts";
import type { SyncedKind } from "../../../engine/reconcile/rules/rules.ts";
import { isAbsent, startOf, textOf, type MapNode, type Node } from "../../../schema/node.ts";
import type { Problem, Report } from "../../../schema/problem.ts";
import type { VCluster } from "../../../engine/translate/name.ts";
import type { SuiteFiles } from "./files.ts";

/** Source of a configuration: `config`, `patches` and `settings` of the test file. */
export interface ConfigurationNodes {
  readonly config?: Node | undefined;
  readonly patches?: Node | undefined;
  readonly settings?: Node | undefined;
}

/** A configuration for any virtual cluster. */
export interface SuiteConfiguration {
  readonly settings: Settings;
  /** Returns the configuration for one virtual cluster, which may contain the name of the virtual cluster. Each is read once. */
  configFor(vcluster: VCluster): ConfigResult;
  /** Name of the configuration: its files, or the test file that contains it. */
  readonly source: string;
}

/** Context for reading a configuration. */
export interface ConfigurationSource {
  readonly files: SuiteFiles;
  readonly report: Report;
  readonly kinds: readonly SyncedKind[];
}

/**
 * Reads the configuration of a suite; undefined if it cannot be read, which is reported. Problems of the configuration
 * itself are in the result of `configFor`.
 *
 * @example
 * const configuration = await readConfiguration({ config: valueAt(root, "config") }, { files, report, kinds });
 */
export async function readConfiguration(nodes: ConfigurationNodes, source: ConfigurationSource): Promise<SuiteConfiguration | undefined> {
  const [resolved, settings] = [await configReader(nodes, source), await readSettings(nodes.settings, source)];
  if (resolved === undefined) return undefined;
  const known = new Map<string, ConfigResult>();
  return {
    settings,
    source: sourceOf(nodes, source.files),
    configFor(vcluster) {
      const key = JSON.stringify([vcluster.name, vcluster.namespace]);
      const result = known.get(key) ?? resolved({ vcluster, settings, kinds: source.kinds });
      known.set(key, result);
      return result;
    },
  };
}

function sourceOf({ config }: ConfigurationNodes, files: SuiteFiles): string {
  const names = config?.kind === "list" ? config.items.map(textOf) : [textOf(config)];
  const found = names.filter((name) => name !== undefined).map((name) => files.resolve(name));
  return found.length > 0 ? found.join(" + ") : files.reads[0]!;
}

type ConfigReader = (options: { vcluster: VCluster; settings: Settings; kinds: readonly SyncedKind[] }) => ConfigResult;

async function configReader({ config, patches }: ConfigurationNodes, source: ConfigurationSource): Promise<ConfigReader | undefined> {
  const { report } = source;
  if (!isAbsent(config) && !isAbsent(patches)) {
    const hint = "Write sync.toHost.endpoints.patches in config, or omit config";
    report.error({ code: "CONFIG_VALUE", at: startOf(patches), field: "patches", message: "Found patches together with config", hint });
    return undefined;
  }
  if (!isAbsent(patches)) return (options) => resolveConfigNode(asConfiguration(patches), options);
  if (config?.kind === "map") return (options) => resolveConfigNode(config, options);
  const names = config?.kind === "list" ? config.items : isAbsent(config) ? [] : [config];
  const texts: ConfigText[] = [];
  for (const node of names) {
    const name = textOf(node);
    if (name === undefined) {
      report.error({ code: "CONFIG_TYPE", at: startOf(node), field: "config", message: "Expected the name of a file" });
      continue;
    }
    const fail = (message: string) => report.error({ code: "CONFIG_FILE", at: startOf(node), field: "config", message });
    const text = await source.files.text(name, fail);
    if (text !== undefined) texts.push({ text, file: source.files.resolve(name) });
  }
  return texts.length < names.length ? undefined : (options) => parseConfig(texts, options);
}

/** Reads the settings. Invalid ones are reported, and the defaults are used, so that users see problems of the configuration as well. */
async function readSettings(node: Node | undefined, { files, report }: Omit<ConfigurationSource, "kinds">): Promise<Settings> {
  if (isAbsent(node)) return DEFAULT_SETTINGS;
  const name = textOf(node);
  const at = { report, at: startOf(node), field: "settings" };
  const root = name === undefined ? node : await files.document(name, at);
  if (root === undefined) return DEFAULT_SETTINGS;
  if (root.kind !== "map") {
    report.error({
      code: "CONFIG_TYPE",
      at: startOf(root),
      field: "settings",
      message: "Expected the name of a file, or a map of settings",
    });
    return DEFAULT_SETTINGS;
  }
  const result = resolveSettingsNode(root);
  if (result.ok) return result.settings;
  copyProblems(result.problems, report);
  return DEFAULT_SETTINGS;
}

/** Copies the problems of one report to another, except duplicates. */
export function copyProblems(problems: readonly Problem[], report: Report): void {
  for (const { severity, code, message, file, line, column, field, hint } of problems) {
    const isKnown = report.problems.some(
      (known) => known.line === line && known.column === column && known.message === message && known.file === file,
    );
    if (!isKnown) report[severity]({ code, message, at: { file, line, column }, field, hint });
  }
}

/** The document `sync: { toHost: { endpoints: { patches } } }` around a list of patches. */
function asConfiguration(patches: Node): MapNode {
  return ["patches", "endpoints", "toHost", "sync"].reduce<Node>(wrap, patches) as MapNode;
}

function wrap(value: Node, key: string): MapNode {
  const { source, start } = value;
  return { kind: "map", source, start, entries: new Map([[key, { keySource: source, keyStart: start, value }]]) };
}
