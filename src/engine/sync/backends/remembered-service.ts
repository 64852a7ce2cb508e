import type { Logger } from "../../../base/logger.ts";
import { formatKey, keyOf, sameKey, type ObjectKey } from "../../../kube/object/key.ts";
import type { EndpointSlice, KubeObject } from "../../../kube/object/types.ts";
import { SKIP_MIRROR } from "../../kinds/slice-labels.ts";
import { isCopyOf } from "../../reconcile/copy/ownership.ts";
import type { Response } from "../../reconcile/machine.ts";
import type { Note, Operation } from "../../reconcile/plan-types.ts";
import type { Rules } from "../../reconcile/rules/rules.ts";
import type { CollectedBackends } from "./collect-backends.ts";
import type { BackendsDecision } from "./decide-backends.ts";
import { isAsMade, planMadeSlices, type MadeWrites } from "./plan-made-slices.ts";
import { EVENT_SILENCE_MS } from "../report/events.ts";
import { standInsForMade } from "./stand-ins.ts";

/** State of one Service that is remembered from one decision to the next. Times are monotonic, in milliseconds. */
export interface RememberedService {
  /** True if there was a copy of Endpoints at the last decision. */
  hasCopy: boolean;
  /** True if there were made slices at the last decision. */
  hasMade: boolean;
  /** Version of the state on which the decision is based. */
  version: string;
  decision: BackendsDecision;
  /** Time of the decision. */
  lookedAt: number;
  /** Time when everything that readers should see was last written, or the first decision was made. */
  doneAt: number;
  /** Version of the state that was written then. */
  doneVersion: string;
  /** Time since which the host's mirror should make slices. */
  mirrorBehindSince: number | undefined;
  /** Time since which a copy waits for its deletion. */
  heldSince: number | undefined;
  /** Time since which the copy from which slices were made is missing. */
  copylessSince: number | undefined;
  /** Time since which another syncer's slices show less than the copy, and neither a mirror nor this syncer shows the rest. */
  othersBehindSince: number | undefined;
  /** Time since which slices of the host's mirror are outdated, or left beside those that replace them. */
  mirrorOwesSince: number | undefined;
  /** Keys of slices that this process has made, or that had been made before its first decision, by id. An index may not show them yet. */
  readonly made: Map<string, ObjectKey>;
  /** Ids of objects whose copy waits for its deletion. */
  readonly held: Set<string>;
  /** Per id of a slice whose copy waits for another copy to show the endpoints that it loses: the time since which it waits, and its source version. */
  readonly moving: Map<string, { readonly since: number; readonly version: string | undefined }>;
  /** The made slices when all of them last matched the copy, and the version of the copy. */
  right: { readonly version: string; readonly slices: ReadonlyMap<string, EndpointSlice> } | undefined;
  /** Time when an edit of a made slice was last seen. */
  editedAt: number | undefined;
  outdatedTimes: number;
  /** How often another writer undid what this process did to made slices, or the reverse, since the caches were last listed for that. */
  undone: number;
  /** The last logged refusal of a slice by the host. */
  refusal: string | undefined;
}

/** Returns the state of a Service of which nothing is remembered, and which has these made slices. */
export function newService(
  version: string,
  decision: BackendsDecision,
  { now, made }: { readonly now: number; readonly made: readonly EndpointSlice[] },
): RememberedService {
  return {
    hasCopy: false,
    hasMade: false,
    version,
    decision,
    lookedAt: now,
    doneAt: now,
    doneVersion: version,
    mirrorBehindSince: undefined,
    heldSince: undefined,
    copylessSince: undefined,
    othersBehindSince: undefined,
    mirrorOwesSince: undefined,
    made: new Map(made.map((slice) => [formatKey(keyOf(slice)), keyOf(slice)])),
    held: new Set(),
    moving: new Map(),
    right: undefined,
    editedAt: undefined,
    outdatedTimes: 0,
    undone: 0,
    refusal: undefined,
  };
}

/**
 * Reports whether a replacement of the current state has had `ms` milliseconds to appear. Only the time until it was last written completely
 * counts, because a process that was suspended, or whose writes failed, has not made it.
 */
