/**
 * Decides from which objects readers on the host get the backends of one Service, with `backends: auto`. The decision depends on the
 * observed state of both clusters, never on a version number, and keeps the existing objects as long as they are correct.
 *
 * @module
 */

import { MIRROR } from "../../kinds/slice-labels.ts";

/** State of the slices that one writer made for Endpoints: there are none, they differ from the Endpoints, or they match them. */
export type Completeness = "none" | "behind" | "equal";

/** Number of tenant slices of one origin, and of those with their own copy on the host. */
export interface CountedSlices {
  readonly count: number;
  readonly copied: number;
}

/** The same, with the number of those that have a copy, even if it is of an earlier slice with the name. */
export interface StandingSlices extends CountedSlices {
  readonly standing: number;
}

/** State of the backends of one Service in both clusters. */
export interface BackendsSeen {
  /** The tenant's Endpoints; undefined if there are none, or if they are being deleted. */
  readonly endpoints:
    | {
        readonly filled: boolean;
        readonly overCapacity: boolean;
        readonly families: ReadonlySet<string>;
        readonly wanted: boolean;
        readonly paused: boolean;
      }
    | undefined;
  /** Slices that the tenant's mirror has made from the Endpoints: its readers see them in addition to slices made from Pods. */
  readonly mirrored: StandingSlices;
  /** Endpoints that are not our copy are in its place, so that there is none. */
  readonly taken: boolean;
  /** The host has a Service of that name. Without one there are no readers, and a mirror makes no slices. */
  readonly served: boolean;
  /** Patches of Endpoints are configured: their results are wanted on the host. */
  readonly patched: boolean;
  /** Slices that users and operators have written in the tenant. */
  readonly own: CountedSlices;
  /** Slices that the tenant's cluster has made from Pods. */
  readonly derived: StandingSlices & { readonly filled: boolean; readonly families: ReadonlySet<string> };
  /** Our copy of Endpoints. `large`: a mirror would omit some of its addresses. `behind`: it lacks the latest change of the Endpoints. */
  readonly copy: { readonly skipsMirror: boolean; readonly filled: boolean; readonly large: boolean; readonly behind: boolean } | undefined;
  /** State of the slices that the host's mirror made from the copy. */
  readonly mirror: Completeness;
  /** State of the slices that we made from the copy, according to the answers to our writes. */
  readonly made: Completeness;
  /** The host's cache shows all slices that should be made: an answer can be false. */
  readonly madeShown: boolean;
  /**
   * State of another syncer's slices for the host Service, compared with the copy; "equal" if they show all that takes traffic. If the place
   * of the copy is taken: of all slices of other writers, compared with ours.
   */
  readonly others: Completeness;
  /** The time is over in which these slices should show it. */
  readonly othersWaited: boolean;
  /** The time is over in which the host's mirror should make slices from this copy, or the mirror is known not to work at all. */
  readonly mirrorWaited: boolean;
  /** The time is over in which the copy should be recreated, and it does not exist. */
  readonly copyWaited: boolean;
}

/** The objects from which readers on the host get the backends. */
export type BackendSource = "copies" | "mirror" | "made" | "others" | "none";

/** The result for each kind of object of the Service. */
export interface BackendsDecision {
  readonly source: BackendSource;
  /** Slices that the tenant's cluster has made from Pods are copied. Those of users always are. */
  readonly copiesDerived: boolean;
  /** Slices of the tenant's mirror are copied, because nothing else can show readers their backends. */
  readonly copiesMirrored?: boolean;
  /** Copies of slices of the tenant's mirror are left as they are, like the paused Endpoints from which these were made. */
  readonly keepsMirrored?: boolean;
  /** Copies of slices that are gone, or that are no source, may be deleted: readers see their replacement. */
  readonly releasesSlices: boolean;
  /** The copy of Endpoints that are gone may be deleted: readers see its replacement. */
  readonly releasesCopy: boolean;
  /** The copy of Endpoints disables the host's mirror. If there is no copy yet, the next one is created with the label that does this. */
  readonly skipsMirror: boolean;
  /** Slices are made from the copy and kept up to date. */
  readonly makes: boolean;
  /** Made slices are deleted. */
  readonly dropsMade: boolean;
  /** Slices that a mirror has left behind are deleted. */
  readonly dropsMirrored: boolean;
  /** The host's mirror may still be about to make slices from the copy. */
  readonly waitsForMirror: boolean;
}

/**
 * Decides from which objects readers get the backends of one Service.
 *
 * @example
 * decideBackends(seen).source; // "mirror"
 */
export function decideBackends(seen: BackendsSeen): BackendsDecision {
  return seen.taken ? keepStanding(seen, decideByPlace(seen)) : decideByPlace(seen);
}

