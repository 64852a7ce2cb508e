/**
 * Combines a configuration, settings and a sandbox into the rules for plans.
 *
 * @module
 */
import { sha256Hex } from "../base/digest.ts";
import { assert, EngineError } from "../base/errors.ts";
import { canonicalJson, isRecord, jsonEqual } from "../base/json.ts";
import { syncOf, type Config, type ResourceSync } from "./config/config.ts";
import { effectiveBackends, type BackendsMode } from "./config/backends-mode.ts";
import { readKinds, refusesSlices, syncedBackends, type ReadKind } from "./config/backends.ts";
import { DEFAULT_SETTINGS, type Settings } from "./config/settings.ts";
import type { Direction } from "./patch/patch-definition.ts";
import { CONFIG_MAPS, qualifiedPlural, SECRETS, type ResourceType } from "../kube/object/resource.ts";
import { selectorOf } from "../kube/object/selector.ts";
import { compilePatches } from "./patch/compile.ts";
import { createNameRules } from "./patch/names.ts";
import type { NameRules, PatchEngine } from "./patch/types.ts";
import { compileAddressPolicy } from "./reconcile/rules/address-policy.ts";
import { compileExcludedKeys } from "./reconcile/rules/excluded-keys.ts";
import { referableKinds, SYNCED_KINDS } from "./kinds/synced-kinds.ts";
import type { ReferenceKind, ReferenceRules } from "./reconcile/references/reference-rules.ts";
import type { PlanSettings, Rules, ServicesMode, SyncedKind } from "./reconcile/rules/rules.ts";
import { createFuelBudget, createSandbox, type Sandbox } from "./sandbox/sandbox.ts";
import { createMapping } from "./translate/mapping.ts";
import { formatKind } from "./translate/markers.ts";
import type { VCluster } from "./translate/name.ts";
import { createTranslator, type Translator } from "./translate/translator.ts";

/** Options of an engine. */
export interface EngineOptions {
  readonly config: Config;
  /** Default: DEFAULT_SETTINGS. */
  readonly settings?: Settings;
  readonly vcluster: VCluster;
  /** The writer of host Services. Default "managed". */
  readonly services?: ServicesMode;
  /** Marker prefix of the syncer whose copies are taken over, for example `vcluster.loft.sh/`. Default: none. */
  readonly adopt?: string;
  /** uid of an earlier tenant cluster of this virtual cluster; its copies are taken over. Default: none. */
  readonly adoptCluster?: string;
  /** A translator that replaces the configured one. */
  readonly translator?: Translator;
  /** The kinds that can be synced, as passed to `parseConfig`. Must include {@link SYNCED_KINDS}, which is the default. */
  readonly kinds?: readonly SyncedKind[];
  /** Wraps the sandbox, to watch evaluations of patches. Default: no wrapper. */
  readonly instrument?: (engine: PatchEngine) => PatchEngine;
}

/** The rules of one configuration, with the sandbox of its expressions. */
export interface Engine {
  /** One entry per kind that is read: Services first, then EndpointSlices, then Endpoints, then all others. */
  readonly rules: readonly Rules[];
  readonly translator: Translator;
  readonly settings: Settings;
  /** The mode that results from the `backends` setting and the sections of the configuration. */
  readonly backends: BackendsMode;
  readonly vcluster: VCluster;
  /** The rules for copying objects that reference patches name; undefined when none are copied. */
  readonly references: ReferenceRules | undefined;
  /** Frees the sandbox; the rules cannot be used afterwards. */
  dispose(): void;
}

/**
 * Creates the translator of a configuration.
 *
 * @example
 * const translator = createTranslatorFor({ config: resolveConfig({}).config, vcluster: { name: "blue", namespace: "vc-blue" } });
 * translator.toHost({ namespace: "shop", name: "web" }); // { namespace: "vc-blue", name: "web-x-shop-x-blue" }
 */
export function createTranslatorFor({ config, settings = DEFAULT_SETTINGS, vcluster }: EngineOptions): Translator {
  return createTranslator({
    vcluster,
    mode: config.namespaces.enabled ? "multi-namespace" : "single-namespace",
    mappings: config.namespaces.mappings.byName,
    mappingsOnly: config.namespaces.mappingsOnly,
    hostClusterDomain: settings.hostClusterDomain,
    markerPrefix: settings.markerPrefix,
  });
}

/** Settings that are read once, at the start, because clients, caches, workers and the names of markers depend on them. */
const READ_ONCE = ["markerPrefix", "hostQps", "leaderElection", "workers"] as const satisfies readonly (keyof Settings)[];

function modeOf({ config, settings = DEFAULT_SETTINGS }: EngineOptions): BackendsMode {
  return effectiveBackends(settings.backends, config);
}

/** Reports whether two configurations have the same contents. */
export function sameConfiguration(left: EngineOptions, right: EngineOptions): boolean {
  const contents = ({ config, settings = DEFAULT_SETTINGS }: EngineOptions) => canonicalJson({ config, settings });
  return contents(left) === contents(right);
}

