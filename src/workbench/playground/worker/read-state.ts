/** Reads the configuration and the settings of a state, each text once. */
import { resolveConfigNode, type Config } from "../../../engine/config/config.ts";
import { DEFAULT_SETTINGS, parseSettings, type Settings } from "../../../engine/config/settings.ts";
import type { Node } from "../../../schema/node.ts";
import { Report, sortProblems, type Problem } from "../../../schema/problem.ts";
import { readYaml } from "../../../schema/yaml.ts";
import { SAMPLE_VCLUSTER, type PlaygroundState, type ShownVCluster } from "../protocol.ts";

/** A state's configuration and settings. */
export interface ReadState {
  readonly vcluster: ShownVCluster;
  /** The parsed text of the configuration; undefined if it is not YAML. */
  readonly root: Node | undefined;
  /** The input for the engine; undefined if either text has an error. */
  readonly parts: { readonly config: Config; readonly settings: Settings } | undefined;
  /** Errors and warnings of both texts. */
  readonly problems: readonly Problem[];
}

/** Reads the texts. If the settings are invalid, the configuration is checked with the defaults, so that all problems are found at once. */
export function readState({ config: text, settings: ownText = "", vcluster = SAMPLE_VCLUSTER }: PlaygroundState): ReadState {
  const own = ownText.trim() === "" ? undefined : parseSettings(ownText, { file: "settings" });
  const settings = own?.ok ? own.settings : DEFAULT_SETTINGS;
  const report = new Report();
  const root = readYaml(text, { file: "config", report });
  const parsed = root && resolveConfigNode(root, { vcluster, settings });
  const problems = [...sortProblems([...report.problems, ...problemsOf(parsed)]), ...problemsOf(own)];
  const parts = parsed?.ok && !report.failed && own?.ok !== false ? { config: parsed.config, settings } : undefined;
  return { vcluster, root, parts, problems };
}

type Result = { readonly ok: true; readonly warnings: readonly Problem[] } | { readonly ok: false; readonly problems: readonly Problem[] };

function problemsOf(result: Result | undefined): readonly Problem[] {
  if (result === undefined) return [];
  return result.ok ? result.warnings : result.problems;
}
