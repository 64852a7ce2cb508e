import { formatKey, keyOf, parseKey } from "../../../object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from "../../../object/resource.ts";
import type { ResourceType } from "../../../object/resource.ts";
import { matchesSelector } from "../../../object/selector.ts";
import type { KubeObject, Service } from "../../../object/types.ts";
import type { Rules } from "../../../reconcile/rules.ts";
import type { SimulatedCluster } from "../cluster.ts";
import type { Oracle, Write } from "../history.ts";
import type { World } from "../world.ts";
import { ownMarks } from "./marks.ts";

/** S3: no copy is deleted while its source lives, unless the contract says that there should be no copy. */
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
      return `${plural} ${key} was deleted while its source ${marks.source} (${marks.uid}) lives`;
    },
  };
}

/** A reason may be one that a late cache still knew, so that one that ever was will do. */
function isExcused(world: World, { author, plural, key, before }: Write, source: string): boolean {
  if (author.kind !== "replica") return true;
  const rules = author.generation.rules.find(({ kind }) => kind.resource.plural === plural)!;
  const tenantServices = () => statesOf(world.clusters.tenant, SERVICES, source) as readonly (Service | undefined)[];
  if (rules.kind.resource === SERVICES) {
    const headless = (service: KubeObject | undefined) => (service as Service | undefined)?.spec?.clusterIP === "None";
    return tenantServices().some((service) => service?.spec?.type === "ExternalName" || headless(service) !== headless(before));
  }
  if (rules.kind.resource === ENDPOINT_SLICES) return isSliceExcused(world, rules, source);
  if (rules.kind.resource !== ENDPOINTS) return false;
  const { selector, requireService } = rules.settings;
  return (
    statesOf(world.clusters.host, SERVICES, key).some((service) => (service as Service | undefined)?.spec?.selector !== undefined) ||
    statesOf(world.clusters.tenant, ENDPOINTS, source).some((object) => !matchesSelector(selector, object?.metadata.labels)) ||
    (requireService && tenantServices().some((service) => service === undefined || service.spec?.selector !== undefined))
  );
}

/** It named no Service once, or one whose host Service has had a selector. */
function isSliceExcused(world: World, { translator }: Rules, source: string): boolean {
  const { namespace } = parseKey(source);
  return statesOf(world.clusters.tenant, ENDPOINT_SLICES, source).some((slice) => {
    const name = slice?.metadata.labels?.["kubernetes.io/service-name"];
    if (slice === undefined || name === undefined) return slice !== undefined;
    const host = translator.toHost({ namespace, name }, SERVICES);
    return host && statesOf(world.clusters.host, SERVICES, formatKey(host)).some((at) => (at as Service | undefined)?.spec?.selector);
  });
}

/** Every state of one object, its absence before the beginning included. */
function statesOf(cluster: SimulatedCluster, resource: ResourceType, id: string): readonly (KubeObject | undefined)[] {
  const changes = cluster.changes(resource).filter(({ object }) => formatKey(keyOf(object)) === id);
  return [undefined, ...changes.map(({ type, object }) => (type === "DELETED" ? undefined : object))];
}
