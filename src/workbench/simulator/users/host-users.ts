import { formatKey, sameKey, type ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINTS, SERVICES, type ResourceType } from "../../../kube/object/resource.ts";
import type { KubeObject, Service } from "../../../kube/object/types.ts";
import { hostKeyOf, present, withEntry, withMeta, type Act } from "../act.ts";
import { drawObject, drawSubsets, PRIVATE_ANNOTATION } from "../model/objects.ts";
import { isCopy, prefixOf, translatorOf } from "../oracles/marks.ts";
import {
  changes,
  creates,
  deletes,
  flipSelector,
  setAnnotation,
  setLabel,
  setSubsets,
  userAct,
  type Edit,
  type UserActOptions,
} from "./user-acts.ts";
import type { World } from "../world.ts";

/** Creates an object with markers that are not its own: a controller derived it from a copy of ours, or another syncer made it. */
function hasMarked(options: UserActOptions): Act {
  const { side, resource } = options;
  return userAct(`host has a ${resource.kind} with the markers of another object`, options, (world, random, key) => {
    const copies = [ENDPOINTS, SERVICES]
      .flatMap((kind) => [...world.clusters.host.objects(kind).values()])
      .filter((object) => isCopy(world, object) !== undefined);
    if (copies.length === 0 || present(world, side, resource, key) !== undefined) return undefined;
    const { labels, annotations } = random.pick(copies).metadata;
    const derived = withMeta(drawObject(random, resource, key), { ...(labels && { labels }), ...(annotations && { annotations }) });
    const object = random.happens(0.5) ? derived : withForeignMarks(world, derived, random.pick(["another name", "another namespace"]));
    const had = resource === ENDPOINTS && random.happens(0.3);
    return world.write(side, (writer) => writer.create(resource, had ? withMeta(object, { labels: CONTROLLERS }) : object));
  });
}

/** Creates a copy in another place, with markers for that place: its object was mapped there before, or a backup was restored. */
function hasOrphan(options: UserActOptions): Act {
  const { side, resource } = options;
  return userAct(`host has a copy of ${resource.kind} in another place`, options, (world, random, drawn) => {
    const key = present(world, side, resource, drawn) === undefined ? drawn : { ...drawn, name: `${drawn.name}-before` };
    const copies = [...world.clusters.host.objects(resource).values()].filter((object) => isCopy(world, object) !== undefined);
    if (copies.length === 0 || present(world, side, resource, key) !== undefined) return undefined;
    const { labels = {}, annotations } = random.pick(copies).metadata;
    const place = { [`${prefixOf(world)}object-host-name`]: key.name, [`${prefixOf(world)}object-host-namespace`]: key.namespace };
    const orphan = withMeta(drawObject(random, resource, key), { labels, annotations: { ...annotations, ...place } });
    return world.write(side, (writer) => writer.create(resource, orphan));
  });
}

/** All labels that the host's endpoints controller sets. It keeps annotations, and so the markers in them. */
const CONTROLLERS = { "endpoints.kubernetes.io/managed-by": "endpoint-controller" };

/** Creates a Service of another owner. If another syncer makes the Services, most represent the tenant Service with that name. */
function hasService(options: UserActOptions): Act {
  return userAct("host has a foreign Service", options, (world, random, key) => {
    const { resource, side } = options;
    if (present(world, side, resource, key) !== undefined) return undefined;
    const object = drawObject(random, resource, key);
    const isExternal = world.generation.rules[0]!.services === "external";
    const tenant = isExternal && random.happens(0.8) ? world.options.names.find((name) => isAt(world, resource, name, key)) : undefined;
    const annotations = tenant && { ...object.metadata.annotations, [`${prefixOf(world)}stands-for`]: formatKey(tenant) };
    return world.write(side, (writer) => writer.create(resource, annotations === undefined ? object : withMeta(object, { annotations })));
  });
}

/** Creates an operator's own Service in place of one that another syncer should have made. It represents no tenant Service. */
function hasOwnService(options: UserActOptions): Act {
  const act = userAct("host has an operator's own Service", options, (world, random, key) => {
    const { resource, side } = options;
    if (present(world, side, resource, key) !== undefined) return undefined;
    return world.write(side, (writer) => writer.create(resource, drawObject(random, resource, key)));
  });
  return { ...act, isPossible: (world) => world.generation.rules[0]!.services === "external" };
}

