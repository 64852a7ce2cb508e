import { BACKENDS, parseSyncId } from "../../../engine/sync/state/sync-id.ts";
import { formatKey } from "../../../kube/object/key.ts";
import type { Oracle, Write } from "../model/history.ts";
import type { World } from "../world.ts";
import { marksOf } from "./marks.ts";

/** Period in which writes are counted, in virtual milliseconds. */
const WINDOW_MS = 60_000;
/** Maximum writes per version of the source in that period: 10 at once, then after 1, 2, 4, 8, 16 and 32 s, each a create and a delete. */
const UNASKED_MAX = 2 * (10 + 6);

interface Written {
  version: number | undefined;
  times: readonly number[];
}

/** S12: a replica writes an object only a limited number of times for one version of its source, even if each write requires the next one. */
export function boundedWrites(world: World): Oracle {
  /** Replica, id and slice → writes for the same version of the source. */
  const all = new Map<string, Written>();
  return {
    name: "S12",
    noticed: () => all.clear(),
    saw(write) {
      const { author, at, plural, key } = write;
      if (author.kind !== "replica" || author.unanswered) return undefined;
      const unit = parseSyncId(author.id);
      // One reconcile of the backends of a Service writes each slice that it makes of a copy.
      const id = `${author.index} ${author.id} ${unit.plural === BACKENDS ? key : ""}`;
      const known = all.get(id) ?? { version: undefined, times: [] };
      all.set(id, known);
      const version = versionOf(world, write) ?? known.version;
      if (version !== known.version) return void (known.version = version);
      known.times = [...known.times.filter((time) => at - time < WINDOW_MS), at];
      if (known.times.length <= UNASKED_MAX) return undefined;
      return `${plural} of ${formatKey(unit.key)} was written ${known.times.length} times within a minute for version ${version} of its source`;
    },
  };
}

/** The version of the source that a copy was written from; undefined for writes to the source. */
function versionOf(world: World, { side, after, before }: Write): number | undefined {
  const object = after ?? before;
  return side === "host" && object !== undefined ? marksOf(world, object)?.resourceVersion : undefined;
}
