/**
 * Plans the operations for one tenant object, based only on the current state of both sides. Pure: it reads nothing else and writes
 * nothing; operations are data.
 *
 * @module
 */
import { finish } from "../../base/finish.ts";
import { compareResourceVersions } from "../../kube/object/resource-version.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { writeMarkers, type CopySource } from "../translate/markers.ts";
import { decideCopy } from "./predicate/should-copy.ts";
import { strippedCopy, copyOf, rebuiltCopy, copySourceOf, rejection, reported } from "./copy/host-copy.ts";
import {
  bodyIsAsWritten,
  isCopyOf,
  markersOfCopy,
  withMarkerLabels,
  isRewritten,
  mayAdopt,
  mayTakeOver,
  withoutForeignMarks,
} from "./copy/ownership.ts";
import {
  deletion,
  recreation,
  type MakePlan,
  type Confirm,
  type Note,
  type Operation,
  type Plan,
  type PlanInput,
  type CopyInput,
} from "./plan-types.ts";
import type { Rules } from "./rules/rules.ts";
import { formatKey } from "../../kube/object/key.ts";
import { ourMarkers } from "../translate/identity.ts";
import { agreedBase, readBase, comparedFields, type ComparedField } from "./agreement/base.ts";
import { withoutKeys } from "./rules/excluded-keys.ts";
import { toHostInPieces } from "./convert/to-host.ts";
import { isMappedElsewhere } from "./predicate/mapped-elsewhere.ts";
import { planDifference, roomNotes, fieldsWithoutRoom, omitFields, type FieldsWithoutRoom } from "./copy/plan-difference.ts";

/** Decides what to do about one key: {@link plan}, or a replacement for it. */
export type Planner = (rules: Rules, input: PlanInput) => Plan;

/**
 * Decides what to do for one key: which objects to create, update or delete on either cluster, in which order, and why.
 *
 * Input: the rules of the kind, and the state that the caller has read: the tenant object, the object at its host key (of any owner),
 * copies at other host keys, and the Services and slices beside them. Output: the operations as data, the state for status records, notes
 * for users, and one outcome per patch.
 *
 * Guarantees:
 * - Pure: the same input gives the same plan. Nothing is read, written or changed, not even the input.
 * - Level-triggered: the plan does not depend on events or earlier plans. After all operations are applied, a new plan has none.
 * - On the host, only copies of this tenant object are updated or deleted. Another object at the host key is left alone, with a note.
 * - An update or a delete applies only to the version that was read. A delete names the live read that must confirm it (`confirm`).
 * - Host edits that are synced back are written to the tenant before the host is written.
 *
 * If `restsOnSource`, `restsOnCopy` or `restsOnServices` is set, the caller must read that object live and plan again before any write. An
 * expression that fails is an outcome and a note, never an exception.
 *
 * @throws INTERNAL for a broken invariant only.
 * @example
 * const engine = await createEngine({ config: parseConfig("").config, vcluster: { name: "blue", namespace: "vc-blue" } });
 * const rules = engine.rules.find(({ kind }) => kind.resource.kind === "Endpoints");
 * const key = { namespace: "shop", name: "web" };
 * const tenant = { apiVersion: "v1", kind: "Endpoints", metadata: { ...key, uid: "1", resourceVersion: "7" } };
 * const { state, hostKey } = plan(rules, { key, tenant, host: undefined });
 * state; // "copied"
 * hostKey; // { namespace: "vc-blue", name: "web-x-shop-x-blue" }
 * engine.dispose();
 */
export function plan(rules: Rules, input: PlanInput): Plan {
  return finish(planInPieces(rules, input));
}

/** Like {@link plan}, but pauses after each value that a patch changes, so that other work can run. */
export function* planInPieces(rules: Rules, input: PlanInput): Generator<undefined, Plan> {
  const { orphans = [], tenant, deletesHeld } = input;
  let planned = yield* planAtHostKey(rules, input);
  if (orphans.length > 0 && rules.enabled && replacesOrphans(planned)) {
    const gone = orphans.filter(({ metadata }) => !metadata.deletionTimestamp);
    const confirm = tenant === undefined ? "absent" : "none";
    const deletions = gone.map((orphan) => deletion(orphan, "The tenant object now translates to another name on the host", confirm));
    planned = { ...planned, operations: [...planned.operations, ...deletions] };
  }
  if (tenant !== undefined || deletesHeld !== true || planned.operations.length === 0) return planned;
  return { ...planned, state: "waiting", operations: [], notes: [BRAKE] };
}

