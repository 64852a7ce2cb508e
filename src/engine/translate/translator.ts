import { EngineError } from "../../base/errors.ts";
import type { ObjectKey } from "../../kube/object/key.ts";
import type { ResourceType } from "../../kube/object/resource.ts";
import { invalidDns, parseServiceDns } from "./dns.ts";
import type { LabelRules } from "./labels.ts";
import { createLabelRules } from "./labels.ts";
import { DEFAULT_MARKER_PREFIX } from "./markers.ts";
import type { VCluster } from "./name.ts";
import { sharedName } from "./name.ts";
import type { NamespaceRules } from "./namespaces.ts";
import { compileNamespaces, NO_NAMESPACES } from "./namespaces.ts";

/** How tenant objects are spread over host namespaces. */
export type NamespaceMode = "single-namespace" | "multi-namespace";

/** Options of a translator. */
export interface TranslatorOptions {
  readonly vcluster: VCluster;
  /** Default "single-namespace": every tenant object lands in the virtual cluster's host namespace, under a longer name. */
  readonly mode?: NamespaceMode;
  /** `sync.toHost.namespaces.mappings.byName`, checked by the configuration; used in multi-namespace mode only. */
  readonly mappings?: Readonly<Record<string, string>>;
  /** In multi-namespace mode: objects of namespaces that are not mapped have no place on the host. Default false. */
  readonly mappingsOnly?: boolean;
  /** Domain of translated DNS names that came without one. Default "cluster.local". */
  readonly hostClusterDomain?: string;
  /** Where label keys of the engine live. Default "sync.platform/". At most 45 characters, the slash included. */
  readonly markerPrefix?: string;
}

/** Names of one virtual cluster across the border. Pure: the same input always gives the same result. */
export interface Translator extends LabelRules {
  readonly vcluster: VCluster;
  readonly mode: NamespaceMode;
  readonly markerPrefix: string;
  /**
   * The key that a tenant object has on the host, or undefined if its namespace has no place there. `default/kubernetes` is
   * the virtual cluster's own Service, unless `kind` says that something else is meant.
   */
  toHost(tenant: ObjectKey, kind?: Pick<ResourceType, "apiVersion" | "kind">): ObjectKey | undefined;
  /** Tells whether objects of this tenant namespace keep their names in their own host namespace. */
  isMapped(tenantNamespace: string): boolean;
  /** The host namespace that objects of a tenant namespace land in, or undefined if there is none. */
  hostNamespace(tenantNamespace: string): string | undefined;
  /**
   * `virtualToHostDNS`: the full DNS name of the host Service for the DNS name of a tenant Service.
   *
   * @throws DNS_NAME_INVALID when `name` is not `<name>.<namespace>.svc[.<domain>]`, or its namespace has no place on the host.
   */
  dns(name: string): string;
  /** The host namespaces that copies can be in, for watching them; "all" if a pattern leaves that open. */
  targetNamespaces(): readonly string[] | "all";
}

/** A longer prefix would be cut inside a translated label key, which has at most 63 characters in all. */
const PREFIX_LENGTH_MAX = 45;
const PREFIX = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?\/$/;

const KINDS_OF_SERVICE = ["Service", "Endpoints", "EndpointSlice"];

/**
 * Creates the translator of one virtual cluster.
 *
 * @throws CONFIG_VALUE when `markerPrefix` is not a DNS name with a slash behind it, or too long.
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
      if (isOwnService(tenant, kind)) return { namespace: vcluster.namespace, name: vcluster.name };
      if (tenant.namespace === "") return { namespace: "", name: sharedName(tenant, vcluster) };
      const mapped = namespaces.toHost(tenant.namespace);
      if (mapped !== undefined) return { namespace: mapped, name: tenant.name };
      return mappingsOnly ? undefined : { namespace: vcluster.namespace, name: sharedName(tenant, vcluster) };
    },
  };
}

/** `default/kubernetes` as Service, Endpoints or EndpointSlice is the API server of the tenant, so it has a Service already. */
function isOwnService({ namespace, name }: ObjectKey, kind: Pick<ResourceType, "kind"> | undefined): boolean {
  return namespace === "default" && name === "kubernetes" && (kind === undefined || KINDS_OF_SERVICE.includes(kind.kind));
}

function translateDns(name: string, toHost: Translator["toHost"], defaultDomain: string): string {
  const { service, domain } = parseServiceDns(name);
  const host = toHost(service);
  if (host === undefined) throw invalidDns(name, `expected a mapped namespace, and "${service.namespace}" is not mapped`);
  return `${host.name}.${host.namespace}.svc.${domain ?? defaultDomain}`;
}
