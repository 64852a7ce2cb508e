import { formatKey, keyOf, parseKey } from "../../../kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES, type ResourceType } from "../../../kube/object/resource.ts";
import { matchesSelector } from "../../../kube/object/selector.ts";
import type { KubeObject, Service } from "../../../kube/object/types.ts";
import type { Rules } from "../../../engine/reconcile/rules/rules.ts";
import type { StoreChange, Side, SimulatedCluster } from "../model/cluster.ts";
import type { Oracle, Write } from "../model/history.ts";
import type { World } from "../world.ts";
import { isCopy, ownMarks } from "./marks.ts";

/**
 * S3: no copy is deleted while its source exists, unless the contract requires that there be no copy. The reason must have been
 * true at some moment since the reconcile began; a reason that only a stale cache still showed does not count.
 */
export function liveSource(world: World): Oracle {
  return {
    name: "S3",
    saw(write) {
      const { author, side, plural, key, after, before } = write;
      if (author.kind !== "replica" || side !== "host" || after !== undefined) return undefined;
      const marks = ownMarks(world, before!);
      if (marks === undefined) return undefined;
      const resource = world.resources.find((candidate) => candidate.plural === plural)!;
      const source = world.clusters.tenant.objects(resource).get(marks.source);
      if (source?.metadata.uid !== marks.uid || isExcused(world, write, marks.source)) return undefined;
      return `${plural} ${key} was deleted while its source ${marks.source} (${marks.uid}) exists`;
    },
  };
}

function isExcused(world: World, { author, plural, key, before }: Write, source: string): boolean {
  if (author.kind !== "replica") return true;
  const rules = author.generation.rules.find(({ kind }) => kind.resource.plural === plural)!;
  const place = rules.translator.toHost(parseKey(source), rules.kind.resource);
  // A copy at a host key that its source no longer maps to is deleted, even if only a user's edit made it name this source.
  if (place === undefined || formatKey(place) !== key) return true;
  const of = (side: Side, resource: ResourceType, id: string) => statesOf(world.clusters[side], resource, id, author.since[side]);
  if (rules.kind.resource === SERVICES) {
    const headless = (service: KubeObject | undefined) => (service as Service | undefined)?.spec?.clusterIP === "None";
    return servicesOf(of("tenant", SERVICES, source)).some(
      (service) => service?.spec?.type === "ExternalName" || headless(service) !== headless(before),
    );
  }
  // The host's controller writes the backends of the Service, or it is the copy of another tenant Service.
  const writtenByOthers = (id: string, tenantService: string) =>
    servicesOf(of("host", SERVICES, id)).some((service) => {
      const ofAnother = service !== undefined && (isCopy(world, service)?.source ?? tenantService) !== tenantService;
      return service?.spec?.selector !== undefined || ofAnother;
    });
  const { selector, requireService } = rules.settings;
  const isLeftOut = (object: KubeObject | undefined, service: string) =>
    !matchesSelector(selector, object?.metadata.labels) ||
    (requireService && servicesOf(of("tenant", SERVICES, service)).some((one) => one === undefined || one.spec?.selector !== undefined));
  if (rules.kind.resource === ENDPOINT_SLICES) {
    const names = (slice: KubeObject) => `${slice.metadata.namespace}/${slice.metadata.labels?.["kubernetes.io/service-name"]}`;
    return of("tenant", ENDPOINT_SLICES, source).some(
      (slice) => isSliceUnwanted(rules, slice, writtenByOthers) || (slice !== undefined && isLeftOut(slice, names(slice))),
    );
  }
  if (rules.kind.resource !== ENDPOINTS) return false;
  return writtenByOthers(key, source) || of("tenant", ENDPOINTS, source).some((object) => isLeftOut(object, source));
}

/** Reports whether a slice names no Service, or one whose backends others write on the host. */
function isSliceUnwanted(
  { translator, decidesBackends }: Rules,
  slice: KubeObject | undefined,
  writtenByOthers: (id: string, tenantService: string) => boolean,
): boolean {
  if (slice === undefined) return false;
  // Slices that a controller in the tenant's cluster made are not copied: their source is.
  if (decidesBackends === true && slice.metadata.labels?.["endpointslice.kubernetes.io/managed-by"] !== undefined) return true;
  const name = slice.metadata.labels?.["kubernetes.io/service-name"];
  if (name === undefined) return true;
  const service = { namespace: slice.metadata.namespace!, name };
  const host = translator.toHost(service, SERVICES);
  return host !== undefined && writtenByOthers(formatKey(host), formatKey(service));
}

function servicesOf(states: readonly (KubeObject | undefined)[]): readonly (Service | undefined)[] {
  return states as readonly (Service | undefined)[];
}

/** The state of one object at revision `since`, and all its later states. */
function statesOf(cluster: SimulatedCluster, resource: ResourceType, id: string, since: number): readonly (KubeObject | undefined)[] {
  const changes = cluster.changes(resource).filter(({ object }) => formatKey(keyOf(object)) === id);
  const at = ({ type, object }: StoreChange) => (type === "DELETED" ? undefined : object);
  const before = changes.findLast(({ revision }) => revision <= since);
  return [before && at(before), ...changes.filter(({ revision }) => revision > since).map(at)];
}
