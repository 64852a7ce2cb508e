import { EngineError } from "../../base/errors.ts";
import type { ObjectKey } from "../../kube/object/key.ts";
import type { ResourceType } from "../../kube/object/resource.ts";
import { DEFAULT_MARKER_PREFIX, isMarkerKey } from "./markers.ts";
import { sharedName, safeConcat, type VCluster } from "./name.ts";
import { sha256Hex } from "../../base/digest.ts";
import { isRecord, typeInWords } from "../../base/json.ts";
import type { StringMap } from "../../kube/object/types.ts";

/** The distribution of tenant objects over host namespaces. */
export type NamespaceMode = "single-namespace" | "multi-namespace";

/** Options of a translator. */
export interface TranslatorOptions {
  readonly vcluster: VCluster;
  /** Default "single-namespace": all copies are in the virtual cluster's host namespace, under longer names. */
  readonly mode?: NamespaceMode;
  /** The validated `sync.toHost.namespaces.mappings.byName`. Only multi-namespace mode uses it. */
  readonly mappings?: Readonly<Record<string, string>>;
  /** In multi-namespace mode: true to translate only objects of mapped namespaces. Default false. */
  readonly mappingsOnly?: boolean;
  /** Domain of translated DNS names without a domain. Default "cluster.local". */
  readonly hostClusterDomain?: string;
  /** Prefix of the engine's label keys. Default "sync.platform/". At most 45 characters, including the slash. */
  readonly markerPrefix?: string;
}

/** Translates names between one virtual cluster and its host. Pure: the same input always gives the same result. */
export interface Translator extends LabelRules {
  readonly vcluster: VCluster;
  readonly mode: NamespaceMode;
  readonly markerPrefix: string;
  /**
   * The host key of a tenant object, or undefined if its namespace has no host namespace. `default/kubernetes` refers to
   * the virtual cluster's own Service, unless `kind` indicates a different object.
   */
  toHost(tenant: ObjectKey, kind?: Pick<ResourceType, "apiVersion" | "kind">): ObjectKey | undefined;
  /** Reports whether objects of this tenant namespace keep their names in their own host namespace. */
  isMapped(tenantNamespace: string): boolean;
  /** The host namespace for objects of a tenant namespace, or undefined if there is none. */
  hostNamespace(tenantNamespace: string): string | undefined;
  /**
   * Implements `virtualToHostDNS`: translates the DNS name of a tenant Service to the full DNS name of its host Service.
   *
   * @throws DNS_NAME_INVALID when `name` is not `<name>.<namespace>.svc[.<domain>]`, or its namespace is not mapped to the host.
   */
  dns(name: string): string;
  /** The host namespaces to watch, because they can contain copies; "all" if a mapping is a pattern. */
  targetNamespaces(): readonly string[] | "all";
}

/** Maximum length of the prefix: a longer one would be truncated in a translated label key, which has at most 63 characters. */
const PREFIX_LENGTH_MAX = 45;
const PREFIX = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?\/$/;

const KINDS_OF_SERVICE = ["Service", "Endpoints", "EndpointSlice"];

/**
 * Creates the translator of one virtual cluster.
 *
 * @throws CONFIG_VALUE when `markerPrefix` is not a DNS name followed by a slash, or is too long.
 * @example
 * const translator = createTranslator({ vcluster: { name: "blue", namespace: "vc-blue" } });
 * translator.toHost({ namespace: "shop", name: "db" }); // { namespace: "vc-blue", name: "db-x-shop-x-blue" }
 */
export function createTranslator(options: TranslatorOptions): Translator {
  const { vcluster, mode = "single-namespace", markerPrefix = DEFAULT_MARKER_PREFIX, hostClusterDomain = "cluster.local" } = options;
  checkPrefix(markerPrefix);
  const multi = mode === "multi-namespace";
  const namespaces = multi ? compileNamespaces(options.mappings ?? {}, vcluster) : NO_NAMESPACES;
  const keys = keyRules(vcluster, namespaces, multi && options.mappingsOnly === true);
  return {
    vcluster,
    mode,
    markerPrefix,
    ...keys,
    isMapped: (namespace) => namespaces.toHost(namespace) !== undefined,
    ...createLabelRules({ vcluster: vcluster.name, prefix: markerPrefix, translateRelease: !multi }),
    dns: (name) => translateDns(name, keys.toHost, hostClusterDomain),
    // The virtual cluster's own namespace is always among them: copies from before a mapping was added are there.
    targetNamespaces: () => (namespaces.targets === "all" ? "all" : [...new Set([vcluster.namespace, ...namespaces.targets])]),
  };
}

function checkPrefix(prefix: string): void {
  if (PREFIX.test(prefix) && prefix.length <= PREFIX_LENGTH_MAX) return;
  const wanted = `a DNS name and a slash, at most ${PREFIX_LENGTH_MAX} characters`;
  throw new EngineError("CONFIG_VALUE", `Cannot use marker prefix ${JSON.stringify(prefix)}: expected ${wanted}`);
}

