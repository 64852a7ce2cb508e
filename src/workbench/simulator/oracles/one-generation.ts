import type { Oracle } from "../model/history.ts";
import type { World } from "../world.ts";
import { ownMarks } from "./marks.ts";

/** S6: every write uses the configuration that its reconcile had when it began. */
export function oneGeneration(world: World): Oracle {
  return {
    name: "S6",
    saw({ author, side, plural, key, after }) {
      if (author.kind !== "replica" || side !== "host" || after === undefined) return undefined;
      const marks = ownMarks(world, after);
      const wanted = author.generation.rules.find(({ kind }) => kind.resource.plural === plural)!.configHash;
      if (marks === undefined || marks.configHash === wanted) return undefined;
      return `${plural} ${key} was written with the configuration ${marks.configHash}, but its reconcile began with ${wanted}`;
    },
  };
}
