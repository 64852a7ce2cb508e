import { formatKey, keyOf } from "../../../kube/object/key.ts";
import type { ResourceType } from "../../../kube/object/resource.ts";
import { DEFAULT_DELETE_BRAKE_LIMITS } from "../../../engine/reconcile/delete-brake-limits.ts";
import type { Oracle } from "../model/history.ts";
import type { World } from "../world.ts";
import { isCopy } from "./marks.ts";

/**
 * S9: when the tenant cluster is suddenly empty, and there were many copies, none of them is deleted. It checks only copies that
 * every replica knew, and only until another event affects them: an object that returns, a restart, or an edit may release the brake. So
 * may a list of the host that lacks copies, because a replica that does not know them counts fewer deletes.
 */
export function brake(world: World): Oracle {
  /** By plural, the tenant keys that vanished. */
  const vanished = new Map<string, ReadonlySet<string>>();

  function look(resource: ResourceType): void {
    const copies = [...world.clusters.host.objects(resource).values()].flatMap((object) => isCopy(world, object)?.source ?? []);
    const isKnown = world.replicas.every((replica) => {
      const [tenant, host] = [replica.cache("tenant", resource), replica.cache("host", resource)];
      const [sources, places] = [tenant, host].map((cache) => new Set(cache.list().map((object) => formatKey(keyOf(object)))));
      const all = [...world.clusters.host.objects(resource).keys()].every((id) => places!.has(id));
      return replica.flights.length === 0 && tenant.idle && host.idle && all && copies.every((id) => sources!.has(id));
    });
    const { count } = world.generation.deleteBrake ?? DEFAULT_DELETE_BRAKE_LIMITS;
    if (isKnown && world.late.length === 0 && copies.length > count) vanished.set(resource.plural, new Set(copies));
  }

  return {
    name: "S9",
    noticed(event) {
      vanished.clear();
      if (event === "emptied") for (const { kind } of world.generation.rules) look(kind.resource);
    },
    saw({ author, side, plural, key, after, before }) {
      const gone = vanished.get(plural);
      if (gone === undefined) return undefined;
      const isHeld = author.kind === "replica" && side === "host" && after === undefined && gone.has(isCopy(world, before!)?.source ?? "");
      if (isHeld && !knowsAllCopies(world, author.index, plural)) return void vanished.delete(plural);
      if (isHeld) return `${plural} ${key} was deleted after the tenant cluster suddenly became empty`;
      if (after !== undefined || side === "host") vanished.delete(plural);
      return undefined;
    },
  };
}

function knowsAllCopies(world: World, index: number, plural: string): boolean {
  const resource = world.resources.find((candidate) => candidate.plural === plural)!;
  const places = new Set(
    world.replicas[index]!.cache("host", resource)
      .list()
      .map((object) => formatKey(keyOf(object))),
  );
  return [...world.clusters.host.objects(resource).keys()].every((id) => places.has(id));
}
