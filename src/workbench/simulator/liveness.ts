import { REFERENCED_NAMES, SLICE_SUFFIXES } from "./model/objects.ts";
import { checkConvergence } from "./oracles/convergence.ts";
import type { SimulatedReplica } from "./model/replica.ts";
import { mirror } from "./users/mirror-users.ts";
import type { World } from "./world.ts";

/** Looks at the clock after which a world that is still not at rest never will be. Each is up to a minute of virtual time. */
const WAITS_MAX = 60;
/** Reconciles after which a drain without any wait never ends. */
const RECONCILES_MAX = 2_000;
/** What was refused is tried again every minute; this long it is given to succeed. Virtual milliseconds. */
const PATIENCE_MS = 130_000;
/** Lists of everything after all is at rest. */
const RESYNCS = 3;

/**
 * Ends all faults, and checks that everything settles. Caches that their cluster contradicts must request a new list (L5); then all
 * caches are listed. After that, the clusters must reach the state that the contract requires (L1, L2, L6). This state must last (L4),
 * without a write or a read (L3), even after every replica restarts.
 */
export async function checkLiveness(world: World): Promise<void> {
  await endFaults(world);
  const isAtRest = await rest(world);
  const contradicted = world.replicas.flatMap((replica) => replica.contradicted);
  if (!isAtRest && contradicted.length > 0) return world.fail("L5", `nothing corrects the cached state of ${contradicted.join(", ")}`);
  // An answer that a delete took place is known to be false when the second list shows the object still.
  for (let times = 0; times < 2; times += 1) for (const replica of world.replicas) for (const cache of replica.caches) cache.relist();
  if (!(await rest(world))) return world.fail("L4", "the replicas do not settle");
  if (world.violation !== undefined) return;
  const wrong = checkConvergence(world);
  if (wrong !== undefined) return world.fail(wrong.oracle, wrong.message);
  if (world.replicas.some(({ isSlowed }) => isSlowed)) return;
  const { accepted, reads } = world;
  for (let round = 0; round < RESYNCS; round += 1) {
    for (const replica of world.replicas) for (const cache of replica.caches) cache.relist();
    if (!(await rest(world))) return world.fail("L4", "the replicas do not settle again");
  }
  if (!leavesAlone(world)) {
    for (const { index } of world.replicas) world.start(index, () => 0);
    if (!(await rest(world))) return world.fail("L4", "the replicas do not settle after a restart");
  }
  if (world.accepted !== accepted) world.fail("L3", `${world.accepted - accepted} writes while nothing changed`);
  if (world.reads !== reads) world.fail("L3", `${world.reads - reads} reads of single objects while nothing changed`);
}

/** A process that does not remember having given up tries once more, and counts again what is missing. */
function leavesAlone({ replicas, options, resources, unheardCopies }: World): boolean {
  // The next start finds these, and deletes them in their time.
  if (unheardCopies.size > 0) return true;
  const referable = options.names.flatMap(({ namespace }) => REFERENCED_NAMES.map((name) => ({ namespace, name })));
  const slices = options.names.flatMap(({ namespace, name }) => SLICE_SUFFIXES.map((suffix) => ({ namespace, name: name + suffix })));
  const codes = replicas.flatMap((replica) =>
    resources.flatMap(({ plural }) => [...options.names, ...referable, ...slices].flatMap((key) => replica.notes(plural, key))),
  );
  return codes.includes("LOOP_STOPPED") || codes.includes("DELETE_BRAKE");
}

async function endFaults(world: World): Promise<void> {
  world.timeline.say(world.step, world.now, "the faults stop");
  world.downUntil.tenant = world.downUntil.host = 0;
  for (const late of world.late.splice(0)) await world.landLate(late);
  for (const replica of world.replicas) replica.pausedUntil = 0;
  // What was only said to be stored is known to be missing once its cluster has come past the version of it.
  await world.clusters.tenant.goOn();
  await world.clusters.host.goOn();
}

/** Lets everything happen that can, in order and without delay, until nothing is left but what waits for long. */
async function rest(world: World): Promise<boolean> {
  const patientUntil = world.now + PATIENCE_MS;
  for (let waits = 0; waits < WAITS_MAX; waits += 1) {
    if (!(await drain(world))) return false;
    const due = Math.min(...world.replicas.map(({ nextDue }) => nextDue));
    if (world.violation !== undefined || due === Infinity || (due > patientUntil && onlyWaits(world))) return true;
    world.now = Math.max(world.now, due);
    for (const replica of world.replicas) replica.wake();
  }
  return false;
}

/** What a server refuses is tried again forever, and what never agrees with itself is written ever more slowly; that is rest, too. */
function onlyWaits(world: World): boolean {
  return world.replicas.every(
    ({ nextDue, retriesRefused, isSlowed, onlyHandsBack }) => nextDue === Infinity || retriesRefused || isSlowed || onlyHandsBack,
  );
}

async function drain(world: World): Promise<boolean> {
  for (let reconciles = 0; reconciles < RECONCILES_MAX; reconciles += 1) {
    // What comes after a broken promise proves nothing, and makes the timeline longer.
    if (world.violation !== undefined) return true;
    let moved = await mirror(world);
    for (const replica of world.replicas) moved = (await advance(world, replica)) || moved;
    if (!moved) return true;
    world.now += 1;
  }
  return false;
}

/** Everything that one replica can do now, once. */
async function advance(world: World, replica: SimulatedReplica): Promise<boolean> {
  let moved = false;
  for (const cache of replica.caches) {
    for (; !cache.idle; moved = true) cache.deliver();
  }
  if (replica.canHandBack) {
    await world.handBack(replica);
    moved = true;
  }
  for (const id of replica.waiting) {
    if (!replica.canTake) break;
    replica.take(id);
    moved = true;
  }
  for (const flight of [...replica.flights]) {
    flight.response ??= await world.transmit(flight, { index: replica.index, unheard: false });
    replica.land(flight);
    moved = true;
    if (world.violation !== undefined) break;
  }
  return moved;
}
