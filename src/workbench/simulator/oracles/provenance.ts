import type { Oracle } from "../model/history.ts";
import type { World } from "../world.ts";
import { ownMarks } from "./marks.ts";

/**
 * S4: a copy is never overwritten with an older state of its source, neither of the current object nor of a deleted one with the same
 * name. Markers that users put on a host object, with a uid that the tenant cluster never had, are ignored.
 */
export function provenance(world: World): Oracle {
  /** Kind and uid of everything that the tenant cluster ever had. */
  const lives = new Set<string>();
  return {
    name: "S4",
    saw({ author, side, plural, key, before, after }) {
      if (side === "tenant" && after !== undefined) lives.add(`${plural}|${after.metadata.uid}`);
      if (author.kind !== "replica" || side !== "host" || before === undefined || after === undefined) return undefined;
      const [was, is] = [ownMarks(world, before), ownMarks(world, after)];
      if (was === undefined || is === undefined || was.source !== is.source || !lives.has(`${plural}|${was.uid}`)) return undefined;
      if (is.resourceVersion >= was.resourceVersion) return undefined;
      return `${plural} ${key} was overwritten with version ${is.resourceVersion} of ${was.source}, older than ${was.resourceVersion}`;
    },
  };
}
