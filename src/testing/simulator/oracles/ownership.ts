import { SERVICES } from "../../../object/resource.ts";
import type { Oracle } from "../history.ts";
import type { World } from "../world.ts";
import { isCopy, isMarked, ownMarks } from "./marks.ts";

/** S1: what is not ours is neither changed nor deleted, but for Endpoints beside a Service that nobody marked: these are taken over. */
export function ownership(world: World): Oracle {
  return {
    name: "S1",
    saw({ author, side, plural, action, key, before, after }) {
      if (author.kind !== "replica" || side !== "host" || before === undefined) return undefined;
      // Annotations alone stay where the host's controller has made an object its own: its marks may be taken off, and no more.
      const ours = action === "delete" ? isCopy(world, before) : ownMarks(world, before);
      if (ours !== undefined) return undefined;
      const besideService = world.clusters.host
        .changes(SERVICES)
        .some(({ object: { metadata } }) => `${metadata.namespace}/${metadata.name}` === key);
      const taken = action === "update" && plural === "endpoints" && after !== undefined && isCopy(world, after) !== undefined;
      return taken && besideService && !isMarked(world, before) ? undefined : `${action} of ${plural} ${key}, which is not ours`;
    },
  };
}
