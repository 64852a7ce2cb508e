/**
 * Backends that readers on the host get from two producers at once: the host's mirror, slices that were made of a copy of Endpoints, and copies of
 * slices of the tenant.
 *
 * @module
 */
import { BACKENDS, parseSyncId, syncId } from "../../../engine/sync/state/sync-id.ts";
import { HAND_BACK } from "../../../engine/sync/backends/hand-back.ts";
import { formatKey } from "../../../kube/object/key.ts";
import type { ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS } from "../../../kube/object/resource.ts";
import { hasReaders } from "../model/generation.ts";
import type { Oracle, WatchedReconcile } from "../model/history.ts";
import type { SimulatedReplica } from "../model/replica.ts";
import type { World } from "../world.ts";
import { expectationOf } from "./expectation.ts";
import { backendsOf, inBoth, isAbout, producersOf, seesAll } from "./producers.ts";
import type { Backends, Producers } from "./producers.ts";
import { isExcused } from "./readers.ts";

/** A mirror that was sent away has so long to take its slices along, in virtual milliseconds; then the syncer does. */
const MIRROR_MS = 3_000;
/** So many writes for one Service within a minute, and the syncer may slow them down. */
const WRITES_MAX = 9;
const WINDOW_MS = 60_000;

/** A reconcile that is under way, and what there was of a Service when it began. */
interface Open {
  readonly at: number;
  readonly before: Producers;
  /** The Service had decided from the very same. */
  readonly isDecided: boolean;
  /** Something that the replica cannot know of has happened since. */
  isDisturbed: boolean;
  /** Slices that it has created or changed. */
  written: number;
}

/** What oracle and replica know of one Service from one reconcile to the next, as long as the replica remembers. */
interface Known {
  /** The version that was decided from, with nothing left to write. */
  decided?: string | undefined;
  /** The version of which the copy was looked at, with nothing left to write. */
  looked?: string | undefined;
  /** Since when the mirror's slices have stood beside those that were made, though the copy sends the mirror away. */
  owesSince?: number | undefined;
  /** There was no copy at the last look at what is to be handed back, but something that had been made of one. */
  isGone?: boolean;
  /** Times of writes. */
  writes: readonly number[];
}

/**
 * S16: no backend reaches readers of a Service from two producers for longer than one reconcile. Looked at is each reconcile of the unit of a
 * Service, of its Endpoints, and of what is to be handed back, which began with caches that had all of the Service as the clusters have it. When it
 * ends, a backend that readers got twice before must come from one producer, or the step that ends this must be taken:
 *
 * | `backends` | readers get it from | at the end of a reconcile of | this must be so |
 * |---|---|---|---|
 * | `auto` | made slices, mirror | the Service | what is next is to be done for the copy |
 * | `auto` | made slices, mirror | Endpoints, after the Service has decided | the copy sends the mirror away, once made slices say all of it |
 * | `auto` | made slices, mirror, though sent away | the Service, 3 s after the first such look with nothing left to write | the mirror's slices are gone |
 * | `auto` | made slices, anything, without Endpoints and copy | the Service | made slices are gone |
 * | `both` | copies of slices, mirror | Endpoints | the copy sends the mirror away, once all slices have copies |
 * | `both`, `endpoints` | made slices, mirror or copies | Endpoints | something is to be handed back |
 * | `both`, `endpoints` | made slices, mirror | what is handed back | made slices are gone, once the mirror shows all of the copy, and the copy does not send it away |
 * | `both` | made slices, copies of slices | what is handed back, after Endpoints were looked at | made slices are gone, once all slices have copies |
 * | all but `slices` | any two, without Endpoints | Endpoints | the copy is gone, once all slices have copies |
 *
 * Not looked at: a reconcile with a request that failed or was refused, or beside a write of others, what happens after a lie for as long as the
 * process lives, and what is paused, excluded, braked or slowed. A slice of the tenant beside Endpoints that say the same is no double: the
 * tenant says it twice. Neither is what is next to slices of others, nor, with `slices` alone, what is left of Endpoints, without which none starts.
 */
