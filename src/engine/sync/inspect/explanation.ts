/**
 * Explains the state of an object on the host: the planner's input and decisions, for one object.
 *
 * @module
 */
import { formatKey, keyOf, type ObjectKey } from "../../../kube/object/key.ts";
import type { ResourceType } from "../../../kube/object/resource.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import type { FoundReference, Outcome } from "../../patch/types.ts";
import { changedSides, readBase, comparedFields, type FieldId } from "../../reconcile/agreement/base.ts";
import { readFlowed } from "../../reconcile/agreement/flow-stamp.ts";
import { toHost } from "../../reconcile/convert/to-host.ts";
import { decideCopy, type CopyDecision } from "../../reconcile/predicate/should-copy.ts";
import { isCopyOf } from "../../reconcile/copy/ownership.ts";
import type { Note, Operation, Plan, PlanState } from "../../reconcile/plan-types.ts";
import { isOurs } from "../../translate/identity.ts";
import { readMarkers, type CopySource } from "../../translate/markers.ts";
import type { FirstLook, Preview } from "./preview.ts";
import { stateAfter } from "../state/status-records.ts";
import { syncId } from "../state/sync-id.ts";

/** One of the two objects. */
export interface SeenObject {
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  /** True while it is being deleted. */
  readonly isGoing: boolean;
}

/** Object at the host key. */
export interface SeenOnHost extends SeenObject {
  /** `copy`: of this object. `other-copy`: of another object, which `markers` name. `foreign`: not a copy. */
  readonly whose: "copy" | "other-copy" | "foreign";
  readonly markers: CopySource | undefined;
  /** Whether it has a readable base: the state on which both sides last agreed. */
  readonly base: "readable" | "none";
}

/** One label, annotation or body, where the two sides differ or have changed since they agreed. */
export interface DifferingPart {
  readonly part: FieldId;
  readonly changed: "tenant" | "host" | "both" | "neither";
  /** Reports whether the host has the desired state. */
  readonly isAsWanted: boolean;
}

/** One pending write for the object. */
export interface PendingWrite {
  readonly cluster: "tenant" | "host";
  readonly action: "create" | "update" | "delete";
  readonly reason: string;
}

/** Explanation of one object: its state on both sides, the decisions about it, and its pending writes. */
export interface ObjectExplanation {
  readonly resource: ResourceType;
  readonly key: ObjectKey;
  readonly tenant: SeenObject | undefined;
  readonly hostKey: ObjectKey | undefined;
  readonly host: SeenOnHost | undefined;
  /** Copies of it at other host keys. */
  readonly orphans: readonly ObjectKey[];
  /** Whether it should be copied; undefined if there is no tenant object. */
  readonly decision: CopyDecision | undefined;
  readonly state: PlanState;
  readonly patches: readonly Outcome[];
  readonly references: readonly (FoundReference & { readonly notes: readonly Note[] })[];
  readonly notes: readonly Note[];
  readonly parts: readonly DifferingPart[];
  readonly writes: readonly PendingWrite[];
  /** False if the syncer would write it again and again, without end. */
  readonly settles: boolean;
}

/**
 * Explains one object of a preview; undefined if the kind is not synced.
 *
 * @example
 * explainObject(await preview({ ...options, ids: ["endpoints|shop/db"] }), ENDPOINTS, { namespace: "shop", name: "db" })?.state; // "copied"
 */
export function explainObject(preview: Preview, resource: ResourceType, key: ObjectKey): ObjectExplanation | undefined {
  const id = syncId(resource.plural, key);
  const look = preview.looks.get(id);
  if (look === undefined) return undefined;
  const { rules, input, plan } = look;
  const { tenant, host, orphans = [] } = input;
  const notes = notesOf(preview, look);
  const writes = preview.writes.filter((write) => write.id === id).map(({ operation }) => operation);
  return {
    ...{ resource, key, hostKey: plan.hostKey, state: stateOf(plan, { notes, writes }), patches: plan.outcomes },
    tenant: tenant && seen(tenant),
    host: host && seenOnHost(look, host),
    orphans: orphans.map(keyOf),
    decision: tenant && decideCopy(rules, key, tenant, input),
    references: plan.references.map((reference) => ({ ...reference, notes: notesOfReference(preview, reference) })),
    notes,
    parts: partsOf(look),
    writes: writes.map(({ side, action, reason }) => ({ cluster: side, action, reason })),
    settles: !preview.unsettled.some((unsettled) => unsettled.id === id),
  };
}

/** Returns the state of an object: that of its plan, unless the host refuses the planned write. */
function stateOf(plan: Plan, { notes, writes }: { notes: readonly Note[]; writes: readonly Operation[] }): PlanState {
  return writes.some(({ side }) => side === "host") ? plan.state : stateAfter(plan, notes);
}

function seen({ metadata: { uid, resourceVersion, deletionTimestamp } }: KubeObject): SeenObject {
  return { uid, resourceVersion, isGoing: typeof deletionTimestamp === "string" };
}

function seenOnHost({ rules, input }: FirstLook, host: KubeObject): SeenOnHost {
  const { markerPrefix } = rules.translator;
  const ours = isOurs(rules, host, rules.kind.resource);
  const whose = isCopyOf(rules, host, input.key) ? "copy" : ours ? "other-copy" : "foreign";
  const base = readBase(markerPrefix, host) === undefined ? "none" : "readable";
  return { ...seen(host), whose, markers: readMarkers(markerPrefix, host), base };
}

/** Notes of the first plan, and those that appeared only when it was carried out. */
function notesOf({ records }: Preview, { rules, input, plan }: FirstLook): readonly Note[] {
  const record = records.find(
    ({ resource, tenantKey }) => resource === rules.kind.resource.plural && formatKey(tenantKey) === formatKey(input.key),
  );
  const said = new Set(plan.notes.map(({ code, message }) => code + message));
  return [...plan.notes, ...(record?.notes ?? []).filter(({ code, message }) => !said.has(code + message))];
}

function notesOfReference({ records }: Preview, { kind, tenant }: FoundReference): readonly Note[] {
  const isOfKind = (resource: string) => resource.split(".")[0] === `${kind.toLowerCase()}s`;
  return records.find(({ resource, tenantKey }) => isOfKind(resource) && formatKey(tenantKey) === formatKey(tenant))?.notes ?? [];
}

function partsOf({ rules, input, plan: { hostKey } }: FirstLook): DifferingPart[] {
  const { tenant, host } = input;
  if (tenant === undefined || host === undefined || hostKey === undefined || !isCopyOf(rules, host, input.key)) return [];
  const written = readBase(rules.translator.markerPrefix, host);
  if (written === undefined) return [];
  const wanted = toHost(rules, { ...input, tenant, host, hostKey });
  const fields = comparedFields(rules, tenant, wanted.object, host, written);
  const base = new Map([...written, ...readFlowed(rules, { tenant, host }, fields, written).fields]);
  return fields.flatMap((field) => {
    const sides = changedSides(field, base);
    const changed = sides.tenant ? (sides.host ? "both" : "tenant") : sides.host ? "host" : "neither";
    const isAsWanted = field.desired === field.host;
    return isAsWanted && changed === "neither" ? [] : [{ part: field.id, changed, isAsWanted } as const];
  });
}
