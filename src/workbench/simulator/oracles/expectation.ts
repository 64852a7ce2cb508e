import type { Code } from "../../../base/codes.ts";
import { formatKey, keyOf, parseKey, type ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES, type ResourceType } from "../../../kube/object/resource.ts";
import { matchesSelector } from "../../../kube/object/selector.ts";
import type { KubeObject, Service } from "../../../kube/object/types.ts";
import type { Rules } from "../../../engine/reconcile/rules/rules.ts";
import type { World } from "../world.ts";
import { adoptableSource, isCopy, isMarked, MIRROR_MANAGER, ownMarks, prefixOf } from "./marks.ts";

/** The copy that the contract requires for one tenant object, once everything is at rest. */
export type ExpectedCopy =
  /** A copy with the content of the tenant object. */
  | { readonly kind: "copy" }
  /** A copy with the content of the tenant object, or none. */
  | { readonly kind: "copy or none" }
  /** Any object or none. */
  | { readonly kind: "unknown" }
  /** No copy, and a reason. */
  | { readonly kind: "no copy"; readonly why: Code }
  /** Any object or none, and a reason. */
  | { readonly kind: "anything"; readonly why: Code };

const COPY: ExpectedCopy = { kind: "copy" };
const noCopy = (why: Code): ExpectedCopy => ({ kind: "no copy", why });
const anything = (why: Code): ExpectedCopy => ({ kind: "anything", why });

/** The copy that an object should have, derived from the contract and the state of both servers, not from the engine's own decision. */
export function expectationOf(world: World, rules: Rules, tenant: KubeObject, hostKey: ObjectKey | undefined): ExpectedCopy {
  const { annotations = {}, labels } = tenant.metadata;
  if (!rules.enabled) return anything("SYNC_DISABLED");
  if (tenant.metadata.deletionTimestamp) return noCopy("EXCLUDED");
  if (annotations[`${rules.translator.markerPrefix}pause`] === "true") return anything("EXCLUDED");
  if (hostKey === undefined) return noCopy("NAME_NOT_MAPPED");
  if (rules.kind.resource === SERVICES) {
    if ((tenant as Service).spec?.type === "ExternalName") return noCopy("EXCLUDED");
  } else if (rules.kind.resource === ENDPOINT_SLICES) {
    const name = labels?.["kubernetes.io/service-name"];
    if (name === undefined) return noCopy("EXCLUDED");
    const service = { namespace: tenant.metadata.namespace!, name };
    const manager = labels?.["endpointslice.kubernetes.io/managed-by"];
    if (rules.decidesBackends === true && manager === MIRROR_MANAGER) return ofMirror(world, rules, tenant, { hostKey, service });
    const isBeside = manager !== undefined && world.clusters.tenant.objects(ENDPOINTS).has(formatKey(service));
    if (rules.decidesBackends === true && isBeside) return ofPods(world, rules, { tenant, service, hostKey });
    if (isLeftOut(world, rules, tenant, service)) return noCopy("EXCLUDED");
    const beside = besideService(world, rules, service);
    if (beside !== undefined) return beside;
  } else if (rules.kind.resource === ENDPOINTS) {
    if (isLeftOut(world, rules, tenant, keyOf(tenant))) return noCopy("EXCLUDED");
    const beside = besideService(world, rules, keyOf(tenant));
    if (beside !== undefined) return beside;
  }
  return atHostKey(world, rules, tenant, hostKey);
}

/**
 * A slice of the tenant's mirror has no copy, but one that another setting or an earlier slice of the name left goes on if nothing replaces it. All
 * slices of the mirror are then copied.
 */
function ofMirror(
  world: World,
  rules: Rules,
  tenant: KubeObject,
  at: { readonly hostKey: ObjectKey; readonly service: ObjectKey },
): ExpectedCopy {
  if (isPaused(world, rules, at.service)) return anything("EXCLUDED");
  if (!isTaken(world, rules, at.service)) return noCopy("EXCLUDED");
  if (hasCopy(world, rules, tenant)) return COPY;
  const goesOn = mirrorSlices(world, at.service).some((slice) => hasCopy(world, rules, slice));
  if (!goesOn || isLeftOut(world, rules, tenant, at.service)) return noCopy("EXCLUDED");
  return besideService(world, rules, at.service) ?? atHostKey(world, rules, tenant, at.hostKey);
}

function mirrorSlices(world: World, { namespace, name }: ObjectKey): readonly KubeObject[] {
  const isMirrors = ({ metadata }: KubeObject) => metadata.labels?.["endpointslice.kubernetes.io/managed-by"] === MIRROR_MANAGER;
  return [...world.clusters.tenant.objects(ENDPOINT_SLICES).values()].filter(
    (slice) => slice.metadata.namespace === namespace && slice.metadata.labels?.["kubernetes.io/service-name"] === name && isMirrors(slice),
  );
}

/** Reports whether there is a copy of a slice, or of an earlier slice with its name. */
function hasCopy(world: World, { translator }: Rules, slice: KubeObject): boolean {
  const place = translator.toHost(keyOf(slice), ENDPOINT_SLICES);
  const host = place && world.clusters.host.objects(ENDPOINT_SLICES).get(formatKey(place));
  return host !== undefined && isCopy(world, host)?.source === formatKey(keyOf(slice));
}

/** Beside Endpoints, a slice that was made from the same Pods is copied only if readers need it. */
function ofPods(world: World, rules: Rules, at: { tenant: KubeObject; service: ObjectKey; hostKey: ObjectKey }): ExpectedCopy {
  const isFree = !isLeftOut(world, rules, at.tenant, at.service) && besideService(world, rules, at.service) === undefined;
  return isFree && atHostKey(world, rules, at.tenant, at.hostKey) === COPY ? { kind: "copy or none" } : { kind: "unknown" };
}

