/**
 * Decides from which objects readers on the host get the backends of one Service, with `backends: auto`. The decision depends on the
 * observed state of both clusters, never on a version number, and keeps the existing objects as long as they are correct.
 *
 * @module
 */

/** What a cluster's own controller has made of Endpoints, or what we have: none at all, not what the Endpoints say, or exactly that. */
export type Completeness = "none" | "behind" | "equal";

/** Slices of the tenant of one kind, and how many of them have a copy on the host that is theirs. */
export interface CountedSlices {
  readonly count: number;
  readonly copied: number;
}

/** What both clusters show of the backends of one Service. */
export interface BackendsSeen {
  /** The tenant's Endpoints; undefined when there are none, or when they go. */
  readonly endpoints:
    | {
        readonly filled: boolean;
        readonly overCapacity: boolean;
        readonly families: ReadonlySet<string>;
        readonly wanted: boolean;
        readonly paused: boolean;
      }
    | undefined;
  /** The tenant's mirror has made slices of the Endpoints: its readers see them beside what was made of Pods. */
  readonly mirroredInTenant: boolean;
  /** Another setting has copied one of these, and the copy still stands. */
  readonly mirroredStands: boolean;
  /** The host has a Service of that name. Without one there are no readers, and a mirror makes no slices. */
  readonly served: boolean;
  /** Patches of Endpoints are configured: what they say is wanted on the host. */
  readonly patched: boolean;
  /** Slices that users and operators have written in the tenant. */
  readonly own: CountedSlices;
  /** Slices that the tenant's cluster has made of Pods. */
  readonly derived: CountedSlices & {
    readonly filled: boolean;
    readonly families: ReadonlySet<string>;
    /** How many have a copy, be it one of an earlier slice of the name. */
    readonly standing: number;
  };
  /** Our copy of Endpoints. `large`: a mirror would leave some of its addresses out. */
  readonly copy: { readonly skipsMirror: boolean; readonly filled: boolean; readonly large: boolean } | undefined;
  /** What the host's mirror has made of the copy. */
  readonly mirror: Completeness;
  /** What we have made of the copy, by what our writes were answered. */
  readonly made: Completeness;
  /** That all of it is there is shown by the host itself: an answer can be false. */
  readonly madeShown: boolean;
  /** What slices of another syncer beside the host Service say of the copy; "equal" when they show all that takes traffic. */
  readonly others: Completeness;
  /** They have had their time to show it. */
  readonly othersWaited: boolean;
  /** The host's mirror has had its time for this copy, or is known not to work at all. */
  readonly mirrorWaited: boolean;
  /** A copy that is to be made again had its time, and does not stand. */
  readonly copyWaited: boolean;
}

/** Who tells readers on the host. */
export type Teller = "copies" | "mirror" | "made" | "others" | "none";

/** What follows for each kind of object of the Service. */
export interface BackendsDecision {
  readonly teller: Teller;
  /** Slices that the tenant's cluster has made of Pods are copied. Those of its mirror never are, those of users always. */
  readonly copiesDerived: boolean;
  /** Copies of slices of the tenant's mirror are left as they are, like the paused Endpoints that these were made of. */
  readonly keepsMirrored?: boolean;
  /** Copies of slices that are gone, or that are no source, may go: what took their place is seen. */
  readonly releasesSlices: boolean;
  /** The copy of Endpoints that are gone may go: what took their place is seen. */
  readonly releasesCopy: boolean;
  /** The copy of Endpoints keeps the host's mirror away; where there is none yet, the one that is made next does from its first moment. */
  readonly skipsMirror: boolean;
  /** What is made of the copy is kept current. */
  readonly makes: boolean;
  /** What was made goes. */
  readonly dropsMade: boolean;
  /** What a mirror has left behind that does not work any more goes. */
  readonly dropsMirrored: boolean;
  /** The host's mirror may still be about to make slices of the copy. */
  readonly waitsForMirror: boolean;
}

/**
 * Decides from which objects readers get the backends of one Service.
 *
 * @example
 * decideBackends(seen).teller; // "mirror"
 */
export function decideBackends(seen: BackendsSeen): BackendsDecision {
  if (seen.copy !== undefined && isLeftAlone(seen)) return leaveAlone(seen, seen.copy);
  if (fromSlices(seen)) return isToldBeside(seen) ? tellByBoth(seen) : tellBySlices(seen);
  if (seen.endpoints !== undefined && seen.endpoints.wanted) return tellByEndpoints(seen);
  return withoutSource(seen);
}

/** Copies of slices beside a copy of Endpoints that is left as it is, paused for example: nothing need show what they do. */
function isLeftAlone(seen: BackendsSeen): boolean {
  return seen.endpoints?.wanted === false && (seen.derived.standing > 0 || keepsMirrored(seen));
}

function keepsMirrored(seen: BackendsSeen): boolean {
  return seen.endpoints?.paused === true && seen.mirroredStands && tellerOfLeft(seen) === undefined;
}

/** Returns which slices show readers everything in a copy of Endpoints that is left as it is: the mirror's or those that were made. */
export function tellerOfLeft({
  copy,
  mirror,
  made,
  madeShown,
}: Pick<BackendsSeen, "copy" | "mirror" | "made" | "madeShown">): "mirror" | "made" | undefined {
  if (mirror === "equal" || copy?.filled === false) return "mirror";
  return made === "equal" && madeShown ? "made" : undefined;
}

/** All that readers see stays. */
function leaveAlone(seen: BackendsSeen, { skipsMirror }: NonNullable<BackendsSeen["copy"]>): BackendsDecision {
  const complete = isCopied(seen);
  return {
    ...{ teller: "copies", copiesDerived: true, releasesSlices: complete, releasesCopy: complete, skipsMirror },
    ...{ makes: skipsMirror && seen.made !== "none", dropsMade: false, dropsMirrored: false, waitsForMirror: false },
    keepsMirrored: keepsMirrored(seen),
  };
}

