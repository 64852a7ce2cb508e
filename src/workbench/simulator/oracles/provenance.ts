import type { Oracle } from "../model/history.ts";
import type { World } from "../world.ts";
import { ownMarks } from "./marks.ts";

/** S4: a copy is never overwritten with an older state of its source, of this life or of an earlier one. */
export function provenance(world: World): Oracle {
  return {
    name: "S4",
    saw({ author, side, plural, key, before, after }) {
      if (author.kind !== "replica" || side !== "host" || before === undefined || after === undefined) return undefined;
      const [was, is] = [ownMarks(world, before), ownMarks(world, after)];
      if (was === undefined || is === undefined || was.source !== is.source || is.resourceVersion >= was.resourceVersion) return undefined;
      return `${plural} ${key} went back from version ${was.resourceVersion} of ${was.source} to ${is.resourceVersion}`;
    },
  };
}
