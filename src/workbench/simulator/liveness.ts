import { checkConvergence } from "./oracles/convergence.ts";
import type { SimulatedReplica } from "./model/replica.ts";
import { mirror } from "./users/mirror-users.ts";
import type { World } from "./world.ts";

/** Maximum number of waits until a world is at rest. Each takes up to a minute of virtual time. */
const WAITS_MAX = 60;
/** Maximum number of rounds of a drain. One with more counts as endless. */
const RECONCILES_MAX = 2_000;
/** Time for refused writes, which are retried every minute, to succeed. Virtual milliseconds. */
const PATIENCE_MS = 130_000;
/** Number of lists of everything once the world is at rest. */
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
  // If the second list still shows an object, a response that reported its delete is known to be false.
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

/** Reports whether restarts are left out. A new process does not know that it gave up: it tries again, and counts missing objects again. */
function leavesAlone({ replicas, forgottenCopies }: World): boolean {
  // The next start finds these copies, and deletes them later.
  return forgottenCopies.size > 0 || replicas.some(({ hasGivenUp }) => hasGivenUp);
}

async function endFaults(world: World): Promise<void> {
  world.timeline.say(world.step, world.now, "the faults stop");
  world.downUntil.tenant = world.downUntil.host = 0;
  for (const late of world.late.splice(0)) await world.landLate(late);
  for (const replica of world.replicas) replica.pausedUntil = 0;
  // A write that was falsely reported as done is known to be missing once its cluster has passed the reported version.
  await world.clusters.tenant.goOn();
  await world.clusters.host.goOn();
}

/** Runs everything that can happen, in order and without delay, until only long waits are left. Returns false if that never happens. */
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

/** Reports whether only work is left that may repeat forever: retries of refused writes, slowed writes, and hand-backs. */
function onlyWaits(world: World): boolean {
  return world.replicas.every(
    ({ nextDue, retriesRefused, isSlowed, onlyHandsBack }) => nextDue === Infinity || retriesRefused || isSlowed || onlyHandsBack,
  );
}

async function drain(world: World): Promise<boolean> {
  for (let reconciles = 0; reconciles < RECONCILES_MAX; reconciles += 1) {
    // After a violation, further steps prove nothing and only make the timeline longer.
    if (world.violation !== undefined) return true;
    let moved = await mirror(world, "tenant");
    moved = (await mirror(world, "host")) || moved;
    for (const replica of world.replicas) moved = (await advance(world, replica)) || moved;
    if (!moved) return true;
    world.now += 1;
  }
  return false;
}

/** Does everything that one replica can do now, once. Returns false if there was nothing. */
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
    flight.response ??= await world.transmit(flight, { index: replica.index, unanswered: false });
    replica.land(flight);
    moved = true;
    if (world.violation !== undefined) break;
  }
  return moved;
}
