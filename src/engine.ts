/**
 * Joins the rooms: a configuration, settings and a sandbox become the rules that plans are made by.
 *
 * @module
 */
import { sha256Hex } from "./base/digest.ts";
import { canonicalJson } from "./base/json.ts";
import type { Config, ResourceSync } from "./config/config.ts";
import { DEFAULT_SETTINGS } from "./config/settings.ts";
import type { Settings } from "./config/settings.ts";
import { CONFIG_MAPS, ENDPOINTS, SECRETS, SERVICES } from "./object/resource.ts";
import { selectorOf } from "./object/selector.ts";
import { compilePatches } from "./patch/compile.ts";
import { createNameRules } from "./patch/names.ts";
import type { NameRules } from "./patch/types.ts";
import { compileAddressPolicy } from "./reconcile/address-policy.ts";
import { compileExcludedKeys } from "./reconcile/excluded-keys.ts";
import { ENDPOINTS_KIND } from "./reconcile/endpoints.ts";
import type { PlanSettings, Rules, ServicesMode, SyncedKind } from "./reconcile/rules.ts";
import { SERVICES_KIND } from "./reconcile/services.ts";
import { createSandbox } from "./sandbox/sandbox.ts";
import { createMapping } from "./translate/mapping.ts";
import { formatKind } from "./translate/markers.ts";
import type { VCluster } from "./translate/name.ts";
import { createTranslator } from "./translate/translator.ts";
import type { Translator } from "./translate/translator.ts";

/** What an engine is made of. */
export interface EngineOptions {
  readonly config: Config;
  /** Default: DEFAULT_SETTINGS. */
  readonly settings?: Settings;
  readonly vcluster: VCluster;
  /** Who makes host Services. Default "managed". */
  readonly services?: ServicesMode;
  /** An embedder's own names instead of the configured ones. */
  readonly translator?: Translator;
}

/** The rules of one configuration, with the sandbox that its expressions live in. */
export interface Engine {
  /** One entry per synced kind, Services before Endpoints. */
  readonly rules: readonly Rules[];
  readonly translator: Translator;
  readonly settings: Settings;
  readonly vcluster: VCluster;
  /** Frees the sandbox; the rules can not be used afterwards. */
  dispose(): void;
}

/** The translator that a configuration asks for. */
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

/**
 * Compiles a configuration.
 *
 * @throws EXPRESSION_SYNTAX, PATH_SYNTAX, PATCH_MODE when the configuration was not checked by `parseConfig` before.
 */
export async function createEngine(options: EngineOptions): Promise<Engine> {
  const { config, settings = DEFAULT_SETTINGS, vcluster, services = "managed" } = options;
  const translator = options.translator ?? createTranslatorFor(options);
  const sandbox = await createSandbox({ limits: settings.limits, toHostDns: (name) => translator.dns(name) });
  const shared = {
    engine: sandbox,
    translator,
    names: referenceNames(translator, settings),
    settings: planSettings(settings),
    services,
    servicesEnabled: services === "managed" && config.services.enabled && config.endpoints.enabled,
    vcluster: { ...vcluster, config: config.merged },
  };
  const rules = (kind: SyncedKind, sync: ResourceSync, enabled: boolean): Rules => ({
    ...shared,
    kind,
    enabled,
    patches: compilePatches(sync.patches, { engine: sandbox, pathSyntax: settings.pathSyntax }),
    configHash: configHash(sync, options),
  });
  return {
    rules: [
      ...(services === "managed" ? [rules(SERVICES_KIND, config.services, shared.servicesEnabled)] : []),
      rules(ENDPOINTS_KIND, config.endpoints, config.endpoints.enabled),
    ],
    translator,
    settings,
    vcluster,
    dispose: () => sandbox.dispose(),
  };
}

/** Forward by rule, and every pair that was looked up is remembered for the way back. */
function referenceNames(translator: Translator, settings: Settings): NameRules {
  const mapping = createMapping();
  const names = createNameRules({ translator, mapping, kinds: [SECRETS, CONFIG_MAPS, SERVICES, ENDPOINTS, ...settings.references.kinds] });
  return {
    ...names,
    toHost(kind, tenant) {
      const host = names.toHost(kind, tenant);
      if (host !== undefined) mapping.record(formatKind(kind), tenant, host);
      return host;
    },
  };
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

/** Everything that decides what a copy looks like, as 16 hex digits. */
function configHash(sync: ResourceSync, { config, vcluster }: EngineOptions): string {
  const { enabled, mappings, mappingsOnly } = config.namespaces;
  return sha256Hex(canonicalJson({ patches: sync.patches, vcluster, namespaces: { enabled, mappings, mappingsOnly } })).slice(0, 16);
}
