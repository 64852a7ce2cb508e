import { formatKey, keyOf, sameKey } from "../../../kube/object/key.ts";
import type { Act } from "../act.ts";
import type { SimulatedCache } from "../model/cache.ts";
import type { StoreChange } from "../model/cluster.ts";
import { drawCache, cacheName } from "./moves.ts";
import type { Random } from "../model/random.ts";

/** A fault in the events of one cache. `how` returns the change or a description; undefined if the fault is impossible. */
function eventFault(
  name: string,
  weight: number,
  fits: (cache: SimulatedCache) => boolean,
  how: (cache: SimulatedCache, random: Random) => StoreChange | string | undefined,
): Act {
  return {
    name,
    kind: "fault",
    weight,
    perform(world, random) {
      const found = drawCache(world, random, fits);
      const done = found && how(found.cache, random);
      if (INCOMPLETE.has(name) && done !== undefined) world.notice("incomplete list");
      if (done === undefined) return undefined;
      const what =
        typeof done === "string" ? done : `${done.type} ${formatKey(keyOf(done.object))}@${done.object.metadata.resourceVersion}`;
      return `${name}: ${cacheName(found!)} ${what}`;
    },
  };
}

const INCOMPLETE = new Set(["relist misses an object", "relist of nothing"]);

const hasSome = ({ idle }: SimulatedCache) => !idle;
const hasSeveral = ({ pending }: SimulatedCache) => pending > 1;
const holdsSome = (cache: SimulatedCache) => cache.cluster.objects(cache.resource).size > 0;

/** Reports whether a later change of the same object hides the next change. */
function isHidden(cache: SimulatedCache): boolean {
  const next = cache.next();
  if (next === undefined || next.type === "DELETED") return false;
  for (let ahead = 1; ahead < cache.pending; ahead += 1) {
    const { object, type } = cache.next(ahead)!;
    if (type !== "DELETED" && sameKey(keyOf(object), keyOf(next.object))) return true;
  }
  return false;
}

/** Faults between a server and a cache. */
export const EVENT_FAULTS: readonly Act[] = [
  eventFault(
    "event twice",
    2,
    () => true,
    (cache, random) => cache.repeat(random.below(5)),
  ),
  eventFault("events out of order", 2, hasSeveral, (cache, random) => cache.deliver(1 + random.below(cache.pending - 1))),
  eventFault("events coalesced", 2, isHidden, (cache) => cache.skip()),
  eventFault(
    "DELETE lost",
    2,
    (cache) => cache.next()?.type === "DELETED",
    (cache) => cache.skip(),
  ),
  eventFault(
    "relist",
    1,
    () => true,
    (cache) => (cache.relist(), "as it is now"),
  ),
  eventFault("relist late", 1, hasSome, (cache, random) => {
    const behind = random.below(cache.pending + 1);
    cache.relist({ behind });
    return `${behind} changes behind`;
  }),
  eventFault("relist misses an object", 1.5, holdsSome, (cache, random) => {
    const without = random.pick([...cache.cluster.objects(cache.resource).keys()]);
    cache.relist({ without });
    return `without ${without}`;
  }),
  eventFault("relist of nothing", 0.7, holdsSome, (cache) => (cache.relist({ without: "all" }), "without anything")),
];
