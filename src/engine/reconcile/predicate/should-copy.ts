import { formatKey, sameKey, type ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINTS, SERVICES } from "../../../kube/object/resource.ts";
import type { Code } from "../../../base/codes.ts";
import { matchesSelector } from "../../../kube/object/selector.ts";
import type { KubeObject, Service } from "../../../kube/object/types.ts";
import { ourMarkers } from "../../translate/identity.ts";
import type { Translator } from "../../translate/translator.ts";
import { hostServiceOwner } from "./host-service.ts";
import { isMappedElsewhere } from "./mapped-elsewhere.ts";
import type { Rules, Surroundings } from "../rules/rules.ts";

/** Decision about an object's copy on the host. */
export type CopyDecision =
  | { readonly action: "copy" }
  /** The copy must not exist. `restsOnServices`: the clusters whose Service is the reason. */
  | { readonly action: "remove"; readonly code: Code; readonly message: string; readonly restsOnServices?: readonly ["tenant" | "host"] }
  /** Nothing is written: an existing copy stays as it is. */
  | { readonly action: "leave"; readonly code: Code; readonly message: string }
  /** The host's own controller is the writer from now on. */
  | { readonly action: "hand-over"; readonly code: Code; readonly message: string; readonly restsOnServices: readonly ["host"] };

const COPY: CopyDecision = { action: "copy" };

/** The tenant Service of its API server, which on the host is the virtual cluster's own Service. */
const OWN_SERVICE = "default/kubernetes";

/** Decides whether a tenant object that exists is copied. Earlier rules take precedence. */
export function decideCopy(rules: Rules, key: ObjectKey, tenant: KubeObject, around: Surroundings): CopyDecision {
  // A tenant Service that is being deleted no longer has a copy, and nothing waits for one.
  const { tenantService, ...others } = around;
  const lasting = tenantService === undefined || isGoing(tenantService) ? others : around;
  return (
    ownRules(rules, key, tenant) ??
    (rules.kind.resource === SERVICES ? serviceItself(tenant) : undefined) ??
    (around.backends?.mayGo === true || around.backends?.isKept === true ? besideSource(around) : undefined) ??
    (rules.kind.besideService ? besideService(rules, { key, tenant }, lasting) : undefined) ??
    besideSource(around) ??
    COPY
  );
}

/** Decides by the tenant object alone, for callers without clusters: the Services and slices beside it are unknown, and exclude nothing. */
export function decideAlone(rules: Rules, key: ObjectKey, tenant: KubeObject): CopyDecision {
  const { kind } = rules;
  return (
    ownRules(rules, key, tenant) ??
    (kind.resource === SERVICES ? serviceItself(tenant) : undefined) ??
    (kind.besideService ? besideAnyService(rules, tenant, kind.serviceOf(key, tenant)) : undefined) ??
    COPY
  );
}

function isGoing({ metadata }: KubeObject): boolean {
  return typeof metadata.deletionTimestamp === "string";
}

function ownRules(rules: Rules, key: ObjectKey, tenant: KubeObject): CopyDecision | undefined {
  const name = formatKey(key);
  if (!rules.enabled) return { action: "leave", code: "SYNC_DISABLED", message: `The sync of ${rules.kind.resource.plural} is disabled` };
  if (name === OWN_SERVICE) {
    return { action: "leave", code: "EXCLUDED", message: "default/kubernetes belongs to the tenant's API server" };
  }
  if (isGoing(tenant)) {
    // A finalizer may delay the deletion for long, and the deletion cannot be revoked.
    return { action: "remove", code: "EXCLUDED", message: "The object is being deleted" };
  }
  if (isPaused(rules.translator.markerPrefix, tenant)) {
    return { action: "leave", code: "EXCLUDED", message: "The object has the pause annotation" };
  }
  if (rules.translator.hostNamespace(key.namespace) === undefined) {
    return { action: "remove", code: "NAME_NOT_MAPPED", message: `Namespace "${key.namespace}" is not mapped` };
  }
  return undefined;
}

function serviceItself(tenant: KubeObject): CopyDecision | undefined {
  const external = (tenant as Service).spec?.type === "ExternalName";
  return external
    ? { action: "remove", code: "EXCLUDED", message: "A Service of type ExternalName has no Endpoints and gets no copy" }
    : undefined;
}

/**
 * Decides by the Service that an object belongs to: Endpoints to the Service of their name, slices to the one that a label names. The host
 * Service determines whether the syncer or another writer writes them.
 */