/**
 * Rejects a change that needs a restart.
 *
 * @throws CONFIG_VALUE when it needs a restart; the message names the field.
 */
export function checkReload(before: EngineOptions, after: EngineOptions): void {
  const { settings = DEFAULT_SETTINGS } = before;
  const changed: string[] = READ_ONCE.filter((field) => !jsonEqual(settings[field], (after.settings ?? DEFAULT_SETTINGS)[field]));
  const modes = [before, after].map(modeOf);
  // With `backends: slices`, Endpoints are not cached, and the permissions do not include them.
  if (modes[0] !== modes[1] && modes.includes("slices")) changed.unshift("backends to or from slices");
  if (before.config.namespaces.enabled !== after.config.namespaces.enabled) changed.push("sync.toHost.namespaces.enabled");
  if (changed.length === 0) return;
  throw new EngineError("CONFIG_VALUE", `Cannot change ${changed.join(", ")} while the syncer runs`, {
    details: { hint: "Restart the syncer with the new configuration" },
  });
}

/**
 * Compiles a configuration.
 *
 * @throws CONFIG_VALUE if `adopt` is not a marker prefix or is the syncer's own prefix, or if `backends` requires slices that the file
 *   disables.
 * @throws EXPRESSION_FUEL when compiling its expressions takes more than `limits.configurationFuel`.
 * @throws EXPRESSION_SYNTAX, PATH_SYNTAX, PATCH_MODE when the configuration was not checked by `parseConfig` before.
 */
export async function createEngine(options: EngineOptions): Promise<Engine> {
  const { config, settings = DEFAULT_SETTINGS, vcluster, services = "managed", kinds = SYNCED_KINDS } = options;
  const mode = modeOf(options);
  if (refusesSlices(mode, config)) throw refusedSlices(mode);
  const backends = syncedBackends(mode, config);
  const translator = options.translator ?? createTranslatorFor(options);
  const limits = settings.limits;
  const sandbox = hasExpressions(config, kinds) ? await createSandbox({ limits, toHostDns: (name) => translator.dns(name) }) : NO_SANDBOX;
  // Compiling does not run an expression, but the compiler can take long for its text; the patches of all kinds share one budget.
  const budget = createFuelBudget(limits.configurationFuel);
  const compiler: PatchEngine = {
    compile: (text, options) => sandbox.compile(text, { ...options, budget }),
    evaluate: sandbox.evaluate.bind(sandbox),
    readsHostObject: sandbox.readsHostObject.bind(sandbox),
  };
  const watched = options.instrument?.(compiler);
  const shared = {
    engine: watched ?? sandbox,
    translator,
    names: referenceNames(translator, { settings, kinds }),
    settings: planSettings(settings),
    services,
    servicesEnabled: services === "managed" && config.services.enabled && backends.services,
    ...(mode === "auto" && backends.readsSlices && { decidesBackends: true }),
    vcluster: { ...vcluster, config: config.merged },
    ...(options.adopt !== undefined && { adopt: checkPrefix(options.adopt, settings) }),
    ...(options.adoptCluster !== undefined && { adoptCluster: options.adoptCluster }),
  };
  const rules = ({ kind, enabled }: ReadKind): Rules => ({
    ...shared,
    kind,
    enabled,
    patches: compilePatches(syncOf(config, kind).patches, { engine: watched ?? compiler, pathSyntax: settings.pathSyntax }),
    configHash: configHash(syncOf(config, kind), options),
  });
  const all = readKinds({ kinds, backends: mode, config, services }).map(rules);
  return {
    rules: all,
    references: referenceRules(all, { ...options, kinds, settings, translator }),
    translator,
    settings,
    backends: mode,
    vcluster,
    dispose: () => sandbox.dispose(),
  };
}

function refusedSlices(mode: BackendsMode): EngineError {
  return new EngineError(
    "CONFIG_VALUE",
    `Cannot use backends: ${mode}: it requires EndpointSlices to be synced, but sync.toHost.endpointSlices.enabled is false`,
    {
      details: { hint: "Remove enabled: false from that section, or set backends: endpoints" },
    },
  );
}

function hasExpressions(config: Config, kinds: readonly SyncedKind[]): boolean {
  const patches = kinds.flatMap((kind) => syncOf(config, kind).patches);
  return patches.some(({ expression, reverseExpression }) => expression !== undefined || reverseExpression !== undefined);
}

/** Replaces the sandbox if there are no expressions: loading QuickJS takes 10 to 20 MB and 100 ms at the start. */
const NO_SANDBOX = {
  compile: noExpression,
  evaluate: noExpression,
  readsHostObject: noExpression,
  dispose: () => {},
} satisfies PatchEngine & Pick<Sandbox, "dispose">;

function noExpression(): never {
  assert(false, "a configuration with expressions has a sandbox");
}