function keyRules(vcluster: VCluster, namespaces: NamespaceRules, mappingsOnly: boolean): Pick<Translator, "toHost" | "hostNamespace"> {
  const hostNamespace = (namespace: string) => namespaces.toHost(namespace) ?? (mappingsOnly ? undefined : vcluster.namespace);
  return {
    hostNamespace,
    toHost(tenant, kind) {
      // As a Service, Endpoints or EndpointSlice, this is the tenant's API server, which already has a Service on the host.
      if (tenant.name === "kubernetes" && tenant.namespace === "default" && (kind === undefined || KINDS_OF_SERVICE.includes(kind.kind)))
        return { namespace: vcluster.namespace, name: vcluster.name };
      if (tenant.namespace === "") return { namespace: "", name: sharedName(tenant, vcluster) };
      const mapped = namespaces.toHost(tenant.namespace);
      if (mapped !== undefined) return { namespace: mapped, name: tenant.name };
      return mappingsOnly ? undefined : { namespace: vcluster.namespace, name: sharedName(tenant, vcluster) };
    },
  };
}

function translateDns(name: string, toHost: Translator["toHost"], defaultDomain: string): string {
  const { service, domain } = parseServiceDns(name);
  const host = toHost(service);
  if (host === undefined) throw invalidDns(name, `namespace "${service.namespace}" is not mapped to the host`);
  return `${host.name}.${host.namespace}.svc.${domain ?? defaultDomain}`;
}

/**
 * Look-up of mapped namespaces in multi-namespace mode. Both sides of a mapping are exact, or both end in one `*` that matches the same
 * text; `${name}` on the host side is the name of the virtual cluster. The checks of the configuration ensure this.
 */
interface NamespaceRules {
  /** The mapped host namespace; undefined for a tenant namespace that no entry covers. */
  toHost(tenantNamespace: string): string | undefined;
  /** Every host namespace that can result, or "all" if there are patterns. */
  readonly targets: readonly string[] | "all";
}

interface Pattern {
  readonly tenantPrefix: string;
  readonly hostPrefix: string;
}

/** The rules of single-namespace mode: no namespace is mapped. */
const NO_NAMESPACES: NamespaceRules = { toHost: () => undefined, targets: [] };

/**
 * Compiles the `byName` mappings. An exact entry takes precedence over a pattern, and a longer pattern over a shorter one.
 *
 * @example
 * const rules = compileNamespaces({ "team-a-*": "h-team-a-*" }, { name: "blue", namespace: "vc-blue" });
 * rules.toHost("team-a-dev"); // "h-team-a-dev"
 */
export function compileNamespaces(byName: Readonly<Record<string, string>>, vcluster: VCluster): NamespaceRules {
  const exact = new Map<string, string>();
  const patterns: Pattern[] = [];
  for (const [tenant, template] of Object.entries(byName)) {
    const host = template.replace("${name}", () => vcluster.name);
    if (tenant.endsWith("*")) patterns.push({ tenantPrefix: tenant.slice(0, -1), hostPrefix: host.slice(0, -1) });
    else exact.set(tenant, host);
  }
  // The longer of two matching patterns is more specific; the order of keys in a file must not matter.
  patterns.sort((left, right) => right.tenantPrefix.length - left.tenantPrefix.length);
  return {
    toHost(namespace) {
      const host = exact.get(namespace) ?? expand(patterns, namespace);
      // A pattern can reach the virtual cluster's own namespace, where objects must not keep their tenant names.
      return host === vcluster.namespace ? undefined : host;
    },
    targets: patterns.length > 0 ? "all" : [...exact.values()],
  };
}

function expand(patterns: readonly Pattern[], namespace: string): string | undefined {
  const match = patterns.find(({ tenantPrefix }) => namespace.length > tenantPrefix.length && namespace.startsWith(tenantPrefix));
  return match && match.hostPrefix + namespace.slice(match.tenantPrefix.length);
}

/**
 * Translates label keys and selectors in both directions.
 *
 * Most keys are the same on both sides. Four keys mean something else on the host: `release` (there it is the release of the
 * virtual cluster itself, whose Service may select by it) and the three marker labels of the engine. These get a key of
 * their own, made of the virtual cluster's name and a digest, so that nested virtual clusters stay separate.
 *
 * Guarantees: `labelKey` is one-to-one where it is defined, and `tenantLabelKey` is its exact inverse. No other tenant key below the marker
 * prefix reaches the host.
 */
interface LabelRules {
  /** Tenant key → host key; undefined for a key that is not written to the host: a translated key, or another marker. */
  labelKey(key: string): string | undefined;
  /** Host key → tenant key; undefined for a key that is not written to the tenant: a marker, or an untranslated special key. */
  tenantLabelKey(key: string): string | undefined;
  /** Tenant labels in their form on the host, without the engine's own markers. */
  labels(labels: StringMap): Record<string, string>;
  /** Host labels in their form in the tenant. */
  tenantLabels(labels: StringMap): Record<string, string>;
  /** A tenant label selector in its form on the host. */
  labelSelector(selector: unknown): unknown;
  /** A host label selector in its form in the tenant. */
  tenantLabelSelector(selector: unknown): unknown;
}

