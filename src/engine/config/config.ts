/**
 * Reads `vcluster.yaml` as the engine's configuration, or reports every problem of the file before anything starts.
 *
 * @module
 */
import type { JsonObject } from "../../base/json.ts";
import { withParsed } from "../patch/parsed-patch.ts";
import type { PatchDefinition } from "../patch/patch-definition.ts";
import { decode } from "../../schema/decode.ts";
import { mergeNodes, startOf, valueAt, type Node, keyStartOf, textOf } from "../../schema/node.ts";
import { objectToNode } from "../../schema/object-node.ts";
import { Report, sortProblems, type Problem } from "../../schema/problem.ts";
import type { Infer } from "../../schema/schema.ts";
import { readYaml } from "../../schema/yaml.ts";
import { SYNCED_KINDS } from "../kinds/synced-kinds.ts";
import type { SyncedKind } from "../reconcile/rules/rules.ts";
import { CONFIG_SCHEMA, configSchema, type DecodedSection } from "./config-schema.ts";
import { checkBackends, warnOfDeadReverses, warnOfForeignPatches, warnOfServicesAlone, warnOfUncopiedReferences } from "./patches/lists.ts";
import { checkNamespaces, fillName, type VclusterIdentity } from "./namespaces.ts";
import type { PATCH } from "./patches/patch-schema.ts";
import { checkPatches, type CheckedPatch } from "./patches/patches.ts";
import { DEFAULT_SETTINGS, type Settings } from "./settings.ts";
import { warnOfOneWayPatches, warnOfUnreachedReverses } from "./patches/way-back.ts";
import { SETTINGS_SCHEMA } from "./settings-schema.ts";

/** The sync settings of one kind. */
export interface ResourceSync {
  readonly enabled: boolean;
  /** True if the file contains `enabled: true`; false if `enabled` is true only by default. */
  readonly explicit: boolean;
  /** In the order of the file. Empty for kinds that are copied only for references. */
  readonly patches: readonly PatchDefinition[];
}

/** The sync settings of EndpointSlices, which have no section by default. */
export interface EndpointSliceSync extends ResourceSync {
  /** True if the file has the section. */
  readonly configured: boolean;
}

/** The mapping of namespaces; `enabled` selects multi-namespace mode. */
export interface NamespaceSync {
  readonly enabled: boolean;
  /** Tenant namespace → host namespace. `${name}` is filled in if `options.vcluster` was given. Has no prototype. */
  readonly mappings: { readonly byName: Readonly<Record<string, string>> };
  readonly mappingsOnly: boolean;
}

/** A valid configuration. It has a property for each synced kind, named like the section of that kind; see {@link syncOf}. */
export interface Config {
  readonly endpoints: ResourceSync;
  readonly services: ResourceSync;
  readonly endpointSlices: EndpointSliceSync;
  readonly namespaces: NamespaceSync;
  readonly secrets: ResourceSync;
  readonly configMaps: ResourceSync;
  /** The whole file, merged over the defaults of every section that the engine knows, as in `context.vcluster.config`. */
  readonly merged: JsonObject;
}

