/**
 * Backends that readers on the host get from two producers at once: the host's mirror, slices that the syncer made from its copy of Endpoints,
 * and copies of the tenant's slices.
 *
 * @module
 */
import { BACKENDS, parseSyncId, syncId } from "../../../engine/sync/state/sync-id.ts";
import { HAND_BACK } from "../../../engine/sync/backends/hand-back.ts";
import { formatKey, type ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS } from "../../../kube/object/resource.ts";
import { hasReaders } from "../model/generation.ts";
import type { Oracle, WatchedReconcile } from "../model/history.ts";
import type { SimulatedReplica } from "../model/replica.ts";
import type { World } from "../world.ts";
import { expectationOf } from "./expectation.ts";
import { inBoth, isAbout, producersOf, seesAll, type Producers } from "./producers.ts";
import { isExcused } from "./readers.ts";
import { backendsOf, type Backends } from "./view.ts";

/** Virtual milliseconds that a mirror has to delete its slices after it is switched off; then the syncer deletes them. */
const MIRROR_MS = 3_000;
/** After more writes than this for one Service within a minute, the syncer may slow them down. */
const WRITES_MAX = 9;
const WINDOW_MS = 60_000;

/** A reconcile in progress, with the producers of a Service when it began. */
interface Open {
  readonly at: number;
  readonly before: Producers;
  /** True if the Service has already decided from the same state. */
  readonly isDecided: boolean;
  /** True if something has happened since then that the replica cannot know. */
  isDisturbed: boolean;
  /** Number of slices that the reconcile has created or changed. */
  written: number;
}

/** What the oracle and a replica know about one Service between reconciles, until the replica forgets it. */
interface Known {
  /** The version from which the Service decided, with nothing left to write. */
  decided?: string | undefined;
  /** The version at which the Endpoints were reconciled, with nothing left to write. */
  looked?: string | undefined;
  /** Since when the mirror's slices have existed next to made slices, although the copy switches the mirror off. */
  owesSince?: number | undefined;
  /** The last hand-back found no copy, but slices that had been made from one. */
  isGone?: boolean;
  /** Times of writes. */
  writes: readonly number[];
}

/**
 * S16: readers of a Service do not get a backend from two producers for longer than one reconcile. The producers are the host's mirror, slices
 * that the syncer made from its copy of Endpoints ("made slices"), and copies of the tenant's slices ("copies"). S16 checks the reconciles of a
 * Service, of its Endpoints and of the hand-back, if they began with caches that showed the Service exactly as both clusters had it. If readers
 * had a backend from two producers at the beginning, then at the end only one producer has it, or the next step has been taken:
 *
 * | `backends` | the two producers | reconcile of | required at the end |
 * |---|---|---|---|
 * | `auto` | made slices, mirror | the Service | a reconcile of its Endpoints is due |
 * | `auto` | made slices, mirror | Endpoints, after the Service has decided | the copy switches the mirror off, if made slices contain all of it, or is otherwise written |
 * | `auto` | made slices, mirror that is switched off | the Service, 3 s after the first one with nothing to write | the mirror's slices are gone |
 * | `auto` | made slices, any; neither Endpoints nor their copy exist | the Service | made slices are gone |
 * | `both` | copies, mirror | Endpoints | the copy of Endpoints switches the mirror off, if all slices have copies |
 * | `both`, `endpoints` | made slices, mirror or copies | Endpoints | a hand-back is due |
 * | `both`, `endpoints` | made slices, mirror that is on and shows all of the copy | the hand-back | made slices are gone |
 * | `both` | made slices, copies | the hand-back, after Endpoints | made slices are gone, if all slices have copies |
 * | all but `slices` | any two; the Endpoints are gone | Endpoints | their copy is gone, if all slices have copies |
 *
 * S16 does not check reconciles in which a request failed or another writer changed the Service, replicas that have received a false response
 * (until they restart), or Services that are paused, excluded, braked, slowed, next to slices of other writers, or, with
 * `auto`, with slices of Pods next to Endpoints. A tenant slice with the
 * backends of its Endpoints is not a double, because the tenant has them twice. With `slices` alone, leftovers of Endpoints are not doubles.
 */
