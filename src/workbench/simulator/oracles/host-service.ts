import { formatKey, type ObjectKey } from "../../../kube/object/key.ts";
import { SERVICES } from "../../../kube/object/resource.ts";
import type { KubeObject, Service } from "../../../kube/object/types.ts";
import type { World } from "../world.ts";
import { isCopy, isMarked, prefixOf } from "./marks.ts";

/** Reports whether a place has readers: they find slices only through a host Service. */
export function isServed(world: World, place: ObjectKey): boolean {
  return world.clusters.host.objects(SERVICES).has(formatKey(place));
}

/** Reports whether readers of a host Service get copies: it exists and has no selector, which would give them the Pods of the host. */
export function readsCopies(service: KubeObject | undefined): boolean {
  return service !== undefined && (service as Service).spec?.selector === undefined;
}

/**
 * Reports whether the host Service at a place is that of a different tenant Service, or of another virtual cluster: its readers must see
 * nothing of this one.
 */
export function isAnothers(world: World, place: ObjectKey, service: string | undefined): boolean {
  const found = world.clusters.host.objects(SERVICES).get(formatKey(place));
  if (found === undefined) return false;
  const source = isCopy(world, found)?.source ?? (isMarked(world, found) ? "of another virtual cluster" : standsFor(world, found));
  return source !== undefined && source !== service;
}

/** Reports whether the host Service at a place, which the syncer should have written, has no markers: the syncer then leaves it to its owner. */
export function isUnmarked(world: World, place: ObjectKey): boolean {
  const found = world.clusters.host.objects(SERVICES).get(formatKey(place));
  return found !== undefined && world.generation.rules[0]!.services !== "external" && !isMarked(world, found);
}

/** The tenant Service that a host Service of another owner represents, according to that owner. */
function standsFor(world: World, { metadata: { annotations } }: KubeObject): string | undefined {
  return annotations?.[`${prefixOf(world)}stands-for`];
}