/** Reports whether Endpoints are paused. Copies of their mirror's slices, which another setting made, then stay too. */
function isPaused(world: World, { translator }: Rules, service: ObjectKey): boolean {
  const endpoints = world.clusters.tenant.objects(ENDPOINTS).get(formatKey(service));
  return endpoints?.metadata.annotations?.[`${translator.markerPrefix}pause`] === "true";
}

/** Reports whether other Endpoints are in the place of the copy, so that no copy can replace those of the mirror's slices. */
function isTaken(world: World, { translator }: Rules, service: ObjectKey): boolean {
  const place = translator.toHost(service, ENDPOINTS);
  const host = place && world.clusters.host.objects(ENDPOINTS).get(formatKey(place));
  return host !== undefined && isCopy(world, host)?.source !== formatKey(service);
}

/** Reports whether the settings exclude an object that contains backends of a Service. */
function isLeftOut(world: World, { settings }: Rules, tenant: KubeObject, service: ObjectKey): boolean {
  if (!matchesSelector(settings.selector, tenant.metadata.labels)) return true;
  const tenantService = lastingService(world, formatKey(service));
  return settings.requireService && (tenantService === undefined || tenantService.spec?.selector !== undefined);
}

function besideService(world: World, rules: Rules, service: ObjectKey): ExpectedCopy | undefined {
  const hostKey = rules.translator.toHost(service, SERVICES);
  const hostService = hostKey && serviceAt(world, "host", formatKey(hostKey));
  const tenantService = lastingService(world, formatKey(service));
  if (Object.keys(hostService?.spec?.selector ?? {}).length > 0) return noCopy("HOST_SERVICE_SELECTOR");
  if (rules.services === "external") return besideForeignService(world, hostService, formatKey(service));
  const expected = rules.servicesEnabled && tenantService !== undefined && tenantService.spec?.type !== "ExternalName";
  if (hostService === undefined) return expected ? anything("HOST_SERVICE_MISSING") : undefined;
  const marks = isCopy(world, hostService);
  if (marks === undefined) return anything("HOST_OBJECT_FOREIGN");
  if (marks.source === formatKey(service)) return undefined;
  return isElsewhere(rules, SERVICES, marks.source, hostKey!) ? anything("HOST_SERVICE_MISSING") : noCopy("NAME_COLLISION");
}

/** Next to a Service that the engine did not make: it gets backends only of the tenant Service that it is known to represent. */
function besideForeignService(world: World, hostService: Service | undefined, service: string): ExpectedCopy | undefined {
  if (hostService === undefined) return anything("HOST_SERVICE_MISSING");
  const { annotations = {} } = hostService.metadata;
  const marks = isCopy(world, hostService);
  if (marks !== undefined) return marks.source === service ? undefined : noCopy("NAME_COLLISION");
  const isMarked = annotations[`${prefixOf(world)}object-name`] !== undefined;
  return !isMarked && annotations[`${prefixOf(world)}stands-for`] === service ? undefined : anything("HOST_OBJECT_FOREIGN");
}

/** An object of another owner in place of the copy stays, except Endpoints of the host's controller with a Service in both clusters. */
function atHostKey(world: World, rules: Rules, tenant: KubeObject, hostKey: ObjectKey): ExpectedCopy {
  const host = world.clusters.host.objects(rules.kind.resource).get(formatKey(hostKey));
  if (host === undefined) return COPY;
  const source = formatKey({ namespace: tenant.metadata.namespace!, name: tenant.metadata.name! });
  const marks = isCopy(world, host);
  if (marks !== undefined)
    return marks.source === source || isElsewhere(rules, rules.kind.resource, marks.source, hostKey) ? COPY : anything("NAME_COLLISION");
  const adoptable = adoptableSource(world, host);
  if (adoptable !== undefined)
    return adoptable.source === source && adoptable.uid === tenant.metadata.uid ? COPY : anything("HOST_OBJECT_FOREIGN");
  const services = serviceAt(world, "tenant", source) !== undefined && serviceAt(world, "host", formatKey(hostKey)) !== undefined;
  const isLeft = !isMarked(world, host) && (ownMarks(world, host)?.source === source || isControllers(world, host));
  return rules.kind.resource === ENDPOINTS && services && isLeft ? COPY : anything("HOST_OBJECT_FOREIGN");
}

/** Reports whether a copy belongs elsewhere, so that another copy may replace it. */
function isElsewhere({ translator }: Rules, resource: ResourceType, source: string, hostKey: ObjectKey): boolean {
  const place = translator.toHost(parseKey(source), resource);
  return place === undefined || formatKey(place) !== formatKey(hostKey);
}

/** Reports whether the host's controller made an object, and no markers of a syncer are left on it. */
function isControllers(world: World, { metadata: { labels = {}, annotations = {} } }: KubeObject): boolean {
  return labels["endpoints.kubernetes.io/managed-by"] !== undefined && annotations[`${prefixOf(world)}object-name`] === undefined;
}

function serviceAt(world: World, side: "tenant" | "host", id: string): Service | undefined {
  return world.clusters[side].objects(SERVICES).get(id) as Service | undefined;
}

/** The tenant Service, unless it is being deleted: then it counts as absent. */
function lastingService(world: World, id: string): Service | undefined {
  const service = serviceAt(world, "tenant", id);
  return service?.metadata.deletionTimestamp ? undefined : service;
}