function isAt(world: World, resource: ResourceType, tenant: ObjectKey, key: ObjectKey): boolean {
  const place = hostKeyOf(world, resource, tenant);
  return place !== undefined && sameKey(place, key);
}

/** Returns the object as if the syncer of another virtual cluster, possibly with our name, had created it. */
export function withForeignMarks(world: World, object: KubeObject, differs: "another name" | "another namespace"): KubeObject {
  const prefix = prefixOf(world);
  const own = translatorOf(world).vcluster;
  const vcluster = differs === "another name" ? "red" : own.name;
  const { namespace = "", name = "", labels, annotations } = object.metadata;
  const marks = {
    [`${prefix}vcluster`]: vcluster,
    [`${prefix}vcluster-namespace`]: differs === "another name" ? own.namespace : `${own.namespace}-2`,
    [`${prefix}object-kind`]: `${object.apiVersion}/${object.kind}`,
    [`${prefix}object-host-name`]: name,
    [`${prefix}object-host-namespace`]: namespace,
  };
  return withMeta(object, { labels: { ...labels, [`${prefix}managed-by`]: vcluster }, annotations: { ...annotations, ...marks } });
}

/** Removes one marker or all of them. Either way, the object has no owner afterwards. */
const stripMarkers: Edit = (object, random, world) => {
  const { markerPrefix } = world.generation.rules[0]!.translator;
  const keys = Object.keys(object.metadata.annotations ?? {}).filter((key) => key.startsWith(markerPrefix));
  if (keys.length === 0) return undefined;
  const gone = new Set(random.happens(0.5) ? keys : [random.pick(keys)]);
  const annotations = Object.fromEntries(Object.entries(object.metadata.annotations!).filter(([key]) => !gone.has(key)));
  return withMeta(object, { annotations });
};

/** Writes like the host's endpoints controller: it replaces all labels, and keeps annotations. */
const controllerWrites: Edit = (object, random, world) => {
  const service = world.clusters.host
    .objects(SERVICES)
    .get(formatKey({ namespace: object.metadata.namespace!, name: object.metadata.name! }));
  if ((service as Service | undefined)?.spec?.selector === undefined) return undefined;
  return { ...withMeta(object, { labels: CONTROLLERS }), subsets: drawSubsets(random) };
};

const touch: Edit = (object, random) =>
  withMeta(object, { annotations: withEntry(object.metadata.annotations, PRIVATE_ANNOTATION, String(random.below(1_000))) });

const of = (resource: ResourceType, weight: number): UserActOptions => ({ side: "host", resource, weight });

/** Actions that leave copies at places to which their objects do not translate. */
export const ORPHAN_USERS: readonly Act[] = [hasOrphan(of(ENDPOINTS, 15)), hasOrphan(of(SERVICES, 15))];

/** Actions of users and controllers of the host cluster on our copies, and on objects in their place. */
export const HOST_USERS: readonly Act[] = [
  changes("host changes subsets", of(ENDPOINTS, 1.5), setSubsets),
  changes("host changes a label", of(ENDPOINTS, 3.5), setLabel),
  changes("host changes an annotation", of(ENDPOINTS, 5), setAnnotation),
  changes("host touches an object", of(ENDPOINTS, 1), touch),
  changes("host changes a Service's annotation", of(SERVICES, 1), setAnnotation),
  changes("host flips a selector", of(SERVICES, 1.5), flipSelector),
  changes("host's controller writes", of(ENDPOINTS, 4), controllerWrites),
  changes("host strips markers", of(ENDPOINTS, 0.7), stripMarkers),
  changes("host strips a Service's markers", of(SERVICES, 0.3), stripMarkers),
  creates("host has a foreign Endpoints", of(ENDPOINTS, 0.7)),
  hasService(of(SERVICES, 0.7)),
  hasOwnService(of(SERVICES, 4)),
  hasMarked(of(ENDPOINTS, 0.7)),
  hasMarked(of(SERVICES, 0.5)),
  deletes("host deletes Endpoints", of(ENDPOINTS, 1)),
  deletes("host deletes Service", of(SERVICES, 0.7)),
];