/** @throws CONFIG_VALUE if `adopt` is not a marker prefix, or is the syncer's own. */
function checkPrefix(adopt: string, { markerPrefix }: Settings): string {
  if (/^[a-z0-9][-a-z0-9.]*\/$/.test(adopt) && adopt !== markerPrefix) return adopt;
  const wanted = `a DNS name and a slash, different from the syncer's own ${markerPrefix}`;
  throw new EngineError("CONFIG_VALUE", `Cannot adopt copies with the marker prefix "${adopt}": expected ${wanted}`);
}

/** Translates names to the host by rule, and records the pairs for the translation back. */
function referenceNames(
  translator: Translator,
  { settings, kinds }: { readonly settings: Settings; readonly kinds: readonly SyncedKind[] },
): NameRules {
  const mapping = createMapping();
  const names = createNameRules({ translator, mapping, kinds: [...referableKinds(kinds), ...settings.references.kinds] });
  return {
    ...names,
    toHost(kind, tenant) {
      const host = names.toHost(kind, tenant);
      if (host !== undefined) mapping.record(formatKind(kind), tenant, host);
      return host;
    },
  };
}

/** Returns undefined if no patch refers to an object that must be copied. */
function referenceRules(
  rules: readonly Rules[],
  {
    config,
    settings,
    translator,
    adoptCluster,
    kinds: synced,
  }: EngineOptions & Required<Pick<EngineOptions, "settings" | "translator" | "kinds">>,
): ReferenceRules | undefined {
  const { mode, retentionMinutes, objects } = settings.references;
  const kinds = mode === "follow" ? followedKinds(rules, { config, settings, synced }) : [];
  if (kinds.length === 0) return undefined;
  const excluded = compileExcludedKeys(settings.excludedKeys);
  const adopted = adoptCluster !== undefined && { adoptCluster };
  return { kinds, translator, excluded, retentionMs: retentionMinutes * 60_000, objectsMax: objects, ...adopted };
}

function followedKinds(
  rules: readonly Rules[],
  { config, settings, synced }: { config: Config; settings: Settings; synced: readonly SyncedKind[] },
): readonly ReferenceKind[] {
  const references = rules.flatMap(({ enabled, patches }) => (enabled ? patches.flatMap(({ reference }) => reference ?? []) : []));
  const direction = (explicit: boolean): Direction => (explicit ? "toHost" : "toTenant");
  const known: readonly ReferenceKind[] = [
    { resource: SECRETS, direction: direction(config.secrets.enabled && config.secrets.explicit) },
    { resource: CONFIG_MAPS, direction: direction(config.configMaps.enabled && config.configMaps.explicit) },
    ...settings.references.kinds.flatMap(({ apiVersion, kind, plural }) => {
      const isKnown = [SECRETS, CONFIG_MAPS, ...synced.map(({ resource }) => resource)].some((known) => known.kind === kind);
      if (plural === undefined || isKnown) return [];
      const resource = { apiVersion, kind, plural, namespaced: true };
      return [{ resource, direction: direction(isSwitchedOn(config, resource)) }];
    }),
  ];
  const isNamed = ({ resource }: ReferenceKind) =>
    references.some(({ definition, kind, apiVersion }) => {
      if (definition.labels !== undefined) return false;
      if (kind !== undefined || apiVersion !== undefined) return true;
      return definition.apiVersion === resource.apiVersion && definition.kind === resource.kind;
    });
  return known.filter(isNamed);
}

/** Reports whether `sync.toHost` has `enabled: true` for a kind, in a section with its name or below `customResources`. */
function isSwitchedOn({ merged }: Config, resource: ResourceType): boolean {
  const at = (value: unknown, field: string) => (isRecord(value) && Object.hasOwn(value, field) ? value[field] : undefined);
  const toHost = at(at(merged, "sync"), "toHost");
  const section = isRecord(toHost) ? Object.keys(toHost).find((name) => name.toLowerCase() === resource.plural) : undefined;
  const own = at(at(at(toHost, "customResources"), qualifiedPlural(resource)), "enabled");
  return own === true || (section !== undefined && at(at(toHost, section), "enabled") === true);
}

function planSettings(settings: Settings): PlanSettings {
  return {
    onError: settings.onError,
    addressPolicy: compileAddressPolicy(settings.addressPolicy),
    selector: settings.selector === null ? [] : selectorOf(settings.selector),
    requireService: settings.requireService,
    excluded: compileExcludedKeys(settings.excludedKeys),
    objectFuel: settings.limits.objectFuel,
  };
}

/** Digest of the patches of a kind and of the translation of names, as 16 hex digits. */
function configHash(sync: ResourceSync, { config, vcluster }: EngineOptions): string {
  const { enabled, mappings, mappingsOnly } = config.namespaces;
  return sha256Hex(canonicalJson({ patches: sync.patches, vcluster, namespaces: { enabled, mappings, mappingsOnly } })).slice(0, 16);
}
