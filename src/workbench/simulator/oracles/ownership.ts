import type { KubeObject } from "../../../kube/object/types.ts";
import { HAND_BACK } from "../../../engine/sync/backends/hand-back.ts";
import { SERVICES } from "../../../kube/object/resource.ts";
import type { Oracle } from "../model/history.ts";
import type { World } from "../world.ts";
import { adoptableSource, isCopy, madeOf, marksOf, mirroredFrom, ownMarks } from "./marks.ts";

/** Reports whether an object has markers of the syncer whose copies are adopted, and they name an object that has existed. */
function isAdopted(world: World, plural: string, before: KubeObject): boolean {
  const marks = adoptableSource(world, before);
  const resource = world.resources.find((candidate) => candidate.plural === plural)!;
  return (
    marks !== undefined &&
    world.clusters.tenant
      .changes(resource)
      .some(({ object: { metadata } }) => metadata.uid === marks.uid && `${metadata.namespace}/${metadata.name}` === marks.source)
  );
}

/** S1: objects that are not ours are neither changed nor deleted, except Endpoints of an unmarked Service, which are taken over. */
export function ownership(world: World): Oracle {
  return {
    name: "S1",
    saw({ author, side, plural, action, key, before, after }) {
      if (author.kind !== "replica" || side !== "host" || before === undefined) return undefined;
      // If the host's controller has taken an object over, only annotations are left. The markers among them may be removed, but no more.
      const ours = action === "delete" ? isCopy(world, before) : ownMarks(world, before);
      const made = madeOf(world, before) ?? (action === "delete" ? mirroredFrom(world, before) : undefined);
      if (made !== undefined && author.id === `backends|${made.source}`) return undefined;
      // The syncer may delete slices that it made once backends are no longer decided per Service.
      if (action === "delete" && author.id === HAND_BACK && madeOf(world, before) !== undefined) return undefined;
      if (ours !== undefined || isAdopted(world, plural, before)) return undefined;
      const besideService = world.clusters.host
        .changes(SERVICES)
        .some(({ object: { metadata } }) => `${metadata.namespace}/${metadata.name}` === key);
      const taken = action === "update" && plural === "endpoints" && after !== undefined && isCopy(world, after) !== undefined;
      return taken && besideService && marksOf(world, before) === undefined
        ? undefined
        : `${action} of ${plural} ${key}, which the syncer does not manage`;
    },
  };
}