const BRAKE: Note = { code: "DELETE_BRAKE", message: "The tenant object is missing together with many others; its copy is kept" };

/**
 * Reports whether orphans may be deleted: the new copy exists by then, or there will be none, as with a selector in the host Service. A
 * copy that is deleted to be recreated does not exist by then.
 */
function replacesOrphans({ state, operations, notes }: Plan): boolean {
  if (state === "copied" && operations.some(({ action, side }) => action === "delete" || side === "tenant")) return false;
  return state === "copied" || state === "absent" || notes.some(({ code }) => code === "HOST_SERVICE_SELECTOR");
}

function* planAtHostKey(rules: Rules, input: PlanInput): Generator<undefined, Plan> {
  const { tenant, hostKey = rules.translator.toHost(input.key, rules.kind.resource) } = input;
  const answer: MakePlan = (state, parts = {}) => ({ state, hostKey, operations: [], notes: [], outcomes: [], references: [], ...parts });
  if (tenant === undefined) return planAbsent(rules, input, answer);

  const decision = decideCopy(rules, input.key, tenant, input);
  const rewrites = decision.action === "copy" || decision.action === "remove";
  if (rewrites && isStale(rules, { ...input, tenant })) return answer("stale");
  // Readers must see elsewhere first the endpoints that the copy would lose, and a new copy is created with its final labels.
  if (decision.action === "copy" && (input.backends?.awaitsMove === true || input.slices?.waitMs !== undefined)) return answer("waiting");
  if (decision.action === "copy" && hostKey !== undefined) return yield* planCopy(rules, { ...input, tenant, hostKey }, answer);
  if (decision.action === "copy") return answer("left");
  const notes = [{ code: decision.code, message: decision.message }];
  const rests = decision.action !== "leave" && decision.restsOnServices && { restsOnServices: decision.restsOnServices };
  const waiting = decision.code === "HOST_SERVICE_MISSING";
  switch (decision.action) {
    case "leave":
      return answer(waiting ? "waiting" : "left", { notes });
    case "remove":
      return { ...planRemoval(rules, input, answer, decision.message, "unchanged"), notes, ...rests };
    case "hand-over":
      return { ...planHandOver(rules, input, answer), notes, ...rests };
  }
}

function planAbsent(rules: Rules, input: PlanInput, answer: MakePlan): Plan {
  if (!rules.enabled) return answer("left");
  const planned = planRemoval(rules, input, answer, "The tenant object is gone", "absent");
  // Readers must see the replacement first.
  return planned.operations.length > 0 && input.backends?.mayGo === false ? answer("waiting") : planned;
}

function planRemoval(rules: Rules, { host, key }: PlanInput, answer: MakePlan, reason: string, confirm: Confirm): Plan {
  if (host === undefined || !isCopyOf(rules, host, key) || host.metadata.deletionTimestamp) return answer("absent");
  return answer("absent", { operations: [deletion(host, reason, confirm)] });
}

/** Deletes the copy if it is as the engine wrote it; keeps it without markers if the host's controller has changed it. */
function planHandOver(rules: Rules, { host, key, tenant }: PlanInput, answer: MakePlan): Plan {
  if (host === undefined || host.metadata.deletionTimestamp) return answer("left");
  if (!isCopyOf(rules, withMarkerLabels(rules, host, key), key)) return answer("left");
  const asWritten = isCopyOf(rules, host, key) && bodyIsAsWritten(rules, host, tenant!);
  const operation: Operation = asWritten
    ? deletion(host, "The host Service now has a selector", "none")
    : { action: "update", side: "host", object: strippedCopy(rules, host), reason: "The host Service now has a selector" };
  return answer("left", { operations: [operation] });
}