/** Reports whether a slice of the tenant is copied, by the controller that writes it. */
export function isSource({ copiesDerived, copiesMirrored }: BackendsDecision, writer: string | undefined): boolean {
  return writer === undefined || (writer === MIRROR ? copiesMirrored === true : copiesDerived);
}

function decideByPlace(seen: BackendsSeen): BackendsDecision {
  if (seen.copy !== undefined && isLeftAlone(seen)) return leaveAlone(seen, seen.copy);
  if (fromSlices(seen)) return isMirroredBeside(seen) ? decideFromBoth(seen) : decideFromSlices(seen);
  if (seen.endpoints !== undefined && seen.endpoints.wanted) return decideFromEndpoints(seen);
  return withoutSource(seen);
}

/** Reports whether copies of slices exist beside a copy of Endpoints that is left as it is, for example because it is paused. */
function isLeftAlone(seen: BackendsSeen): boolean {
  return seen.endpoints?.wanted === false && (seen.derived.standing > 0 || keepsMirrored(seen));
}

function keepsMirrored(seen: BackendsSeen): boolean {
  return seen.endpoints?.paused === true && seen.mirrored.standing > 0 && sourceOfLeft(seen) === undefined;
}

/** Returns which slices show readers everything in a copy of Endpoints that is left as it is: the mirror's or those that were made. */
export function sourceOfLeft({
  copy,
  mirror,
  made,
  madeShown,
}: Pick<BackendsSeen, "copy" | "mirror" | "made" | "madeShown">): "mirror" | "made" | undefined {
  if (mirror === "equal" || copy?.filled === false) return "mirror";
  return made === "equal" && madeShown ? "made" : undefined;
}

/** Keeps everything that readers see. */
function leaveAlone(seen: BackendsSeen, { skipsMirror }: NonNullable<BackendsSeen["copy"]>): BackendsDecision {
  const complete = isCopied(seen);
  return {
    ...{ source: "copies", copiesDerived: true, releasesSlices: complete, releasesCopy: complete, skipsMirror },
    ...{ makes: skipsMirror && seen.made !== "none", dropsMade: false, dropsMirrored: false, waitsForMirror: false },
    keepsMirrored: keepsMirrored(seen),
  };
}

/** Reports whether the slices that the tenant's cluster has made from Pods are the source, and not the Endpoints beside them. */
function fromSlices({ endpoints, derived, patched, copy }: BackendsSeen): boolean {
  if (derived.count === 0) return false;
  if (endpoints === undefined) return true;
  // Paused Endpoints are left as they are, and so are the slices from which readers see them.
  if (!endpoints.wanted) return copy === undefined;
  if (endpoints.overCapacity) return true;
  if (!endpoints.filled) return derived.filled;
  // Endpoints and slices follow Pods one after the other: the source stays the same, or a family would be lost with every change.
  return !patched && (derived.copied > 0 || [...derived.families].some((family) => !endpoints.families.has(family)));
}

/** Reports whether the tenant's mirror treats the Endpoints as written by users: slices of Pods are from an earlier selector. */
function isMirroredBeside({ endpoints, mirrored }: BackendsSeen): boolean {
  return mirrored.count > 0 && endpoints?.wanted === true && endpoints.filled;
}

function decideFromBoth(seen: BackendsSeen): BackendsDecision {
  const decision = decideFromEndpoints(seen);
  return { ...decision, copiesDerived: true, releasesSlices: decision.releasesSlices && isCopied(seen) };
}

function decideFromSlices(seen: BackendsSeen): BackendsDecision {
  const complete = isCopied(seen);
  const skipsMirror = seen.copy !== undefined && (complete || seen.copy.skipsMirror);
  // Slices that were made from a copy that is gone are stale, even if a slice of the tenant never gets a copy.
  const isGone = seen.copy === undefined && seen.endpoints?.wanted !== true && seen.endpoints?.paused !== true;
  return {
    source: "copies",
    copiesDerived: true,
    releasesSlices: complete,
    releasesCopy: complete,
    skipsMirror,
    // Made slices that exist until then must not become stale.
    makes: !complete && seen.made !== "none",
    dropsMade: (complete || isGone) && seen.made !== "none",
    dropsMirrored: complete && seen.copy?.skipsMirror === true && seen.mirror !== "none",
    waitsForMirror: false,
  };
}

/**
 * Keeps what readers see while other Endpoints are in the place of the copy, because no replacement can appear. Slices of which there is a
 * copy go on being copied. Where there is none, none appears: the host's mirror may show the same backends from the other Endpoints.
 */
