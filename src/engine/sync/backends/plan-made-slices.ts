import { viewOfSlices } from "../../../kube/object/endpoints/reader-view.ts";
import { jsonEqual } from "../../../base/json.ts";
import { sliceFingerprint } from "../../../kube/object/endpoints/slices.ts";
import { formatKey, keyOf, type ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINTS } from "../../../kube/object/resource.ts";
import type { EndpointSlice, KubeObject, StringMap } from "../../../kube/object/types.ts";
import { UNSEEN_RETRY_MS, type PlannedSteps, type ReconcileStrategy } from "../../reconcile/machine.ts";
import { deletion, type Operation } from "../../reconcile/plan-types.ts";
import { checkOf } from "../../reconcile/object-strategy.ts";
import { remembered } from "../../reconcile/rules/remembered.ts";
import type { Rules, StandIn } from "../../reconcile/rules/rules.ts";
import { isMarkerKey } from "../../translate/markers.ts";

/** Input of a plan for made slices. */
export interface MadeSlicesInput {
  /** The rules of EndpointSlices. */
  readonly rules: Rules;
  /** The made slices on the host. */
  readonly made: readonly EndpointSlice[];
  /** The made slices that should be on the host; the others are deleted. */
  readonly desired: readonly EndpointSlice[];
  /** True if the host's cache shows all desired slices: an answer to a write can be false. */
  readonly shown: boolean;
  /** Slices that a mirror has left behind. */
  readonly left: readonly EndpointSlice[];
  /** The copy of Endpoints on which the plan is based, and its key for the live read. */
  readonly confirms: { readonly key: ObjectKey; readonly copy: KubeObject | undefined } | undefined;
  /** Returns the objects that replace deleted slices for readers; none if the slices are deleted together with the copy. */
  readonly standIns: () => readonly StandIn[];
  /** Slices that this process has made before, by id. If one is gone, another writer may have deleted it for a reason. */
  readonly madeBefore: ReadonlyMap<string, unknown>;
}

/** The writes in order, and the notes to report once all are done. */
export interface MadeWrites extends PlannedSteps {
  /** The copy of Endpoints on which the plan is based. */
  readonly confirms: MadeSlicesInput["confirms"];
  readonly standIns: readonly StandIn[];
  /** Ids of the slices that were made before. */
  readonly madeBefore: readonly string[];
}

/** Facts about the Service besides its slices. */
export interface MadeSlicesContext {
  /** The object on which undone edits are reported. */
  readonly reader: KubeObject | undefined;
  /** Reports whether a live read has found the copy on which the plan is based. */
  isStill(found: KubeObject | undefined): boolean;
}

/**
 * The strategy for the slices that are made from a copy of Endpoints. New slices are written immediately. Before a slice is changed,
 * deleted or recreated, the copy is read from the API server: until then its content or absence is known only from a cache, which is not
 * the cache of the slices. Before a slice is deleted, its replacement is read as well.
 */
export function madeSlicesStrategy({ reader, isStill }: MadeSlicesContext): ReconcileStrategy<MadeWrites, MadeWrites> {
  return {
    *plan(writes) {
      return writes;
    },
    check({ planned, index, checked }, operation) {
      const earlier = planned.operations.slice(0, index);
      const { confirms, standIns } = planned;
      const readsCopy = confirms !== undefined && needsCopy(planned, operation) && !earlier.some((one) => needsCopy(planned, one));
      if (readsCopy && checked === 0) return { read: { side: "host", key: confirms.key, resource: ENDPOINTS }, isAsPlanned: isStill };
      if (operation.action !== "delete" || earlier.some(({ action }) => action === "delete")) return undefined;
      const standIn = standIns[checked - (readsCopy ? 1 : 0)];
      return standIn && checkOf(standIn);
    },
    refusal: () => ({ requeueAfterMs: UNSEEN_RETRY_MS }),
    readers: ({ planned, index }) => (reader !== undefined && index === planned.operations.length ? [reader] : []),
  };
}

/** Reports whether an operation requires a live read of the copy. A recreation does: a cache that has a deleted copy would repeat it. */
function needsCopy({ madeBefore }: MadeWrites, operation: Operation): boolean {
  return operation.action !== "create" || madeBefore.includes(formatKey(keyOf(operation.object)));
}

/**
 * Plans the writes that bring the slices to their desired state. New and changed slices come first. Once the host shows these, the slices
 * that they replace are removed, so that readers never see fewer backends.
 */
