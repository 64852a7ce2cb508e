import { formatKey, keyOf } from "../../../kube/object/key.ts";
import type { Act } from "../act.ts";
import type { SimulatedCache } from "../model/cache.ts";
import type { Random } from "../model/random.ts";
import type { Flight, SimulatedReplica } from "../model/replica.ts";
import { describeRequest, type World } from "../world.ts";

/** Draws a pending request of some replica; undefined if there is none. */
export function drawFlight(
  world: World,
  random: Random,
  fits: (flight: Flight) => boolean,
): { replica: SimulatedReplica; flight: Flight } | undefined {
  const all: { replica: SimulatedReplica; flight: Flight }[] = [];
  for (const replica of world.replicas) for (const flight of replica.flights) if (fits(flight)) all.push({ replica, flight });
  return all.length === 0 ? undefined : random.pick(all);
}

/** Draws a cache of a running replica; undefined if there is none. */
export function drawCache(
  world: World,
  random: Random,
  fits: (cache: SimulatedCache) => boolean,
): { replica: SimulatedReplica; cache: SimulatedCache } | undefined {
  const all: { replica: SimulatedReplica; cache: SimulatedCache }[] = [];
  for (const replica of world.replicas) {
    if (!world.isAwake(replica)) continue;
    for (const cache of replica.caches) if (!world.isDown(cache.cluster.side) && fits(cache)) all.push({ replica, cache });
  }
  return all.length === 0 ? undefined : random.pick(all);
}

/** Reports whether a pending request still waits for the response of a cluster. */
export function isAsked({ response }: Flight): boolean {
  return response === undefined;
}

/** The name of a cache, for the timeline. */
export function cacheName({ replica, cache }: { replica: SimulatedReplica; cache: SimulatedCache }): string {
  return `replica ${replica.index} ${cache.cluster.side} ${cache.resource.plural}`;
}

const deliver: Act = {
  name: "event arrives",
  kind: "move",
  weight: 6,
  isPossible: ({ replicas }) => replicas.some(({ caches }) => caches.some(({ idle }) => !idle)),
  perform(world, random) {
    const found = drawCache(world, random, (cache) => !cache.idle);
    if (found === undefined) return undefined;
    const { type, object } = found.cache.deliver();
    return `${cacheName(found)}: ${type} ${formatKey(keyOf(object))}@${object.metadata.resourceVersion}`;
  },
};

const take: Act = {
  name: "reconcile begins",
  kind: "move",
  weight: 5,
  isPossible: ({ replicas }) => replicas.some(({ canTake }) => canTake),
  perform(world, random) {
    const ready = world.awake.filter((replica) => replica.canTake);
    if (ready.length === 0) return undefined;
    const replica = random.pick(ready);
    const id = world.options.inOrder ? replica.takeNext((message) => world.fail("S14", message)) : takeAny(replica, random);
    const flight = replica.flights.find((candidate) => candidate.id === id);
    const asks = flight === undefined ? "nothing to do" : describeRequest(flight.request, flight.reconcile.resource.plural);
    return `replica ${replica.index} takes ${id}: ${asks}`;
  },
};

function takeAny(replica: SimulatedReplica, random: Random): string {
  const id = random.pick(replica.waiting);
  replica.take(id);
  return id;
}

const transmit: Act = {
  name: "request is answered",
  kind: "move",
  weight: 5,
  isPossible: ({ replicas }) => replicas.some(({ flights }) => flights.some(isAsked)),
  perform(world, random) {
    const found = drawFlight(world, random, isAsked);
    return found && answerTo(world, found);
  },
};

async function answerTo(world: World, { replica, flight }: { replica: SimulatedReplica; flight: Flight }): Promise<string> {
  const text = describeRequest(flight.request, flight.reconcile.resource.plural);
  flight.response = await world.transmit(flight, { index: replica.index, unanswered: false });
  return `replica ${replica.index}: ${text} is answered ${flight.response.type}`;
}

const land: Act = {
  name: "answer arrives",
  kind: "move",
  weight: 6,
  isPossible: ({ replicas }) => replicas.some(({ flights }) => flights.some((flight) => !isAsked(flight))),
  perform(world, random) {
    const found = drawFlight(world, random, (flight) => !isAsked(flight));
    if (found === undefined || found.replica.pausedUntil > world.now) return undefined;
    const { replica, flight } = found;
    const answer = flight.response!.type;
    replica.land(flight);
    return `replica ${replica.index} hears ${answer} for ${flight.id}: ${describeRequest(flight.reconcile.request, flight.reconcile.resource.plural)}`;
  },
};

const landLate: Act = {
  name: "late write lands",
  kind: "move",
  weight: 0.7,
  perform(world, random) {
    return world.late.length === 0 ? undefined : landOne(world, random);
  },
};

async function landOne(world: World, random: Random): Promise<string> {
  const [late] = world.late.splice(random.below(world.late.length), 1) as [World["late"][number]];
  const { flight, replica } = late;
  const response = await world.landLate(late);
  return `late: ${describeRequest(flight.request, flight.reconcile.resource.plural)} of replica ${replica} is ${response?.type ?? "given up"}`;
}

/** Nothing happens for a while, which ends delays, pauses and outages. */
const wait: Act = {
  name: "time passes",
  kind: "move",
  weight: 0.6,
  perform(world, random) {
    const ms = Math.round(10 ** (1 + 3.5 * random.fraction()));
    world.now += ms;
    for (const replica of world.awake) replica.wake();
    return `${ms} ms pass`;
  },
};

/**
 * Hands slices that the syncer made from Endpoints back to the host's mirror, once backends are no longer decided per Service. One act
 * is one check and all deletes that it leads to.
 */
export const handBack: Act = {
  name: "made slices are handed back",
  kind: "move",
  weight: 3,
  isPossible: ({ replicas }) => replicas.some(({ canHandBack }) => canHandBack),
  perform(world, random) {
    const ready = world.awake.filter(({ canHandBack }) => canHandBack);
    return ready.length === 0 ? undefined : world.handBack(random.pick(ready));
  },
};

/** Acts of normal operation. */
export const MOVES: readonly Act[] = [deliver, take, transmit, land, landLate, wait];