export function wasOver({ doneAt, doneVersion, version }: RememberedService, since: number | undefined, ms: number): boolean {
  return since !== undefined && doneVersion === version && doneAt - since >= ms;
}

/**
 * Records that the copy of a slice waits for another copy. Returns whether the wait begins now: endpoints that are moved after the copy was
 * written have a wait of their own. `version` is that of the slice that the copy was written from.
 */
export function beginsMove(
  { moving }: RememberedService,
  id: string,
  { version, now }: { readonly version: string | undefined; readonly now: number },
): boolean {
  const before = moving.get(id);
  if (before !== undefined && before.version === version) return false;
  moving.set(id, { since: now, version });
  return true;
}

/** Reports whether nothing of the Service waits. */
function isAtRest(known: RememberedService): boolean {
  const { mirrorBehindSince, heldSince, copylessSince, othersBehindSince, mirrorOwesSince, moving } = known;
  return (mirrorBehindSince ?? heldSince ?? copylessSince ?? othersBehindSince ?? mirrorOwesSince) === undefined && moving.size === 0;
}

/**
 * Reports whether changes of the tenant's Endpoints can be ignored until their copy has them: no slices of Pods could replace the copy,
 * everything that readers see matches the copy, and nothing waits.
 */
export function followsCopy(known: RememberedService, { seen, copy }: CollectedBackends): boolean {
  const { source, dropsMade, dropsMirrored } = known.decision;
  if (copy === undefined || seen.endpoints?.wanted !== true || (source !== "mirror" && source !== "made")) return false;
  if (seen.derived.count > 0 || seen.own.copied < seen.own.count || seen.made === "behind" || seen.mirror === "behind") return false;
  return !dropsMade && !dropsMirrored && isAtRest(known) && known.held.size === 0;
}

/** Waits of a Service besides those that are remembered. */
export interface OtherWaits {
  /** True if everything that readers should see has been written. Until then, nothing waits for readers to see it. */
  readonly isDone: boolean;
  /** Time until a write that is held back, in milliseconds. Default 0: none is. */
  readonly writeMs?: number;
  /** Time until the next look at slices without patches, in milliseconds. */
  readonly lookMs?: number | undefined;
}

/** Returns the milliseconds until the next wait ends, without waits that had ended at the last decision; undefined if nothing waits. */
export function nextWaitMs(
  known: RememberedService,
  now: number,
  { mirrorMs, releaseMs, isDone, writeMs = 0, lookMs }: Readonly<Record<"mirrorMs" | "releaseMs", number>> & OtherWaits,
): number | undefined {
  if (writeMs <= 0 && lookMs === undefined && isAtRest(known)) return undefined;
  const until = (at: number, since: number | undefined, ms: number) => (since === undefined || at - since >= ms ? [] : [since + ms - now]);
  const waits = [
    ...(writeMs > 0 ? [writeMs] : []),
    ...(lookMs === undefined ? [] : [lookMs]),
    ...(known.mirrorBehindSince === undefined ? [] : [known.mirrorBehindSince + mirrorMs - now]),
    ...(isDone ? until(known.doneAt, known.heldSince, releaseMs) : []),
    ...[known.copylessSince, ...Array.from(known.moving.values(), ({ since }) => since)].flatMap((since) =>
      until(known.lookedAt, since, releaseMs),
    ),
    ...[known.othersBehindSince, known.mirrorOwesSince].flatMap((since) => until(known.lookedAt, since, mirrorMs)),
  ];
  return waits.length === 0 ? undefined : Math.max(1, Math.min(...waits));
}

/** Records the result of a decision and, if all made slices match the copy, these slices. */
export function noteLook(
  known: RememberedService,
  { copy, made, seen }: CollectedBackends,
  found: Pick<RememberedService, "decision" | "version" | "lookedAt" | "copylessSince" | "othersBehindSince">,
): void {
  known.decision = found.decision;
  known.version = found.version;
  known.lookedAt = found.lookedAt;
  known.copylessSince = found.copylessSince;
  known.othersBehindSince = found.othersBehindSince;
  known.hasCopy = copy !== undefined;
  known.hasMade = made.length > 0;
  const version = copy?.metadata.resourceVersion;
  if (version === undefined || seen.made !== "equal" || known.right?.version === version) return;
  known.right = { version, slices: new Map(made.map((slice) => [formatKey(keyOf(slice)), slice])) };
}