function besideService(
  rules: Rules,
  { key, tenant }: { key: ObjectKey; tenant: KubeObject },
  around: Surroundings,
): CopyDecision | undefined {
  const { tenantService, hostService } = around;
  const service = rules.kind.serviceOf(key, tenant);
  const excluded = besideAnyService(rules, tenant, service);
  if (excluded !== undefined || service === undefined) return excluded;
  if (rules.settings.requireService && (tenantService === undefined || tenantService.spec?.selector !== undefined)) {
    const message = "requireService is set, and no Service without a selector has this name";
    return { action: "remove", code: "EXCLUDED", message, restsOnServices: ["tenant"] };
  }
  const selector = hostService?.spec?.selector;
  if (selector !== undefined && Object.keys(selector).length > 0) {
    return {
      // The host's controller writes Endpoints of the same name, while its slices have other names.
      action: rules.kind.resource === ENDPOINTS ? "hand-over" : "remove",
      code: "HOST_SERVICE_SELECTOR",
      message: `The host Service has a selector: the host's own controller writes its ${rules.kind.plural}`,
      restsOnServices: ["host"],
    };
  }
  return rules.services === "external" ? besideExternal(rules, service, around) : besideManaged(rules, service, around);
}

/** Decides by the key of the Service alone, whatever that Service is. */
function besideAnyService(rules: Rules, tenant: KubeObject, service: ObjectKey | undefined): CopyDecision | undefined {
  if (service === undefined)
    return { action: "remove", code: "EXCLUDED", message: "The slice names no Service, so its copy would be unused" };
  if (formatKey(service) === OWN_SERVICE) {
    return { action: "remove", code: "EXCLUDED", message: `${OWN_SERVICE} belongs to the tenant's API server, and so do its slices` };
  }
  if (!matchesSelector(rules.settings.selector, tenant.metadata.labels)) {
    return { action: "remove", code: "EXCLUDED", message: "The selector in the settings does not select the object" };
  }
  return undefined;
}

/** Excludes slices that a controller of the tenant cluster made from copied objects. Their copies stay until readers see the others. */
function besideSource({ backends }: Surroundings): CopyDecision | undefined {
  if (backends === undefined || backends.isSource) return undefined;
  const message = "A controller of the tenant cluster made the slice from an object that is itself copied";
  return { action: backends.mayGo ? "remove" : "leave", code: "EXCLUDED", message };
}

function besideExternal(rules: Rules, key: ObjectKey, around: Surroundings): CopyDecision | undefined {
  const { hostService } = around;
  if (hostService === undefined) {
    return { action: "leave", code: "HOST_SERVICE_MISSING", message: "The host Service does not exist yet; another syncer creates it" };
  }
  const owner = hostServiceOwner(rules, key, { ...around, hostService });
  if (owner.whose === "this") return undefined;
  return owner.whose === "other" ? besideCopy(owner.of, key) : besideForeign(rules, key);
}

function besideForeign(rules: Rules, key: ObjectKey): CopyDecision {
  return {
    action: "leave",
    code: "HOST_OBJECT_FOREIGN",
    message: `The host Service for "${formatKey(key)}" has another owner; its ${rules.kind.plural} are not written`,
  };
}

function besideManaged(rules: Rules, key: ObjectKey, { tenantService, hostService }: Surroundings): CopyDecision | undefined {
  const { translator } = rules;
  const expected = rules.servicesEnabled && tenantService !== undefined && tenantService.spec?.type !== "ExternalName";
  if (hostService === undefined) {
    // The host may delete Endpoints that are written before their Service as leftovers.
    return expected ? { action: "leave", code: "HOST_SERVICE_MISSING", message: missingService(translator, tenantService) } : undefined;
  }
  const source = ourMarkers(rules, hostService, SERVICES);
  if (source === undefined) return besideForeign(rules, key);
  return sameKey(source, key) ? undefined : (besideFormer(rules, source, key) ?? besideCopy(source, key));
}

function missingService({ markerPrefix }: Translator, tenantService: Service): string {
  return isPaused(markerPrefix, tenantService)
    ? "The Service of this name has the pause annotation, so it has no host Service"
    : "The host Service does not exist yet";
}

/** Reports whether the tenant's users have paused the object, so that it is left as it is. */
export function isPaused(markerPrefix: string, object: KubeObject): boolean {
  return object.metadata.annotations?.[`${markerPrefix}pause`] === "true";
}

/** Waits while the host Service belongs to a tenant Service that is now mapped elsewhere: another one will take its place. */
function besideFormer({ translator }: Rules, other: ObjectKey, key: ObjectKey): CopyDecision | undefined {
  const here = translator.toHost(key, SERVICES);
  if (here === undefined || !isMappedElsewhere(translator, SERVICES, other, here)) return undefined;
  const message = `The host Service still belongs to "${formatKey(other)}", which is now mapped elsewhere`;
  return { action: "leave", code: "HOST_SERVICE_MISSING", message };
}

/** Removes Endpoints beside the copy of another tenant Service with the same host name: they would replace that Service's own backends. */
function besideCopy(other: ObjectKey, key: ObjectKey): CopyDecision {
  return {
    action: "remove",
    code: "NAME_COLLISION",
    message: `"${formatKey(key)}" and the Service "${formatKey(other)}" have the same name on the host`,
    restsOnServices: ["host"],
  };
}
