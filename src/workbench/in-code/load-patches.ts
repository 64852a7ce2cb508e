import { readFile } from "node:fs/promises";
import { EngineError, messageOf } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import { suggest } from "../../base/suggest.ts";
import { parseConfig, resolveConfig, type ConfigText } from "../../engine/config/config.ts";
import { parseSettings, resolveSettings, type SettingsResult } from "../../engine/config/settings.ts";
import { SYNCED_KINDS } from "../../engine/kinds/synced-kinds.ts";
import type { PatchDefinition } from "../../engine/patch/patch-definition.ts";
import type { SyncedKind } from "../../engine/reconcile/rules/rules.ts";
import { formatProblem, type Problem } from "../../schema/problem.ts";
import type { VCluster } from "../../engine/translate/name.ts";
import type { PatchListName } from "../laws/report.ts";
import { createEngineCache } from "../patch-tests/engines.ts";
import { createPatchUnderTest, type PatchUnderTest } from "./patch-under-test.ts";

/** Source of patches: a configuration (file names or parsed content), or a list of patches for Endpoints. */
export type PatchSource =
  | {
      /** One or several file names (later files win), or the parsed content of a file. */
      readonly config: string | readonly string[] | JsonObject;
    }
  | { readonly patches: readonly PatchDefinition[] };

/** Options for loading patches. */
export interface PatchesOptions {
  /** The engine settings: a file name, or the parsed content of a file. If omitted, the default settings are used. */
  readonly settings?: string | JsonObject;
  /** The virtual cluster. Default `{ name: "blue", namespace: "vc-blue" }`, as in patch test files. */
  readonly vcluster?: VCluster;
  /** The kinds that can have patches. Default: all that are synced. */
  readonly kinds?: readonly SyncedKind[];
}

/** The patches of one configuration, in one sandbox. */
export interface LoadedPatches {
  /** All patches: those of Services first, then EndpointSlices, then Endpoints, then other kinds, each in the order of its list. */
  readonly all: readonly PatchUnderTest[];
  /**
   * Returns the one patch at a path, or at an index of its list, starting at 0. The path is written as in the configuration, or in
   * canonical form.
   *
   * @param list Default: the first list that has such a patch, Endpoints first.
   * @throws USAGE if there is none.
   */
  patch(place: string | number, list?: PatchListName): PatchUnderTest;
  /** Frees the sandboxes; the patches cannot be used afterwards. */
  dispose(): void;
}

/**
 * Loads all patches of a configuration, or patches that are not in a file.
 *
 * @throws CONFIG_FILE when a file cannot be read; CONFIG_VALUE when configuration or settings are not valid: the message lists every
 *   problem with its place.
 * @example
 * const patches = await loadPatches({ config: "vcluster.yaml" });
 * patches.patch("subsets[*].addresses[*].ip").toHost("10.0.0.1").value;
 * patches.dispose();
 */
export async function loadPatches(options: PatchSource & PatchesOptions): Promise<LoadedPatches> {
  const { settings = {}, vcluster = { name: "blue", namespace: "vc-blue" }, kinds = SYNCED_KINDS } = options;
  const config = "patches" in options ? { sync: { toHost: { endpoints: { patches: options.patches } } } } : options.config;
  const read = typeof settings === "string" ? await parsedSettings(settings) : resolveSettings(settings);
  if (!read.ok) throw invalid("settings", read.problems);
  const given = { settings: read.settings, vcluster };
  const known = { ...given, kinds };
  const resolved = isNamed(config) ? parseConfig(await Promise.all([config].flat().map(readText)), known) : resolveConfig(config, known);
  if (!resolved.ok) throw invalid("configuration", resolved.problems);
  const engines = createEngineCache({ kinds });
  try {
    const engine = await engines.engineFor({ config: resolved.config, ...given });
    const watching = await engines.watchingSandbox(engine);
    const all = engine.rules.flatMap((rules) => rules.patches.map((patch) => createPatchUnderTest({ engine, watching, rules, patch })));
    const sections = kinds.map(({ section }) => section);
    const patch: LoadedPatches["patch"] = (place, list) => find(all, place, list === undefined ? sections : [list]);
    return { all, patch, dispose: () => engines.dispose() };
  } catch (error) {
    engines.dispose();
    throw error;
  }
}

/** Reports whether a configuration is given as names of files. */
function isNamed(config: string | readonly string[] | object): config is string | readonly string[] {
  return typeof config === "string" || Array.isArray(config);
}

async function parsedSettings(name: string): Promise<SettingsResult> {
  const { text, file } = await readText(name);
  return parseSettings(text, { file });
}

async function readText(file: string): Promise<ConfigText> {
  try {
    return { text: await readFile(file, "utf8"), file };
  } catch (error) {
    throw new EngineError("CONFIG_FILE", `Cannot read ${file}: ${messageOf(error)}`, { cause: error });
  }
}

function invalid(what: string, problems: readonly Problem[]): EngineError {
  const lines = problems.filter(({ severity }) => severity === "error").map((problem) => `\n${formatProblem(problem)}`);
  return new EngineError("CONFIG_VALUE", `Cannot use the ${what}:${lines.join("")}`);
}

function find(all: readonly PatchUnderTest[], place: string | number, lists: readonly PatchListName[]): PatchUnderTest {
  const fits = ({ index, path, definition }: PatchUnderTest) =>
    typeof place === "number" ? index === place : path === place || definition.path === place;
  const found = lists.flatMap((name) => all.filter((patch) => patch.list === name && fits(patch)))[0];
  if (found !== undefined) return found;
  const known = all.filter((patch) => lists.includes(patch.list)).map(({ path }) => path);
  const meant = suggest(String(place), known);
  const hint = meant === undefined ? `Its patches: ${known.length === 0 ? "none" : known.join(", ")}` : `Did you mean ${meant}?`;
  throw new EngineError("USAGE", `There is no patch ${typeof place === "number" ? `#${place}` : `at ${place}`}. ${hint}`, {
    details: { hint },
  });
}