/** Returns the slices in an index, together with newly made ones that may be missing there. */
export function withUnseen(shown: readonly ObjectKey[], made: ReadonlyMap<string, ObjectKey>): readonly ObjectKey[] {
  if (made.size === 0) return shown;
  return [...new Map([...shown.map((key) => [formatKey(key), key] as const), ...made]).values()];
}

/**
 * Returns the keys of the made slices whose changes by other writers these operations undo. Empty unless the copy still has the version
 * that the slices matched, because a replica that led in the meantime may have written slices for another version.
 */
export function undoneEdits(
  rules: Rules,
  { right }: RememberedService,
  { copy, made }: CollectedBackends,
  operations: readonly Operation[],
): readonly ObjectKey[] {
  if (right === undefined || right.version !== copy?.metadata.resourceVersion) return [];
  const there = new Map(made.map((slice) => [formatKey(keyOf(slice)), slice]));
  return operations.flatMap((operation) => {
    if (operation.action === "delete") return [];
    const key = keyOf(operation.object);
    const [was, is] = [right.slices.get(formatKey(key)), there.get(formatKey(key))];
    return was !== undefined && (is === undefined || !isAsMade(rules, is, was)) ? [key] : [];
  });
}

/** Returns the notes on edits of made slices that are undone at `now`. Repeated edits are noted once, until there has been none for a while. */
export function newsOfEdits(known: RememberedService, edits: readonly ObjectKey[], now: number): readonly Note[] {
  if (edits.length === 0) return [];
  const isNews = known.editedAt === undefined || now - known.editedAt >= EVENT_SILENCE_MS;
  known.editedAt = now;
  return isNews ? [editNote(edits)] : [];
}

/** Returns a note on undone edits of made slices, with a remedy. It names no object on the host, because tenants read it. */
function editNote(keys: readonly ObjectKey[]): Note {
  const what = keys.length > 1 ? `Edits of ${keys.length} slices on the host were` : "An edit of a slice on the host was";
  const message = `${what} undone: the syncer makes slices of this Service from the copy of its Endpoints. Change the Endpoints in the tenant cluster`;
  return { code: "SLICE_EDIT_UNDONE", message };
}

/** Logs a refusal by the host once, regardless of the number of attempts, so that users learn why readers see too few backends. */
export function logRefusal(
  logger: Logger,
  known: RememberedService,
  about: { readonly slice: string; readonly code?: string; readonly message?: string },
): void {
  const refusal = `${about.slice} ${about.message ?? ""}`;
  if (known.refusal === refusal) return;
  known.refusal = refusal;
  logger.warn("The host refuses a slice that is made from a copy of Endpoints", about);
}

/** Reports whether slices were made from a copy that is gone and will be recreated, because its place is free. */
export function lacksCopy({ copy, isTaken, seen: { endpoints, made } }: CollectedBackends): boolean {
  return copy === undefined && !isTaken && endpoints?.wanted === true && made !== "none";
}

/** Reports whether readers would get backends from a copy of Endpoints that is not written yet, or not as the Endpoints are now, and can be. */
function awaitsCopy({ decision }: RememberedService, { isTaken, seen: { endpoints, served, copy } }: CollectedBackends): boolean {
  if (isTaken || endpoints?.wanted !== true || !served) return false;
  return copy === undefined ? decision.source === "none" : copy.behind && decision.source !== "copies";
}

/** Reports whether the copy of Endpoints and the slices made from it are as they should be, as far as the syncer itself allows that. */
export function isAllWritten(known: RememberedService, collected: CollectedBackends, isRejected: boolean): boolean {
  // The answer to a write can be false: only the cache shows that the host has a made slice.
  const awaitsCache = known.decision.makes && collected.seen.made === "equal" && !collected.seen.madeShown;
  return (isRejected || !awaitsCopy(known, collected)) && !awaitsEdit(known, collected) && !awaitsCache;
}