function keepStanding(seen: BackendsSeen, decision: BackendsDecision): BackendsDecision {
  const { endpoints, derived, mirrored, made, others } = seen;
  if (endpoints?.paused === true) return { ...decision, keepsMirrored: mirrored.standing > 0, dropsMade: false };
  if (endpoints?.wanted !== true) return decision;
  if (others === "equal") return { ...decision, source: "others", releasesSlices: true, dropsMade: made !== "none" };
  const [copiesDerived, copiesMirrored] = [decision.copiesDerived || derived.standing > 0, mirrored.standing > 0];
  if (!copiesDerived && !copiesMirrored) return decision;
  const complete =
    isCopied({ ...seen, ...(!copiesDerived && { derived: NONE }) }) && (!copiesMirrored || mirrored.copied >= mirrored.count);
  const dropsMade = decision.dropsMade || (copiesMirrored && complete && made !== "none");
  return { ...decision, source: "copies", copiesDerived, copiesMirrored, releasesSlices: complete, dropsMade };
}

const NONE: CountedSlices = { count: 0, copied: 0 };

function isCopied({ own, derived }: { readonly own: CountedSlices; readonly derived: CountedSlices }): boolean {
  return own.copied >= own.count && derived.copied >= derived.count;
}

const FROM_ENDPOINTS = { copiesDerived: false, releasesCopy: true, dropsMade: false, dropsMirrored: false, waitsForMirror: false } as const;

function decideFromEndpoints(seen: BackendsSeen): BackendsDecision {
  const { copy, mirror, made, own } = seen;
  // What the tenant's Endpoints have gained, slices may show until now, and the copy shows later.
  const released = own.copied >= own.count && copy?.behind !== true;
  // If we will make the slices anyway, the copy is created with the label.
  if (copy === undefined) {
    const skipsMirror = ((seen.served && seen.mirrorWaited) || made !== "none") && seen.others === "none";
    // Slices that were made from the earlier copy stay until there is another copy, for a limited time.
    const dropsMade = made !== "none" && seen.copyWaited;
    return { ...FROM_ENDPOINTS, source: "none", releasesSlices: false, skipsMirror, makes: false, dropsMade };
  }
  // A mirror that the copy disables is about to remove its slices.
  const byMirror = seen.others !== "equal" && mirror === "equal" && !copy.skipsMirror;
  if (isLeftToOthers(seen, copy))
    return {
      ...{ ...FROM_ENDPOINTS, source: byMirror ? "mirror" : "others", skipsMirror: copy.skipsMirror, makes: false },
      releasesSlices: released && (seen.others === "equal" || byMirror),
      dropsMade: made !== "none",
      dropsMirrored: seen.others === "equal" && copy.skipsMirror && mirror !== "none",
    };
  // A copy without addresses needs no slices, and slices that were made from it before are wrong.
  const seenByMirror = mirror === "equal" || (mirror === "none" && (!copy.filled || !seen.served));
  if (copy.skipsMirror || made !== "none" || (!seenByMirror && (copy.large || seen.mirrorWaited || seen.othersWaited))) {
    const equal = (made === "equal" && seen.madeShown) || (made === "none" && !copy.filled);
    return {
      ...FROM_ENDPOINTS,
      source: "made",
      releasesSlices: released && equal,
      skipsMirror: copy.skipsMirror || equal,
      makes: true,
      dropsMirrored: equal && copy.skipsMirror && mirror !== "none",
    };
  }
  return {
    ...FROM_ENDPOINTS,
    source: seenByMirror ? "mirror" : "none",
    releasesSlices: released && seenByMirror,
    skipsMirror: false,
    makes: false,
    waitsForMirror: !seenByMirror,
  };
}

/**
 * Reports whether the slices of another syncer are enough, so that none are made. Made slices are deleted once the other ones show the same
 * backends. Slices are made only if the other ones lack some for a while, and no mirror shows them.
 */
function isLeftToOthers({ others, othersWaited, made }: BackendsSeen, copy: NonNullable<BackendsSeen["copy"]>): boolean {
  if (others !== "behind") return others === "equal";
  return made === "none" && !(copy.filled && othersWaited);
}

/** Decides for a Service that has only users' slices, or nothing. Endpoints that are not copied are ignored. */
function withoutSource(seen: BackendsSeen): BackendsDecision {
  // Slices that were made from the same Pods add nothing to Endpoints that are left as they are.
  const copiesDerived = seen.endpoints === undefined;
  const complete = copiesDerived ? isCopied(seen) : seen.own.copied >= seen.own.count;
  return {
    source: seen.own.count > 0 ? "copies" : "none",
    copiesDerived,
    // The copy of Endpoints that are gone is deleted first, after a live read in the tenant: a list may have omitted them.
    releasesSlices: complete && !(copiesDerived && seen.copy?.filled === true),
    releasesCopy: complete,
    skipsMirror: seen.copy?.skipsMirror === true,
    // Readers still see a copy that is left as it is, for example because it is paused.
    makes: seen.copy?.skipsMirror === true,
    dropsMade: seen.copy === undefined && seen.made !== "none",
    dropsMirrored: false,
    waitsForMirror: false,
  };
}