export function planMadeSlices({ rules, made, desired, shown, left, confirms, standIns, madeBefore }: MadeSlicesInput): MadeWrites {
  // The made slices stay as they are; usually there are none.
  if (desired === made && left.length === 0) return { operations: [], notes: [], confirms, standIns: [], madeBefore: [] };
  const idOf = (slice: EndpointSlice) => formatKey(keyOf(slice));
  const there = new Map(made.map((slice) => [idOf(slice), slice]));
  const wanted = new Set(desired.map(idOf));
  const changed = desired.flatMap((slice): Operation[] => {
    const before = there.get(idOf(slice));
    if (before === undefined)
      return [{ action: "create", side: "host", object: slice, reason: "Nothing on the host makes slices from the copy" }];
    if (before === slice || isAsMade(rules, before, slice)) return [];
    const object = withMade(rules, before, slice);
    return [{ action: "update", side: "host", object, reason: "The slice does not match the copy of Endpoints" }];
  });
  // A backend that moves to another slice is there before it is removed here.
  const removing = new Set(changed.length > 1 ? changed.filter((operation) => removesBackends(there, operation)) : []);
  const written = [...changed.filter((operation) => !removing.has(operation)), ...removing];
  const gone = !shown ? [] : made.filter((slice) => !wanted.has(idOf(slice)) && !slice.metadata.deletionTimestamp);
  const deletions = [
    ...gone.map((slice) =>
      deletion(slice, "Other slices contain the backends of this slice, or the copy of Endpoints no longer has them", "none"),
    ),
    ...left.map((slice) => deletion(slice, "The slice was left behind by a mirror that no longer works", "none")),
  ];
  return { operations: [...written, ...deletions], notes: [], confirms, standIns: standIns(), madeBefore: [...madeBefore.keys()] };
}

function removesBackends(there: ReadonlyMap<string, EndpointSlice>, operation: Operation): boolean {
  if (operation.action !== "update") return false;
  const slice = operation.object as EndpointSlice;
  const now = viewOfSlices([slice]);
  return [...viewOfSlices([there.get(formatKey(keyOf(slice)))!]).keys()].some((id) => !now.has(id));
}

/** Reports whether a slice on the host is as desired. The values of excluded keys are ignored. */
export function isAsMade(rules: Rules, there: EndpointSlice, slice: EndpointSlice): boolean {
  const known = lastCompared.get(there);
  if (known?.slice === slice && known.rules === rules) return known.isSame;
  const isSame =
    there.addressType === slice.addressType &&
    isSameContent(there, slice) &&
    (["labels", "annotations"] as const).every((field) => saysNoMore(rules, there.metadata[field], slice, field)) &&
    there.metadata.ownerReferences?.[0]?.uid === slice.metadata.ownerReferences?.[0]?.uid;
  lastCompared.set(there, { slice, rules, isSame });
  return isSame;
}

/** Last results: a decision compares the same two slices several times. */
const lastCompared = new WeakMap<EndpointSlice, { readonly slice: EndpointSlice; readonly rules: Rules; readonly isSame: boolean }>();

/** Compares the content. Most slices are identical; if an API server has set default values, the meaning counts. */
function isSameContent(one: EndpointSlice, other: EndpointSlice): boolean {
  return (jsonEqual(one.endpoints, other.endpoints) && jsonEqual(one.ports, other.ports)) || contentOf(one) === contentOf(other);
}

const contentOf = remembered((slice: EndpointSlice) => sliceFingerprint(slice));

/** Reports whether all keys of the slice are there, and besides them only keys that are never copied. */
function saysNoMore(
  { settings, translator }: Rules,
  there: StringMap = {},
  { metadata }: EndpointSlice,
  field: "labels" | "annotations",
): boolean {
  const { labels = {}, annotations = {}, [field]: wanted = {} } = metadata;
  const isOthers = (key: string) =>
    settings.excluded(key) && !isMarkerKey(translator.markerPrefix, key) && !Object.hasOwn(labels, key) && !Object.hasOwn(annotations, key);
  return (
    Object.keys(wanted).every((key) => Object.hasOwn(there, key) && there[key] === wanted[key]) &&
    Object.keys(there).every((key) => Object.hasOwn(wanted, key) || isOthers(key))
  );
}

function withMade({ settings, translator }: Rules, before: EndpointSlice, slice: EndpointSlice): EndpointSlice {
  const foreign = (map: StringMap | undefined = {}) =>
    Object.fromEntries(Object.entries(map).filter(([key]) => settings.excluded(key) && !isMarkerKey(translator.markerPrefix, key)));
  const { metadata } = before;
  return {
    ...slice,
    metadata: {
      ...metadata,
      labels: { ...foreign(metadata.labels), ...slice.metadata.labels },
      annotations: { ...foreign(metadata.annotations), ...slice.metadata.annotations },
      ...(slice.metadata.ownerReferences && { ownerReferences: slice.metadata.ownerReferences }),
    },
  };
}