/**
 * The fence: a cache that lags behind the copied version must neither undo it nor remove the copy. Versions of one kind are comparable
 * across objects, so the fence also works for a tenant object that was recreated. A copy whose labels the host's controller has replaced
 * still records the copied version.
 */
function isStale(rules: Rules, { host, key, tenant, sourceConfirmed }: PlanInput & { readonly tenant: KubeObject }): boolean {
  if (host === undefined || sourceConfirmed || host.metadata.deletionTimestamp) return false;
  const copied = (markersOfCopy(rules, host, key) ?? markersOfCopy(rules, withMarkerLabels(rules, host, key), key))?.resourceVersion;
  const cached = tenant.metadata.resourceVersion;
  return copied !== undefined && cached !== undefined && compareResourceVersions(cached, copied) < 0;
}

/** Plans the copy of one object, whatever object is at its host key now. */
function* planCopy(rules: Rules, input: CopyInput, answer: MakePlan): Generator<undefined, Plan> {
  const { host, key } = input;
  if (host === undefined) return yield* planCreate(rules, input, answer);
  const markers = markersOfCopy(rules, host, key);
  if (markers !== undefined) return yield* planUpdate(rules, { ...input, host }, markers, answer);
  const other = ourMarkers(rules, host, rules.kind.resource);
  if (other !== undefined && isMappedElsewhere(rules.translator, rules.kind.resource, other, input.hostKey))
    return yield* planReplacement(rules, { ...input, host }, answer);
  if (other !== undefined) {
    const message = `"${formatKey(key)}" and "${formatKey(other)}" have the same name on the host`;
    return answer("refused", { notes: [{ code: "NAME_COLLISION", message }] });
  }
  if (mayAdopt(rules, host, input.tenant)) return yield* planAdoption(rules, { ...input, host }, answer);
  if (mayTakeOver(rules, input, host))
    return host.metadata.deletionTimestamp ? answer("waiting") : yield* planTakeOver(rules, { ...input, host }, answer);
  return answer("refused", {
    notes: [{ code: "HOST_OBJECT_FOREIGN", message: `An object that the syncer does not manage has the host name of "${formatKey(key)}"` }],
  });
}

function* planCreate(rules: Rules, input: CopyInput, answer: MakePlan): Generator<undefined, Plan> {
  const wanted = yield* toHostInPieces(rules, input);
  const parts = reported(wanted);
  if (wanted.rejected !== undefined) return answer("refused", { ...parts, notes: rejection(wanted) });
  const { copy, notes } = newCopy(rules, input, wanted.object);
  const operations = [{ action: "create", side: "host", object: copy, reason: "The tenant object has no copy" }] as const;
  // A client that deleted the copy may know that its source is gone. A stale cache would bring the copy back forever.
  const rests = { restsOnSource: input.vanished === true, restsOnServices: servicesBeside(rules, input) };
  return answer("copied", { ...parts, notes: [...parts.notes, ...notes], operations, ...rests });
}

/** Returns a new copy, which takes nothing from an earlier one, without the parts for which there is no room. */
function newCopy(rules: Rules, input: CopyInput, desired: KubeObject): { copy: KubeObject; notes: readonly Note[] } {
  const { object, fields, left } = fittedToNewCopy(rules, input, desired);
  const base = agreedBase(fields.filter(({ id }) => !left.has(id)));
  return { copy: copyOf({ rules, desired: object, source: copySourceOf(rules, input), base, owner: input.owner }), notes: roomNotes(left) };
}

/** Returns the desired object without the parts for which a new copy has no room (`left`), and all parts. */
export function fittedToNewCopy(
  rules: Rules,
  input: CopyInput,
  desired: KubeObject,
): { readonly object: KubeObject; readonly fields: readonly ComparedField[]; readonly left: FieldsWithoutRoom } {
  const fields = comparedFields(rules, input.tenant, desired, desired);
  const excluded = (key: string) => rules.settings.excluded(key);
  const kept = withoutKeys(input.host?.metadata.annotations ?? {}, (key) => !excluded(key));
  const others = () => ({ ...kept, ...writeMarkers(rules.translator.markerPrefix, copySourceOf(rules, input)).annotations });
  const left = fieldsWithoutRoom(rules, { fields, edits: [], standing: kept, others, stays: () => false });
  return { object: omitFields(desired, left), fields, left };
}