export function doubles(world: World): Oracle {
  const open = new WeakMap<SimulatedReplica, Map<string, readonly Open[]>>();
  const minds = new WeakMap<object, Map<string, Known>>();
  /** Processes that have received a false response. */
  const deceived = new WeakSet<object>();
  const isWatched = hasReaders(world.options.setting);

  function knownOf({ memory }: SimulatedReplica, service: ObjectKey): Known {
    const mind = minds.get(memory) ?? new Map<string, Known>();
    minds.set(memory, mind);
    const known = mind.get(formatKey(service)) ?? { writes: [] };
    mind.set(formatKey(service), known);
    return known;
  }

  /** The Services that a reconcile is about. */
  function servicesOf(id: string): readonly ObjectKey[] {
    if (id === HAND_BACK) return world.options.names;
    const { plural, key } = parseSyncId(id);
    return plural === BACKENDS || plural === ENDPOINTS.plural ? [key] : [];
  }

  function opened({ replica, id }: WatchedReconcile): readonly Open[] {
    return open.get(replica)?.get(id) ?? [];
  }

  return {
    name: "S16",
    began({ replica, id }) {
      if (!isWatched) return;
      const all = open.get(replica) ?? new Map<string, readonly Open[]>();
      open.set(replica, all);
      const shown = servicesOf(id).flatMap((service) => producersOf(world, service, decides(replica)) ?? []);
      all.set(
        id,
        shown.map((before) => {
          const isDecided = knownOf(replica, before.service).decided === before.version;
          return { at: world.now, before, isDecided, isDisturbed: !seesAll(replica, before), written: 0 };
        }),
      );
    },
    saw(write) {
      if (!isWatched) return undefined;
      const { author, action, side } = write;
      for (const replica of world.replicas) {
        for (const [id, all] of open.get(replica) ?? []) {
          for (const one of all) {
            if (!isAbout(write, one.before)) continue;
            const isOwn = author.kind === "replica" && author.index === replica.index && author.id === id && !author.unanswered;
            // A reconcile that writes a host edit to the tenant leaves the copy to the next reconcile.
            if (!isOwn || side === "tenant") one.isDisturbed = true;
            else if (action !== "delete") one.written += 1;
            if (isOwn) noteWrite(knownOf(replica, one.before.service), world.now);
          }
        }
      }
      return undefined;
    },
    misled(reconcile, how) {
      for (const one of opened(reconcile)) one.isDisturbed = true;
      if (how === "lie") deceived.add(reconcile.replica);
    },
    ended(reconcile) {
      const { replica, id } = reconcile;
      const all = opened(reconcile);
      open.get(replica)?.delete(id);
      for (const one of all) {
        const message = judge(reconcile, one);
        if (message !== undefined) return message;
      }
      return undefined;
    },
  };

  function judge({ replica, id }: WatchedReconcile, one: Open): string | undefined {
    const known = knownOf(replica, one.before.service);
    const after = producersOf(world, one.before.service, decides(replica));
    const isSlowed = known.writes.length > WRITES_MAX;
    const isJudged = !one.isDisturbed && after !== undefined && !deceived.has(replica) && !isSlowed;
    if (!isJudged || isExcused(world, one.before.service)) return void forget(known, id);
    const step = { replica, known, one, before: one.before, after, isIdle: one.before.version === after.version };
    const { backends } = replica.generation;
    const { plural } = id === HAND_BACK ? { plural: HAND_BACK } : parseSyncId(id);
    const wrong = decides(replica) ? decided(plural, step) : backends === "slices" ? undefined : undecided(plural, step);
    return wrong && `readers of ${formatKey(after.place)} still get ${wrong} after ${id}`;
  }

  /** Checks a reconcile in a mode that decides per Service. */
  function decided(plural: string, step: Step): string | undefined {
    if (plural === BACKENDS) return endsWhatItMay(step) ?? leavesRestToCopy(step);
    return plural === ENDPOINTS.plural ? (endsCopy(step) ?? sendsAway(step)) : undefined;
  }

  /** A Service: its made slices are deleted with the Endpoints and their copy, and leftovers of the mirror are deleted after a while. */
  function endsWhatItMay(step: Step): string | undefined {
    const { known, one, before } = step;
    if (before.endpoints === undefined && before.copy === undefined)
      return lasting(step, "made", "copied") ?? lasting(step, "made", "mirrored");
    const isDouble = isWanted(before) && coversCopy(before) && inBoth(before.made, before.mirrored).length > 0;
    // Time counts from a reconcile with nothing left to write: until then, made slices may lack a part of the copy.
    const owes = before.label === "true" && isDouble && one.written === 0;
    known.owesSince = owes ? (known.owesSince ?? one.at) : undefined;
    const isOver = owes && one.at - known.owesSince! >= MIRROR_MS;
    return isOver ? lasting(step, "made", "mirrored", "the mirror had time to delete its slices") : undefined;
  }

  /** A Service with nothing left to write leaves the next step to its Endpoints, whose copy switches the mirror off. */
  function leavesRestToCopy(step: Step): string | undefined {
    const { replica, known, after, isIdle } = step;
    known.decided = isIdle ? after.version : undefined;
    if (!isIdle || !isToSendAway(after) || replica.isToDo(syncId(ENDPOINTS.plural, after.service))) return undefined;
    return lasting(step, "made", "mirrored", "no reconcile of the copy is due");
  }

  /** The copy of deleted Endpoints is deleted, and with it the mirror's slices. */
  function endsCopy(step: Step): string | undefined {
    const { before, after } = step;
    if (before.endpoints !== undefined || after.copy === undefined || !before.isCopied) return undefined;
    return lasting(step, "copied", "mirrored") ?? lasting(step, "made", "copied") ?? lasting(step, "made", "mirrored");
  }

  /** The copy switches the mirror off once made slices contain the same backends. */
  function sendsAway(step: Step): string | undefined {
    const { one, before, after } = step;
    // A write that undoes or accepts an edit of the copy comes first: until then, the mirror may stay on.
    const isSame = after.copy?.metadata.resourceVersion === before.copy?.metadata.resourceVersion;
    const isDue = one.isDecided && isSame && isToSendAway(before) && after.label !== "true";
    return isDue ? lasting(step, "made", "mirrored") : undefined;
  }

  /** Checks a reconcile with `endpoints` or `both`: made slices are handed back. */
  function undecided(plural: string, step: Step): string | undefined {
    return plural === ENDPOINTS.plural ? (endsCopy(step) ?? yieldsToSlices(step)) : handsBack(step);
  }

  /** A copy of Endpoints switches the mirror off once all slices of the tenant have copies, and a hand-back takes care of made slices. */
  function yieldsToSlices(step: Step): string | undefined {
    const { replica, known, before, after, isIdle } = step;
    known.looked = isIdle ? after.version : undefined;
    const isBoth = syncsSlices(replica);
    if (isBoth && isWanted(before) && before.isCopied && after.label !== "true") return lasting(step, "copied", "mirrored");
    if (!isIdle || (!isBoth && before.label === undefined) || replica.isToDo(HAND_BACK)) return undefined;
    const why = "no hand-back is due";
    return lasting(step, "made", "mirrored", why) ?? (isBoth ? lasting(step, "made", "copied", why) : undefined);
  }

  /** Made slices are deleted once the mirror, switched on again, or copies of slices show the same backends. */
  function handsBack(step: Step): string | undefined {
    const { replica, known, before } = step;
    const isBoth = syncsSlices(replica);
    const wasGone = known.isGone === true;
    // If the copy is gone, the first hand-back that finds made slices starts the wait.
    known.isGone = before.copy === undefined && before.made.size > 0;
    if (before.copy === undefined) return isBoth && wasGone && before.endpoints === undefined ? lasting(step, "made", "copied") : undefined;
    const isTraced = isBoth || before.label !== undefined;
    if (isTraced && before.label !== "true" && shows(before.mirrored, before.copy)) return lasting(step, "made", "mirrored");
    const isReplaced = isBoth && before.isCopied && known.looked === before.version;
    return isReplaced ? lasting(step, "made", "copied") : undefined;
  }

  /** Reports whether the tenant's Endpoints should have the copy that exists. */
  function isWanted({ service, endpoints, copy }: Producers): boolean {
    const rules = world.generation.rules.find(({ kind }) => kind.resource === ENDPOINTS);
    if (rules === undefined || endpoints === undefined || copy === undefined) return false;
    return expectationOf(world, rules, endpoints, rules.translator.toHost(service, ENDPOINTS)).kind === "copy";
  }

  /** Reports whether made slices contain all of the copy, but the copy does not switch the mirror off yet. */
  function isToSendAway(producers: Producers): boolean {
    return producers.label !== "true" && isWanted(producers) && coversCopy(producers);
  }
}