export function doubles(world: World): Oracle {
  const open = new WeakMap<SimulatedReplica, Map<string, readonly Open[]>>();
  const minds = new WeakMap<object, Map<string, Known>>();
  /** Processes that believe something that no cluster has said. */
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
            const isOwn = author.kind === "replica" && author.index === replica.index && author.id === id && !author.unheard;
            // One that takes an edit of the host to the tenant leaves the copy to the next one.
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
    return wrong && `readers of ${formatKey(after.place)} go on to get ${wrong} after ${id}`;
  }

  /** Where the syncer decides Service by Service. */
  function decided(plural: string, step: Step): string | undefined {
    if (plural === BACKENDS) return endsWhatItMay(step) ?? leavesRestToCopy(step);
    return plural === ENDPOINTS.plural ? (endsCopy(step) ?? sendsAway(step)) : undefined;
  }

  /** The unit of the Service: what was made goes with Endpoints and copy, and what a mirror has left behind goes after its time. */
  function endsWhatItMay(step: Step): string | undefined {
    const { known, one, before } = step;
    if (before.endpoints === undefined && before.copy === undefined)
      return lasting(step, "made", "copied") ?? lasting(step, "made", "mirrored");
    const isDouble = isWanted(before) && coversCopy(before) && inBoth(before.made, before.mirrored).length > 0;
    // Time counts from a look with nothing left to write: until then what was made may not be all that the mirror is sent away for.
    const owes = before.label === "true" && isDouble && one.written === 0;
    known.owesSince = owes ? (known.owesSince ?? one.at) : undefined;
    const isOver = owes && one.at - known.owesSince! >= MIRROR_MS;
    return isOver ? lasting(step, "made", "mirrored", "a mirror had its time") : undefined;
  }

  /** With nothing left to write, the unit leaves the next step to the copy, which sends the mirror away. */
  function leavesRestToCopy(step: Step): string | undefined {
    const { replica, known, after, isIdle } = step;
    known.decided = isIdle ? after.version : undefined;
    if (!isIdle || !isToSendAway(after) || replica.isToDo(syncId(ENDPOINTS.plural, after.service))) return undefined;
    return lasting(step, "made", "mirrored", "nothing is to be done for the copy");
  }

  /** The copy of Endpoints that are gone goes, and with it what a mirror has made of it. */
  function endsCopy(step: Step): string | undefined {
    const { before, after } = step;
    if (before.endpoints !== undefined || after.copy === undefined || !before.isCopied) return undefined;
    return lasting(step, "copied", "mirrored") ?? lasting(step, "made", "copied") ?? lasting(step, "made", "mirrored");
  }

  /** The copy sends the mirror away once slices that were made say the same. */
  function sendsAway(step: Step): string | undefined {
    const { one, before, after } = step;
    const isDue = one.isDecided && isToSendAway(before) && after.copy !== undefined && after.label !== "true";
    return isDue ? lasting(step, "made", "mirrored") : undefined;
  }

  /** Where Endpoints alone are written, or both kinds: what was made is handed back. */
  function undecided(plural: string, step: Step): string | undefined {
    return plural === ENDPOINTS.plural ? (endsCopy(step) ?? yieldsToSlices(step)) : handsBack(step);
  }

  /** A copy of Endpoints sends the mirror away once all slices of the tenant have copies, and what was made is looked after. */
  function yieldsToSlices(step: Step): string | undefined {
    const { replica, known, before, after, isIdle } = step;
    known.looked = isIdle ? after.version : undefined;
    const isBoth = syncsSlices(replica);
    if (isBoth && isWanted(before) && before.isCopied && after.label !== "true") return lasting(step, "copied", "mirrored");
    if (!isIdle || (!isBoth && before.label === undefined) || replica.isToDo(HAND_BACK)) return undefined;
    const why = "nothing is to be handed back";
    return lasting(step, "made", "mirrored", why) ?? (isBoth ? lasting(step, "made", "copied", why) : undefined);
  }

  /** What was made goes once the mirror, which is not sent away any more, shows the same, or copies of slices do. */
  function handsBack(step: Step): string | undefined {
    const { replica, known, before } = step;
    const isBoth = syncsSlices(replica);
    const wasGone = known.isGone === true;
    // Of a copy that is gone the first look that finds something begins the wait.
    known.isGone = before.copy === undefined && before.made.size > 0;
    if (before.copy === undefined) return isBoth && wasGone && before.endpoints === undefined ? lasting(step, "made", "copied") : undefined;
    const isTraced = isBoth || before.label !== undefined;
    if (isTraced && before.label !== "true" && shows(before.mirrored, before.copy)) return lasting(step, "made", "mirrored");
    const isReplaced = isBoth && before.isCopied && known.looked === before.version;
    return isReplaced ? lasting(step, "made", "copied") : undefined;
  }

  /** The tenant's Endpoints are to have the copy that they have. */
  function isWanted({ service, endpoints, copy }: Producers): boolean {
    const rules = world.generation.rules.find(({ kind }) => kind.resource === ENDPOINTS);
    if (rules === undefined || endpoints === undefined || copy === undefined) return false;
    return expectationOf(world, rules, endpoints, rules.translator.toHost(service, ENDPOINTS)).kind === "copy";
  }

  /** All that the copy says is in slices that were made, and the mirror does not know yet that it is to go. */
  function isToSendAway(producers: Producers): boolean {
    return producers.label !== "true" && isWanted(producers) && coversCopy(producers);
  }
}

/** What is known when a reconcile has ended. */
interface Step {
  readonly replica: SimulatedReplica;
  readonly known: Known;
  readonly one: Open;
  readonly before: Producers;
  readonly after: Producers;
  /** It has written nothing. */
  readonly isIdle: boolean;
}

const NAMES = { made: "slices that were made", mirrored: "a mirror", copied: "copies of slices" } as const;

/** Backends that readers got from both producers before the reconcile, and get still. */
function lasting({ before, after }: Step, one: keyof typeof NAMES, other: keyof typeof NAMES, why?: string): string | undefined {
  const both = inBoth(before[one], before[other]).filter((text) => after[one].has(text) && after[other].has(text));
  return both.length === 0
    ? undefined
    : `${both.join(", ")} from ${NAMES[one]} and ${NAMES[other]}${why === undefined ? "" : `, though ${why},`}`;
}

function noteWrite(known: Known, now: number): void {
  known.writes = [...known.writes.filter((time) => now - time < WINDOW_MS || known.writes.length > WRITES_MAX), now];
}

/** What was not seen from beginning to end proves nothing about what comes next. */
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
