import { parseKey } from "../../../kube/object/key.ts";
import type { Act } from "../act.ts";
import type { Side } from "../model/cluster.ts";
import type { Random } from "../model/random.ts";
import type { World } from "../world.ts";

/** Duration of pauses, in milliseconds: longer than the 15 s after which another replica takes over from a silent leader. */
const PAUSE_MIN_MS = 16_000;
const PAUSE_MORE_MS = 45_000;

/** Ends a replica between two steps and starts it again. A request that it sent and that is still unanswered may arrive later. */
export function restart(world: World, random: Random, { index, behindMax }: { index: number; behindMax: number }): void {
  for (const flight of world.replicas[index]!.flights) {
    const onItsWay = flight.response === undefined && flight.request.type === "write" && random.happens(0.5);
    if (onItsWay) world.delay(flight, index);
  }
  world.start(index, () => random.below(behindMax + 1));
  // A process that cannot list its objects has not started yet.
  world.replicas[index]!.pausedUntil = Math.max(world.downUntil.tenant, world.downUntil.host);
  world.notice("restart");
}

function crash(name: string, weight: number, behindMax: number): Act {
  return {
    name,
    kind: "fault",
    weight,
    perform(world, random) {
      const index = random.below(world.replicas.length);
      restart(world, random, { index, behindMax });
      return `${name}: replica ${index}`;
    },
  };
}

const pause: Act = {
  name: "process stands still",
  kind: "fault",
  weight: 1,
  perform(world, random) {
    const replica = random.pick(world.replicas);
    const ms = PAUSE_MIN_MS + random.below(PAUSE_MORE_MS);
    replica.pausedUntil = world.now + ms;
    return `replica ${replica.index} pauses for ${ms} ms`;
  },
};

function outage(name: string, weight: number, { sides, ms }: { sides: readonly Side[]; ms: number }): Act {
  return {
    name,
    kind: "fault",
    weight,
    perform(world, random) {
      const side = random.pick(sides);
      const length = 1 + random.below(ms);
      world.downUntil[side] = world.now + length;
      return `the ${side} cluster is down for ${length} ms`;
    },
  };
}

/** Gives the world another configuration, and returns its number; undefined if there is only one. */
function configureAnew(world: World, random: Random): number | undefined {
  const { generations, choosesBackends } = world.options.setting;
  const { backends } = world.generation;
  const others = generations.filter((one) => one !== world.generation && (choosesBackends !== true || one.backends === backends));
  if (others.length === 0) return undefined;
  world.generation = random.pick(others);
  return generations.indexOf(world.generation);
}

/** Restarts all replicas with another configuration. Writes of the old one may still arrive. */
const reconfigure: Act = {
  name: "configuration changes",
  kind: "fault",
  weight: 1,
  perform(world, random) {
    const number = configureAnew(world, random);
    if (number === undefined) return undefined;
    for (const { index } of world.replicas) restart(world, random, { index, behindMax: 0 });
    world.notice("configuration");
    return `the configuration is now number ${number}`;
  },
};

/** Loads another configuration into every process, which keeps running. */
const reload: Act = {
  name: "configuration changes in place",
  kind: "fault",
  weight: 1,
  perform(world, random) {
    const number = configureAnew(world, random);
    if (number === undefined) return undefined;
    for (const replica of world.replicas) replica.reload(world.generation);
    world.notice("configuration");
    return `every replica loads configuration number ${number}`;
  },
};

/** Empties the tenant cluster at once, which only a list shows: it is another cluster, or has lost its disk. */
const empty: Act = {
  name: "tenant is suddenly empty",
  kind: "fault",
  weight: 0.5,
  perform(world) {
    const filled = world.resources.some((resource) => world.clusters.tenant.objects(resource).size > 0);
    if (!filled || world.isDown("tenant") || world.awake.length < world.replicas.length) return undefined;
    return emptied(world);
  },
};

async function emptied(world: World): Promise<string> {
  world.notice("emptied");
  for (const resource of world.resources) {
    for (const id of [...world.clusters.tenant.objects(resource).keys()]) {
      await world.write("tenant", (writer) => writer.delete(resource, parseKey(id)));
    }
  }
  for (const { caches } of world.replicas) for (const cache of caches) if (cache.cluster.side === "tenant") cache.relist();
  return "the tenant cluster is suddenly empty";
}

/** Faults of a process or of a whole cluster. */
export const PROCESS_FAULTS: readonly Act[] = [
  crash("crash", 1, 0),
  crash("crash, then a late list", 1, 20),
  pause,
  outage("tenant down", 0.7, { sides: ["tenant"], ms: 30_000 }),
  outage("host down", 0.7, { sides: ["host"], ms: 30_000 }),
  outage("a cluster flaps", 1.5, { sides: ["tenant", "host"], ms: 300 }),
  reconfigure,
  reload,
  empty,
];