/** Reports whether made slices wait for an edit of the copy to end that the tenant does not have: they do not follow it. */
function awaitsEdit({ decision }: RememberedService, { seen, isEdited }: CollectedBackends): boolean {
  return decision.makes && seen.made === "behind" && isEdited();
}

/** Reports whether another syncer's slices show fewer backends than the copy, and neither a mirror nor this syncer shows the rest. */
export function lacksOthers({ copy, seen: { others, made, mirror, served } }: CollectedBackends): boolean {
  const isMirrored = mirror === "equal" && copy?.metadata.labels?.[SKIP_MIRROR] !== "true";
  return others === "behind" && made === "none" && copy !== undefined && served && !isMirrored;
}

/**
 * Reports whether a copy must have the label that disables the host's mirror. If the decision requires the label, a new copy is created
 * with it, and an existing copy gets it once its slices exist. The label is never removed.
 */
function skipsMirror({ decision, hasCopy }: RememberedService, host: KubeObject | undefined): boolean {
  if (host === undefined) return decision.skipsMirror;
  return host.metadata.labels?.[SKIP_MIRROR] === "true" || (hasCopy && decision.skipsMirror);
}

/** Returns the value of that label on a copy. While made slices exist, the label stays to show the next process that some may be left. */
export function skipMirrorLabel(known: RememberedService, host: KubeObject | undefined): "true" | "false" | undefined {
  if (skipsMirror(known, host)) return "true";
  return known.hasMade && host?.metadata.labels?.[SKIP_MIRROR] === "false" ? "false" : undefined;
}

/** Reports whether a copy of Endpoints is about to get the label that disables the host's mirror. */
export function sendsMirrorAway(known: RememberedService, host: KubeObject): boolean {
  return host.kind === "Endpoints" && host.metadata.labels?.[SKIP_MIRROR] !== "true" && skipsMirror(known, host);
}

/** Reports whether the copy is in the state that the plan assumed: unchanged, or absent. */
export function isSameCopy(copy: KubeObject | undefined, found: KubeObject | undefined, rules: Rules, service: ObjectKey): boolean {
  const now = found !== undefined && isCopyOf(rules, found, service) ? found : undefined;
  if (copy === undefined || now === undefined) return copy === now;
  return sameKey(keyOf(copy), keyOf(now)) && copy.metadata.resourceVersion === now.metadata.resourceVersion;
}

/** Reports whether a write made a slice again that was deleted, or deleted one that this process has not made (`isOurs`). */
export function isUndoing({ action }: Operation, { type }: Response, isOurs: boolean): boolean {
  return (action === "create" && type === "object" && isOurs) || (type === "absent" && !isOurs);
}

/** Plans the writes of made slices for a decision. `mirrorMs` is the time for which slices of the host's mirror are left to the mirror. */
export function planWrites(
  known: RememberedService,
  collected: CollectedBackends,
  { rules, now, mirrorMs }: { readonly rules: Rules; readonly now: number; readonly mirrorMs: number },
): MadeWrites {
  const { decision } = known;
  const { copy, made, mirrored, hostKey, isTaken } = collected;
  const owes = decision.dropsMirrored || (copy !== undefined && collected.seen.mirror === "behind");
  known.mirrorOwesSince = owes ? (known.mirrorOwesSince ?? now) : undefined;
  const makes = decision.makes && copy !== undefined && !awaitsEdit(known, collected);
  return planMadeSlices({
    rules,
    made,
    desired: makes ? collected.desired() : decision.dropsMade ? [] : isTaken ? collected.lasting() : made,
    shown: !makes || collected.seen.madeShown,
    left: decision.dropsMirrored && now - known.mirrorOwesSince! >= mirrorMs ? mirrored : [],
    confirms: hostKey && { key: hostKey, copy },
    standIns: () => standInsForMade(collected, decision.source),
    madeBefore: known.made,
  });
}