/** Reports whether the slices that the tenant's cluster has made of Pods are the source, and not the Endpoints beside them. */
function fromSlices({ endpoints, derived, patched, copy }: BackendsSeen): boolean {
  if (derived.count === 0) return false;
  if (endpoints === undefined) return true;
  // Those that are paused are left as they are, and so is what readers see of them.
  if (!endpoints.wanted) return copy === undefined;
  if (endpoints.overCapacity) return true;
  if (!endpoints.filled) return derived.filled;
  // Endpoints follow Pods one by one with slices: what was the source stays it, or a family would be lost with every change.
  return !patched && (derived.copied > 0 || [...derived.families].some((family) => !endpoints.families.has(family)));
}

/** Endpoints that the tenant's mirror takes for written by hand, and slices of Pods that a Service without selector has kept. */
function isToldBeside({ endpoints, mirroredInTenant }: BackendsSeen): boolean {
  return mirroredInTenant && endpoints?.wanted === true && endpoints.filled;
}

function tellByBoth(seen: BackendsSeen): BackendsDecision {
  const decision = tellByEndpoints(seen);
  return { ...decision, copiesDerived: true, releasesSlices: decision.releasesSlices && isCopied(seen) };
}

function tellBySlices(seen: BackendsSeen): BackendsDecision {
  const complete = isCopied(seen);
  const skipsMirror = seen.copy !== undefined && (complete || seen.copy.skipsMirror);
  return {
    teller: "copies",
    copiesDerived: true,
    releasesSlices: complete,
    releasesCopy: complete,
    skipsMirror,
    // What stands until then must not go stale.
    makes: !complete && seen.made !== "none",
    dropsMade: complete && seen.made !== "none",
    dropsMirrored: complete && seen.copy?.skipsMirror === true && seen.mirror !== "none",
    waitsForMirror: false,
  };
}

function isCopied({ own, derived }: Pick<BackendsSeen, "own" | "derived">): boolean {
  return own.copied >= own.count && derived.copied >= derived.count;
}

const FROM_ENDPOINTS = { copiesDerived: false, releasesCopy: true, dropsMade: false, dropsMirrored: false, waitsForMirror: false } as const;

function tellByEndpoints(seen: BackendsSeen): BackendsDecision {
  const { copy, mirror, made, own } = seen;
  const released = own.copied >= own.count;
  // A copy whose slices we shall make anyway is born with the label.
  if (copy === undefined) {
    const skipsMirror = ((seen.served && seen.mirrorWaited) || made !== "none") && seen.others === "none";
    // What was made of the copy before is told on until there is another one.
    const dropsMade = made !== "none" && seen.copyWaited;
    return { ...FROM_ENDPOINTS, teller: "none", releasesSlices: false, skipsMirror, makes: false, dropsMade };
  }
  if (isLeftToOthers(seen, copy))
    return {
      ...{ ...FROM_ENDPOINTS, teller: "others", releasesSlices: released, skipsMirror: copy.skipsMirror, makes: false },
      dropsMade: made !== "none",
      dropsMirrored: seen.others === "equal" && copy.skipsMirror && mirror !== "none",
    };
  // Of a copy without addresses there is nothing to make, and what was made of it before is wrong.
  const seenByMirror = mirror === "equal" || (mirror === "none" && (!copy.filled || !seen.served));
  if (copy.skipsMirror || made !== "none" || (!seenByMirror && (copy.large || seen.mirrorWaited))) {
    const equal = (made === "equal" && seen.madeShown) || (made === "none" && !copy.filled);
    return {
      ...FROM_ENDPOINTS,
      teller: "made",
      releasesSlices: released && equal,
      skipsMirror: copy.skipsMirror || equal,
      makes: true,
      dropsMirrored: equal && copy.skipsMirror && mirror !== "none",
    };
  }
  return {
    ...FROM_ENDPOINTS,
    teller: seenByMirror ? "mirror" : "none",
    releasesSlices: released && seenByMirror,
    skipsMirror: false,
    makes: false,
    waitsForMirror: !seenByMirror,
  };
}

/** Beside slices of another syncer none are made. What stands goes once theirs show the same, and comes back only where they do not for a while. */
function isLeftToOthers({ others, othersWaited, made }: BackendsSeen, copy: NonNullable<BackendsSeen["copy"]>): boolean {
  if (others !== "behind") return others === "equal";
  return made === "none" && !(copy.skipsMirror && copy.filled && othersWaited);
}

/** Users' slices alone, or nothing; Endpoints that are not copied have no say. */
function withoutSource(seen: BackendsSeen): BackendsDecision {
  // Beside Endpoints that are left as they are, what was made of the same Pods says nothing more.
  const copiesDerived = seen.endpoints === undefined;
  const complete = copiesDerived ? isCopied(seen) : seen.own.copied >= seen.own.count;
  return {
    teller: seen.own.count > 0 ? "copies" : "none",
    copiesDerived,
    // A copy of Endpoints that are gone goes first, for which the tenant is asked once more: they may only be missing in a list.
    releasesSlices: complete && !(copiesDerived && seen.copy?.filled === true),
    releasesCopy: complete,
    skipsMirror: seen.copy?.skipsMirror === true,
    // A copy that is left as it is, paused for example, goes on being seen.
    makes: seen.copy?.skipsMirror === true,
    dropsMade: seen.copy === undefined && seen.made !== "none",
    dropsMirrored: false,
    waitsForMirror: false,
  };
}