/** Marker labels that a tenant object can have, if the tenant cluster hosts virtual clusters of its own. */
const NESTED = ["managed-by", "namespace", "controlled-by"];

/**
 * Creates the label rules for one virtual cluster. `translateRelease` is false in multi-namespace mode, where tenant objects do not share a
 * namespace with the virtual cluster's own objects.
 *
 * @example
 * const rules = createLabelRules({ vcluster: "blue", prefix: "sync.platform/", translateRelease: true });
 * rules.labelKey("release"); // "sync.platform/label-blue-x-a4d451ec23"
 */
export function createLabelRules(options: { vcluster: string; prefix: string; translateRelease: boolean }): LabelRules {
  const { vcluster, prefix } = options;
  const special = [...(options.translateRelease ? ["release"] : []), ...NESTED.map((name) => prefix + name)];
  const hostKeys = new Map(special.map((key) => [key, translatedKey(prefix, vcluster, key)]));
  const tenantKeys = new Map([...hostKeys].map(([tenant, host]) => [host, tenant]));

  const labelKey = (key: string) => hostKeys.get(key) ?? (tenantKeys.has(key) || isMarkerKey(prefix, key) ? undefined : key);
  const tenantLabelKey = (key: string) => tenantKeys.get(key) ?? (hostKeys.has(key) || isMarkerKey(prefix, key) ? undefined : key);
  return {
    labelKey,
    tenantLabelKey,
    labels: (labels) => renameKeys(labels, labelKey),
    tenantLabels: (labels) => renameKeys(labels, tenantLabelKey),
    labelSelector: (selector) => renameSelector(selector, labelKey),
    tenantLabelSelector: (selector) => renameSelector(selector, tenantLabelKey),
  };
}

function translatedKey(prefix: string, vcluster: string, key: string): string {
  return safeConcat(`${prefix}label`, vcluster, "x", sha256Hex(key).slice(0, 10));
}

type Rename = (key: string) => string | undefined;

function renameKeys<Value>(map: Readonly<Record<string, Value>>, rename: Rename): Record<string, Value> {
  const renamed: [string, Value][] = [];
  for (const [key, value] of Object.entries(map)) {
    const other = rename(key);
    if (other !== undefined) renamed.push([other, value]);
  }
  return Object.fromEntries(renamed);
}

/** Renames the keys of a structured selector, or of a plain map of labels as in Services. Returns anything else as it is. */
function renameSelector(selector: unknown, rename: Rename): unknown {
  if (!isRecord(selector)) return selector;
  // A condition without a counterpart stays: without it, the selector would match more objects.
  const keep: Rename = (key) => rename(key) ?? key;
  const { matchLabels, matchExpressions } = selector;
  if (!isRecord(matchLabels) && !Array.isArray(matchExpressions)) return renameKeys(selector, keep);
  return {
    ...selector,
    ...(isRecord(matchLabels) && { matchLabels: renameKeys(matchLabels, keep) }),
    ...(Array.isArray(matchExpressions) && { matchExpressions: matchExpressions.map((entry) => renameExpression(entry, keep)) }),
  };
}

function renameExpression(entry: unknown, rename: Rename): unknown {
  return isRecord(entry) && typeof entry["key"] === "string" ? { ...entry, key: rename(entry["key"]) } : entry;
}

/** The DNS name of a Service, taken apart. */
interface ServiceDns {
  readonly service: ObjectKey;
  /** Cluster domain, when the name has one. */
  readonly domain: string | undefined;
}

/** Maximum length of a DNS name. */
const DNS_LENGTH_MAX = 253;

const LABEL = "[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?";
const SERVICE_DNS = new RegExp(`^(${LABEL})\\.(${LABEL})\\.svc(?:\\.(${LABEL}(?:\\.${LABEL})*))?$`);

/**
 * Parses `<name>.<namespace>.svc[.<domain>]`. Nothing is guessed: ports, trailing dots, names of pods and upper case are
 * refused. The argument may be of any type, because it comes from an expression.
 *
 * @throws DNS_NAME_INVALID when `name` has another form.
 * @example
 * parseServiceDns("db.shop.svc"); // { service: { namespace: "shop", name: "db" }, domain: undefined }
 */
function parseServiceDns(name: unknown): ServiceDns {
  const match = typeof name === "string" && name.length <= DNS_LENGTH_MAX ? SERVICE_DNS.exec(name) : null;
  if (match === null) throw invalidDns(name, "expected <name>.<namespace>.svc or <name>.<namespace>.svc.<domain>");
  return { service: { namespace: match[2]!, name: match[1]! }, domain: match[3] };
}

/** The error for a name that cannot be translated; `why` describes the expected form. */
function invalidDns(name: unknown, why: string): EngineError {
  const shown = typeof name === "string" ? JSON.stringify(name.slice(0, DNS_LENGTH_MAX)) : `${typeInWords(name)}`;
  return new EngineError("DNS_NAME_INVALID", `Cannot translate DNS name ${shown}: ${why}`);
}