/** A finished reconcile, with what is known about its Service. */
interface Step {
  readonly replica: SimulatedReplica;
  readonly known: Known;
  readonly one: Open;
  readonly before: Producers;
  readonly after: Producers;
  /** Nothing has changed since the reconcile began. */
  readonly isIdle: boolean;
}

const NAMES = { made: "slices of the syncer", mirrored: "the mirror", copied: "copies of slices" } as const;

/** Describes the backends that readers got from both producers before the reconcile and still get; undefined if there are none. */
function lasting({ before, after }: Step, one: keyof typeof NAMES, other: keyof typeof NAMES, why?: string): string | undefined {
  const both = inBoth(before[one], before[other]).filter((text) => after[one].has(text) && after[other].has(text));
  return both.length === 0
    ? undefined
    : `${both.join(", ")} from ${NAMES[one]} and ${NAMES[other]}${why === undefined ? "" : `, although ${why},`}`;
}

function noteWrite(known: Known, now: number): void {
  known.writes = [...known.writes.filter((time) => now - time < WINDOW_MS || known.writes.length > WRITES_MAX), now];
}

/** Forgets what earlier reconciles showed: one that was not checked proves nothing about the next one. */
function forget(known: Known, id: string): void {
  if (id === HAND_BACK) known.isGone = false;
  else if (parseSyncId(id).plural === BACKENDS) known.owesSince = known.decided = undefined;
  else known.looked = undefined;
}

function decides({ generation }: SimulatedReplica): boolean {
  return generation.rules.some(({ decidesBackends }) => decidesBackends === true);
}

function syncsSlices({ generation }: SimulatedReplica): boolean {
  return generation.rules.some(({ kind }) => kind.resource === ENDPOINT_SLICES);
}

function coversCopy({ copy, made }: Producers): boolean {
  return copy !== undefined && [...backendsOf(copy).keys()].every((text) => made.has(text)) && made.size === backendsOf(copy).size;
}

function shows(mirrored: Backends, copy: NonNullable<Producers["copy"]>): boolean {
  return [...backendsOf(copy)].every(([text, ready]) => mirrored.get(text) === ready);
}