/**
 * Returns the clusters whose Service is read live before a copy is created. If another syncer deletes its Service, the Endpoints must not
 * return for a moment. If a list lacks a Service of another owner, the copy would give it backends. If a writer with newer knowledge of the
 * Services deletes the copy, the copy would return for as long as the cache is wrong.
 */
function servicesBeside({ services, kind, settings }: Rules, { hostService, vanished }: CopyInput): Plan["restsOnServices"] & {} {
  if (!kind.besideService) return [];
  const host = services === "external" || hostService === undefined || vanished === true;
  return [...(host ? (["host"] as const) : []), ...(vanished === true && settings.requireService ? (["tenant"] as const) : [])];
}

function* planTakeOver(rules: Rules, input: CopyInput & { host: KubeObject }, answer: MakePlan): Generator<undefined, Plan> {
  const reason = "Endpoints left over for a host Service without a selector are taken over";
  const planned = yield* planRebuild(rules, input, answer, reason);
  const taken = planned.operations.length > 0 ? [{ code: "TAKEN_OVER", message: reason } as const] : [];
  return { ...planned, notes: [...planned.notes, ...taken], restsOnServices: ["host", "tenant"] };
}

/**
 * Replaces the copy of an object that is now mapped elsewhere, in one write. Waiting for its deletion would never end if two objects have
 * exchanged places: each would wait for the other.
 */
function* planReplacement(rules: Rules, input: CopyInput & { host: KubeObject }, answer: MakePlan): Generator<undefined, Plan> {
  if (input.host.metadata.deletionTimestamp) return answer("waiting");
  const planned = yield* planRebuild(
    rules,
    input,
    answer,
    "The host object is the copy of another tenant object, which no longer has this name on the host",
  );
  return { ...planned, restsOnSource: true };
}

/** Adopts the copy of another syncer. The tenant's state wins without a note on conflicts, because the other syncer's base is unknown. */
function* planAdoption(rules: Rules, input: CopyInput & { host: KubeObject }, answer: MakePlan): Generator<undefined, Plan> {
  if (input.host.metadata.deletionTimestamp) return answer("waiting");
  const reason = `The copy of another syncer (${rules.adopt}) is adopted`;
  const planned = yield* planRebuild(rules, { ...input, host: withoutForeignMarks(rules, input.host) }, answer, reason);
  const adopted = planned.operations.length > 0 ? [{ code: "ADOPTED", message: reason } as const] : [];
  return { ...planned, notes: [...planned.notes, ...adopted] };
}

function* planUpdate(
  rules: Rules,
  input: CopyInput & { host: KubeObject },
  markers: CopySource,
  answer: MakePlan,
): Generator<undefined, Plan> {
  const { host, tenant } = input;
  if (host.metadata.deletionTimestamp) return answer("waiting");
  if (markers.uid !== (tenant.metadata.uid ?? "")) return yield* planRebuild(rules, input, answer, "The tenant object was recreated");
  if (isRewritten(rules, host)) return yield* planTakeOver(rules, input, answer);
  const base = readBase(rules.translator.markerPrefix, host);
  if (base === undefined) return yield* planRebuild(rules, input, answer, "The copy has no readable base");
  return yield* planDifference(rules, input, base, answer);
}

/** Writes everything that is synced again; no synced content of the earlier copy stays. */
function* planRebuild(rules: Rules, input: CopyInput & { host: KubeObject }, answer: MakePlan, reason: string): Generator<undefined, Plan> {
  const wanted = yield* toHostInPieces(rules, input);
  const parts = reported(wanted);
  if (wanted.rejected !== undefined) return answer("refused", { ...parts, notes: rejection(wanted) });
  if (rules.kind.mustRecreate(input.host, wanted.object)) return answer("copied", { ...parts, operations: [recreation(input.host)] });
  const { copy, notes } = newCopy(rules, input, wanted.object);
  return answer("copied", {
    ...parts,
    notes: [...parts.notes, ...notes],
    operations: [{ action: "update", side: "host", object: rebuiltCopy(rules, input.host, copy), reason }],
  });
}
