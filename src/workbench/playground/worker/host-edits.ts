/**
 * The outcomes of host edits: which edits reach the tenant, which are undone and why, and the state in which both sides settle.
 *
 * @module
 */
import { jsonEqual } from "../../../base/json.ts";
import type { KubeObject, StringMap } from "../../../kube/object/types.ts";
import type { Outcome } from "../../../engine/patch/types.ts";
import { formatSteps } from "../../../engine/path/path.ts";
import { changedSides, readBase, comparedFields, type ComparedField, type FieldId } from "../../../engine/reconcile/agreement/base.ts";
import { planHostEdits, type HostEdits } from "../../../engine/reconcile/convert/host-edits.ts";
import { withoutStamp } from "../../../engine/reconcile/agreement/flow-stamp.ts";
import { toHost, visibleHostObject } from "../../../engine/reconcile/convert/to-host.ts";
import type { CopyInput } from "../../../engine/reconcile/plan-types.ts";
import type { Rules } from "../../../engine/reconcile/rules/rules.ts";
import { isMarkerKey } from "../../../engine/translate/markers.ts";
import { playToRest } from "./play.ts";
import type { FlowedEdit, UndoneEdit } from "../protocol.ts";

/** A copy as the syncer wrote it, and as a user edited it. */
export interface EditedCopy {
  readonly written: KubeObject;
  /** With the markers of the copy. */
  readonly edited: KubeObject;
}

/** The outcome of the edits. */
export interface EditsOutcome {
  readonly tenant: KubeObject;
  readonly host: KubeObject | undefined;
  readonly outcomes: readonly Outcome[];
  readonly flowed: readonly FlowedEdit[];
  readonly undone: readonly UndoneEdit[];
  readonly settles: boolean;
}

/** A host object as users see and edit it: without the syncer's own markers. */
export function shownHost(rules: Rules, host: KubeObject): KubeObject {
  return visibleHostObject(rules, host)!;
}

/** The edited object with the markers of the copy, which users neither see nor edit. */
export function withCopyMarks(rules: Rules, written: KubeObject, edited: KubeObject): KubeObject {
  const isMark = (key: string) => isMarkerKey(rules.translator.markerPrefix, key);
  const merged = (field: "labels" | "annotations"): StringMap => ({
    ...pick(edited.metadata[field], (key) => !isMark(key)),
    ...pick(written.metadata[field], isMark),
  });
  return { ...edited, metadata: { ...edited.metadata, labels: merged("labels"), annotations: merged("annotations") } };
}

function pick(map: StringMap = {}, wanted: (key: string) => boolean): StringMap {
  return Object.fromEntries(Object.entries(map).filter(([key]) => wanted(key)));
}

/** Lets the syncer's planner decide what happens to the edits. */
export function playEdits(rules: Rules, input: CopyInput, copy: EditedCopy): EditsOutcome {
  const { tenant } = input;
  const edited = { ...input, host: copy.edited };
  const edits = editsOf(rules, edited, copy);
  const back = planHostEdits(rules, edited, edits);
  const rest = playToRest(rules, edited);
  const after = withoutStamp(rules, rest.tenant ?? tenant);
  return {
    tenant: { ...after, metadata: { ...after.metadata, ...version(tenant) } },
    host: rest.host,
    outcomes: back.outcomes,
    flowed: flowedOf(tenant, after),
    undone: [...refused(back, copy), ...uncrossing(rules, edits, copy)],
    settles: rest.settles,
  };
}

/** Keeps the version, because the API server sets a new one: that is no edit. */
function version({ metadata: { resourceVersion } }: KubeObject): { resourceVersion?: string } {
  return { resourceVersion } as { resourceVersion?: string };
}

/** The fields that only the host changed, as the planner finds them. */
function editsOf(rules: Rules, input: CopyInput, { written, edited }: EditedCopy): readonly ComparedField[] {
  const base = readBase(rules.translator.markerPrefix, written) ?? new Map();
  const wanted = toHost(rules, input);
  return comparedFields(rules, input.tenant, wanted.object, edited, base).filter((field) => {
    const changed = changedSides(field, base);
    return field.desired !== field.host && changed.host && !changed.tenant;
  });
}

/** All fields of the tenant object that differ now. */
function flowedOf(before: KubeObject, after: KubeObject): FlowedEdit[] {
  const change = (path: string, old: unknown, now: unknown): FlowedEdit[] =>
    jsonEqual(old ?? null, now ?? null)
      ? []
      : [{ path, ...(old !== undefined && { before: old }), ...(now !== undefined && { after: now }) }];
  const maps = (["labels", "annotations"] as const).flatMap((field) => {
    const [old = {}, now = {}] = [before.metadata[field], after.metadata[field]];
    return keysOf(old, now).flatMap((key) => change(formatSteps(["metadata", field, key]), own(old, key), own(now, key)));
  });
  return [...maps, ...bodyFields(before, after).flatMap((field) => change(field, before[field], after[field]))];
}

function keysOf(...maps: readonly object[]): string[] {
  return [...new Set(maps.flatMap((map) => Object.keys(map)))];
}

function own(map: StringMap, key: string): string | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

/** Fields other than metadata that differ. */
function bodyFields(left: KubeObject, right: KubeObject): string[] {
  return keysOf(left, right).filter((field) => field !== "metadata" && !jsonEqual(left[field] ?? null, right[field] ?? null));
}

function refused({ refusals }: HostEdits, copy: EditedCopy): UndoneEdit[] {
  return refusals.flatMap(({ id, code, message, stays }) => pathsOf(id, copy).map((path) => ({ path, why: message, code, stays })));
}

function pathsOf(id: FieldId, { written, edited }: EditedCopy): string[] {
  if (id === "body") return bodyFields(written, edited);
  const slash = id.indexOf("/");
  return [formatSteps(["metadata", id.slice(0, slash), id.slice(slash + 1)])];
}

/** Edits that the planner ignores. */
function uncrossing(rules: Rules, edits: readonly ComparedField[], { written, edited }: EditedCopy): UndoneEdit[] {
  const isEdit = (id: FieldId) => edits.some((edit) => edit.id === id);
  const shown = { written: shownHost(rules, written), edited: shownHost(rules, edited) };
  const maps = (["labels", "annotations"] as const).flatMap((field) => {
    const [old = {}, now = {}] = [shown.written.metadata[field], shown.edited.metadata[field]];
    const changed = keysOf(old, now).filter((key) => own(old, key) !== own(now, key) && !isEdit(`${field}/${key}`));
    return changed.map((key) => formatSteps(["metadata", field, key]));
  });
  const body = isEdit("body") ? [] : bodyFields(written, edited);
  const why = "This field belongs to the host only and is not synced in either direction";
  return [...maps, ...body].map((path) => ({ path, why, code: "EXCLUDED", stays: true }));
}
