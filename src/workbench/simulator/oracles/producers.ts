/**
 * The producers that show the backends of a Service to readers of slices on the host: the mirror's slices, slices that a syncer made from its
 * copy of Endpoints, and copies of the tenant's slices. They are read from the objects on both servers.
 *
 * @module
 */
import { formatKey, keyOf, parseKey, type ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES, type ResourceType } from "../../../kube/object/resource.ts";
import type { Endpoints, KubeObject } from "../../../kube/object/types.ts";
import type { Side } from "../model/cluster.ts";
import type { SimulatedReplica } from "../model/replica.ts";
import type { World } from "../world.ts";
import { SKIP_MIRROR_LABEL } from "./equal.ts";
import { isCopy, madeOf, MIRROR_MANAGER, mirroredFrom, translatorOf } from "./marks.ts";
import { isAnothers, isServed } from "./host-service.ts";
import { backendsIn, type Backends } from "./view.ts";

/** The objects of one Service. */
export interface Producers {
  readonly service: ObjectKey;
  readonly place: ObjectKey;
  /** The tenant's Endpoints. */
  readonly endpoints: Endpoints | undefined;
  /** Our copy of them. */
  readonly copy: Endpoints | undefined;
  /** The value of the copy's skip-mirror label. */
  readonly label: string | undefined;
  readonly mirrored: Backends;
  readonly made: Backends;
  /** Backends in copies of the tenant's slices. */
  readonly copied: Backends;
  /** True if every slice of the tenant has such a copy. */
  readonly isCopied: boolean;
  /** The versions of all these objects: equal as long as nothing has changed. */
  readonly version: string;
}

const KINDS = [ENDPOINTS, SERVICES, ENDPOINT_SLICES];
const SERVICE_NAME = "kubernetes.io/service-name";
const MANAGED_BY = "endpointslice.kubernetes.io/managed-by";

/** The backends that readers get from both producers. */
export function inBoth(one: Backends, other: Backends): readonly string[] {
  return [...one.keys()].filter((text) => other.has(text));
}

/** Reports whether an object belongs to a Service, or to its host Service. */
function concerns(
  side: Side,
  { plural }: ResourceType,
  { metadata }: KubeObject,
  { service, place }: Pick<Producers, "service" | "place">,
) {
  const key = side === "tenant" ? service : place;
  const name = plural === ENDPOINT_SLICES.plural ? metadata.labels?.[SERVICE_NAME] : metadata.name;
  return metadata.namespace === key.namespace && name === key.name;
}

/** Reports whether a write concerns a Service: its object belongs to the Service before or after the write. */
export function isAbout(
  {
    side,
    plural,
    before,
    after,
  }: { readonly side: Side; readonly plural: string; readonly before?: KubeObject | undefined; readonly after?: KubeObject | undefined },
  producers: Producers,
): boolean {
  const kind = KINDS.find((resource) => resource.plural === plural);
  return kind !== undefined && [before, after].some((object) => object !== undefined && concerns(side, kind, object, producers));
}

/** Reports whether a replica's caches show all objects of a Service exactly as the clusters have them. */
export function seesAll({ caches }: SimulatedReplica, producers: Producers): boolean {
  return caches.every((cache) => {
    const { cluster, resource, synced } = cache;
    if (!KINDS.includes(resource)) return true;
    for (let ahead = 0; ahead < cache.pending; ahead += 1) {
      const { before, object } = cache.next(ahead)!;
      if (isAbout({ side: cluster.side, plural: resource.plural, before, after: object }, producers)) return false;
    }
    const isOurs = (object: KubeObject) => concerns(cluster.side, resource, object, producers);
    const there = [...cluster.objects(resource).values()].filter(isOurs);
    const known = cache.list().filter(isOurs);
    return synced && there.length === known.length && there.every((object) => sameVersion(object, cache.get(keyOf(object))));
  });
}

function sameVersion(one: KubeObject, other: KubeObject | undefined): boolean {
  return one.metadata.uid === other?.metadata.uid && one.metadata.resourceVersion === other?.metadata.resourceVersion;
}

/**
 * The producers of a Service's backends on the host. Undefined if they cannot be distinguished: the Service has no readers; its host name
 * belongs to another tenant Service; slices or Endpoints of other writers are next to it; a copy's slice is gone from the tenant; or, with
 * `auto`, the tenant has slices of Pods next to Endpoints, so that either can be the source.
 */
export function producersOf(world: World, service: ObjectKey, decides: boolean): Producers | undefined {
  const { tenant, host } = world.clusters;
  const place = translatorOf(world).toHost(service, SERVICES);
  const source = formatKey(service);
  if (place === undefined || !isServed(world, place) || isAnothers(world, place, source)) return undefined;
  const about = { service, place };
  const at = (side: Side, resource: ResourceType) =>
    [...world.clusters[side].objects(resource).values()].filter((object) => concerns(side, resource, object, about));
  const standing = host.objects(ENDPOINTS).get(formatKey(place)) as Endpoints | undefined;
  if (standing !== undefined && isCopy(world, standing)?.source !== source) return undefined;
  const beside = at("host", ENDPOINT_SLICES);
  const made = beside.filter((slice) => madeOf(world, slice)?.source === source);
  const mirrored = beside.filter((slice) => mirroredFrom(world, slice)?.source === source && /-m[0-9]+$/.test(slice.metadata.name ?? ""));
  const copies = beside.filter((slice) => isCopy(world, slice) !== undefined);
  const sources = new Map(at("tenant", ENDPOINT_SLICES).map((slice) => [formatKey(keyOf(slice)), slice]));
  const isCurrent = (copy: KubeObject) => {
    const { source: id = "", uid } = isCopy(world, copy) ?? {};
    return sources.get(id)?.metadata.uid === uid && parseKey(id).namespace === service.namespace;
  };
  if (made.length + mirrored.length + copies.length < beside.length || !copies.every(isCurrent)) return undefined;
  const managers = [...sources.values()].flatMap(({ metadata }) => metadata.labels?.[MANAGED_BY] ?? []);
  if (decides && tenant.objects(ENDPOINTS).has(source) && managers.some((manager) => manager !== MIRROR_MANAGER)) return undefined;
  const copied = new Set(copies.map((copy) => isCopy(world, copy)!.source));
  // Slices that the tenant's mirror made from Endpoints have no copies if the Endpoints are copied.
  const isWanted = (slice: KubeObject) => !decides || slice.metadata.labels?.[MANAGED_BY] !== MIRROR_MANAGER;
  const all = (["tenant", "host"] as const).flatMap((side) => KINDS.flatMap((resource) => at(side, resource)));
  return {
    ...about,
    endpoints: tenant.objects(ENDPOINTS).get(source) as Endpoints | undefined,
    copy: standing,
    label: standing?.metadata.labels?.[SKIP_MIRROR_LABEL],
    mirrored: backendsIn(mirrored),
    made: backendsIn(made),
    copied: backendsIn(copies),
    isCopied: [...sources].every(([id, slice]) => copied.has(id) || !isWanted(slice)),
    version: all.map(({ metadata: { uid, resourceVersion } }) => `${uid}@${resourceVersion}`).join(" "),
  };
}