/** A configuration with its warnings, or all errors and warnings. */
export type ConfigResult =
  | { readonly ok: true; readonly config: Config; readonly warnings: readonly Problem[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** The text of one of several files. */
export interface ConfigText {
  readonly text: string;
  readonly file: string;
}

/** Input of the checks in addition to the file. */
export interface ConfigOptions {
  /** Name of the file for positions, when one text is given. Default "vcluster.yaml", and "<object>" for objects. */
  readonly file?: string;
  /** Default {@link DEFAULT_SETTINGS}. */
  readonly settings?: Settings;
  /** Used to fill in `${name}` in namespace mappings, and to reject mappings to the virtual cluster's own host namespace. */
  readonly vcluster?: VclusterIdentity;
  /** The kinds that have a section. Must include {@link SYNCED_KINDS}, which is the default. */
  readonly kinds?: readonly SyncedKind[];
}

const NOT_SYNCED: ResourceSync = { enabled: false, explicit: false, patches: [] };

/**
 * Returns how a kind is synced. A kind that was unknown when the configuration was read is not synced.
 *
 * @example
 * syncOf(config, SERVICES_KIND).patches; // those of sync.toHost.services
 */
export function syncOf(config: Config, { section }: Pick<SyncedKind, "section">): ResourceSync {
  return (config as unknown as Readonly<Record<string, ResourceSync | undefined>>)[section] ?? NOT_SYNCED;
}

/** Returns the configuration with changed sync settings for these kinds. */
export function withSync(config: Config, kinds: readonly SyncedKind[], change: (sync: ResourceSync) => ResourceSync): Config {
  return { ...config, ...Object.fromEntries(kinds.map((kind) => [kind.section, change(syncOf(config, kind))])) };
}

/**
 * Reads the configuration from one or more texts. Later texts take precedence: maps are merged, everything else is replaced. A position
 * refers to the file that the value came from.
 *
 * Error codes: CONFIG_SYNTAX, CONFIG_TYPE, CONFIG_UNKNOWN_FIELD, CONFIG_REQUIRED, CONFIG_VALUE, PATCH_MODE,
 * PATCH_DUPLICATE_PATH, PATCH_PROTECTED_PATH, PATH_SYNTAX, PATH_UNSUPPORTED, EXPRESSION_SYNTAX.
 *
 * @example
 * const result = parseConfig("sync: {toHost: {endpoints: {enabled: false}}}", { file: "vcluster.yaml" });
 * result.ok && result.config.endpoints.enabled; // false
 */
export function parseConfig(texts: string | readonly ConfigText[], options: ConfigOptions = {}): ConfigResult {
  const files = typeof texts === "string" ? [{ text: texts, file: options.file ?? "vcluster.yaml" }] : texts;
  const report = new Report();
  const nodes = files.map(({ text, file }) => readYaml(text, { file, report })).map((node) => node && checkRoot(node, report));
  // The missing content of an unreadable file would only cause further errors in the others.
  if (nodes.includes(undefined)) return { ok: false, problems: sortProblems(report.problems) };
  const readable = nodes.filter((node) => node !== undefined);
  const root = readable.reduce(mergeNodes, objectToNode({}, { file: options.file ?? "vcluster.yaml", report }));
  return resolve(root, { ...options, report });
}

/**
 * Reads the configuration from parsed data. Checks and codes are those of {@link parseConfig}; every
 * position is 0:0.
 *
 * @example
 * const result = resolveConfig({});
 * result.ok && result.config.endpoints; // { enabled: true, explicit: false, patches: [] }
 */
export function resolveConfig(object: unknown, options: ConfigOptions = {}): ConfigResult {
  const report = new Report();
  const root = objectToNode(object, { file: options.file ?? "<object>", report });
  return resolveRoot(root, { ...options, report });
}

/**
 * Reads the configuration from a part of a larger document. Checks and codes are those of {@link parseConfig}.
 *
 * @example
 * const result = resolveConfigNode(valueAt(document, "config")!);
 */
export function resolveConfigNode(root: Node, options: ConfigOptions = {}): ConfigResult {
  return resolveRoot(root, { ...options, report: new Report() });
}

function resolveRoot(root: Node, options: ConfigOptions & { report: Report }): ConfigResult {
  const node = checkRoot(root, options.report);
  return node === undefined ? { ok: false, problems: options.report.problems } : resolve(node, options);
}

function checkRoot(node: Node, report: Report): Node | undefined {
  if (node.kind === "map") return node;
  report.error({ code: "CONFIG_TYPE", at: startOf(node), field: "", message: "Expected a map of sections, such as sync", hint: "" });
  return undefined;
}

function resolve(root: Node, options: ConfigOptions & { report: Report }): ConfigResult {
  const { report, kinds = SYNCED_KINDS } = options;
  const merged = decode(kinds === SYNCED_KINDS ? CONFIG_SCHEMA : configSchema(kinds), root, { report });
  const sections = kinds.map(({ section }) => section);
  checkPlaces(root, sections, report);
  const patches = checkSections(valueAt(valueAt(root, "sync"), "toHost"), options);
  const problems = sortProblems(report.problems);
  if (report.failed || merged === undefined) return { ok: false, problems };
  return { ok: true, config: configOf(merged, { root, kinds, vcluster: options.vcluster, patches }), warnings: problems };
}

/** Checks the sections, and returns their patches by section. */
function checkSections(toHost: Node | undefined, options: ConfigOptions & { report: Report }): CheckedPatches {
  const { report, settings = DEFAULT_SETTINGS, vcluster, kinds = SYNCED_KINDS } = options;
  const rules = { report, settings };
  const bySection = kinds.map((kind) => {
    const list = valueAt(valueAt(toHost, kind.section), "patches");
    const patches = checkPatches(list, { field: `sync.toHost.${kind.section}.patches`, kind, rules });
    warnOfDeadReverses(kind, patches, report);
    warnOfUnreachedReverses(kind, patches, report);
    warnOfOneWayPatches(kind, patches, report);
    return [kind.section, patches] as const;
  });
  const all = bySection.flatMap(([, patches]) => patches);
  warnOfUncopiedReferences(toHost, all, rules);
  checkNamespaces(valueAt(toHost, "namespaces"), { report, vcluster });
  warnOfServicesAlone(toHost, report);
  checkBackends(toHost, rules);
  warnOfForeignPatches(toHost, report);
  return new Map(bySection);
}

/** The patches of each section, in the order of the file. */
type CheckedPatches = ReadonlyMap<string, readonly CheckedPatch[]>;

type Merged = Infer<typeof CONFIG_SCHEMA>;

interface Given {
  readonly root: Node;
  readonly kinds: readonly SyncedKind[];
  readonly vcluster: VclusterIdentity | undefined;
  readonly patches: CheckedPatches;
}

function configOf(merged: Merged, { root, kinds, vcluster, patches: checked }: Given): Config {
  const { toHost } = merged.sync;
  const written = (name: string) => isTrue(valueAt(valueAt(valueAt(valueAt(root, "sync"), "toHost"), name), "enabled"));
  const { enabled, mappings, mappingsOnly } = toHost.namespaces;
  const byName = vcluster === undefined ? mappings.byName : fillName(mappings.byName, vcluster.name);
  const sections = toHost as unknown as Readonly<Record<string, DecodedSection | undefined>>;
  const synced = kinds.map(({ section, byDefault }) => {
    const decoded = sections[section];
    const { enabled: isEnabled, patches = [] } = decoded ?? { enabled: false };
    const own = {
      enabled: isEnabled,
      explicit: written(section),
      patches: patches.map((patch, index) => withParsed(definitionOf(patch), checked.get(section)![index]!.parsed)),
    };
    return [section, byDefault ? own : { ...own, configured: decoded !== undefined }];
  });
  return {
    ...(Object.fromEntries(synced) as Pick<Config, "endpoints" | "services" | "endpointSlices">),
    namespaces: { enabled, mappings: { byName }, mappingsOnly },
    secrets: { enabled: toHost.secrets.enabled, explicit: written("secrets"), patches: [] },
    configMaps: { enabled: toHost.configMaps.enabled, explicit: written("configMaps"), patches: [] },
    merged: merged as JsonObject,
  };
}

/** Moves `labels` next to `reference` into it: both places have the same meaning. */
function definitionOf({ labels, ...patch }: Infer<typeof PATCH>): PatchDefinition {
  if (labels === undefined || patch.reference === undefined) return patch;
  return { ...patch, reference: { ...patch.reference, labels: {} } };
}

function isTrue(node: Node | undefined): boolean {
  return node?.kind === "scalar" && node.value === true;
}

/** The parts of a file that are never read. */
interface Misplaced {
  readonly parent: Node | undefined;
  /** Path of `parent`; empty for the whole file. */
  readonly field: string;
  readonly names: readonly string[];
  /** Returns what to do about the part `name`. */
  readonly hint: (name: string) => string;
}

/**
 * Reports sections in places where they are not read. Unknown fields are allowed there, so no other check finds them. `lists` are the sections
 * of `sync.toHost` that contain patches. Errors: CONFIG_TYPE for a Kubernetes object. Warnings: CONFIG_UNKNOWN_FIELD.
 */
function checkPlaces(root: Node, lists: readonly string[], report: Report): void {
  const [apiVersion, kind] = [textOf(valueAt(root, "apiVersion")), textOf(valueAt(root, "kind"))];
  if (apiVersion !== undefined && kind !== undefined) {
    const message = `Expected a vcluster.yaml, found a Kubernetes object (${apiVersion} ${kind})`;
    report.error({ code: "CONFIG_TYPE", at: startOf(root), field: "", message, hint: "Pass the values file of the virtual cluster" });
    return;
  }
  const [sync, settings] = [valueAt(root, "sync"), Object.keys(SETTINGS_SCHEMA.fields)];
  const moved = (name: string) => `Move it to ${placeOf(name, lists)}`;
  const misplaced: readonly Misplaced[] = [
    { parent: root, field: "", names: ["toHost", "fromHost", ...lists, "patches"], hint: moved },
    { parent: root, field: "", names: settings, hint: () => "Move it to the settings file, and pass that with --settings" },
    { parent: valueAt(root, "vcluster"), field: "vcluster", names: ["sync"], hint: () => "Move it to the top level" },
    { parent: sync, field: "sync", names: [...lists, "patches"], hint: moved },
    { parent: valueAt(sync, "toHost"), field: "sync.toHost", names: ["patches"], hint: moved },
    { parent: valueAt(sync, "fromHost"), field: "sync.fromHost", names: [...lists, "patches"], hint: moved },
  ];
  for (const part of misplaced) warnOf(part, report);
}

function warnOf({ parent, field, names, hint }: Misplaced, report: Report): void {
  if (parent?.kind !== "map") return;
  for (const [name, entry] of parent.entries) {
    if (!names.includes(name)) continue;
    const message = `"${name}" is not read ${field === "" ? "at the top level" : "here"}`;
    report.warning({ code: "CONFIG_UNKNOWN_FIELD", at: keyStartOf(entry), field, message, hint: hint(name) });
  }
}

function placeOf(name: string, lists: readonly string[]): string {
  if (name === "patches") return "the kind that it patches, for example sync.toHost.endpoints.patches";
  return lists.includes(name) ? `sync.toHost.${name}` : `sync.${name}`;
}
