import { jsonEqual } from "../../../base/json.ts";
import { sliceFingerprint } from "../../../kube/object/endpoints/slices.ts";
import { formatKey, keyOf } from "../../../kube/object/key.ts";
import type { ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINTS } from "../../../kube/object/resource.ts";
import type { EndpointSlice, KubeObject, StringMap } from "../../../kube/object/types.ts";
import { UNSEEN_RETRY_MS } from "../../reconcile/machine.ts";
import type { PlannedSteps, ReconcileStrategy } from "../../reconcile/machine.ts";
import { deletion } from "../../reconcile/plan-types.ts";
import type { Operation } from "../../reconcile/plan-types.ts";
import { checkOf } from "../../reconcile/object-strategy.ts";
import { remembered } from "../../reconcile/rules/remembered.ts";
import type { Rules, StandIn } from "../../reconcile/rules/rules.ts";
import { isMarkerKey } from "../../translate/markers.ts";

/** What is compared. */
export interface MadeSlicesInput {
  /** Those of slices. */
  readonly rules: Rules;
  /** What was made and stands on the host. */
  readonly made: readonly EndpointSlice[];
  /** What should stand there; one without an entry goes. */
  readonly desired: readonly EndpointSlice[];
  /** All that should stand there is shown by the host itself: an answer to a write can be false. */
  readonly shown: boolean;
  /** What a mirror has left behind. */
  readonly left: readonly EndpointSlice[];
  /** The copy of Endpoints as the plan takes it for, and where it is to be read before anything is deleted. */
  readonly confirms: { readonly key: ObjectKey; readonly copy: KubeObject | undefined } | undefined;
  /** What readers see in the place of what goes, where it does not simply go with the copy. */
  readonly standIns: () => readonly StandIn[];
  /** Slices that this process has made before, by id: of one that is gone since, another writer may know why. */
  readonly madeBefore: ReadonlyMap<string, unknown>;
}

/** What is to be written, in order, and what people hear once all is written. */
export interface MadeWrites extends PlannedSteps {
  /** The copy of Endpoints as it was taken for. */
  readonly confirms: MadeSlicesInput["confirms"];
  readonly standIns: readonly StandIn[];
  /** Ids of the slices that were made before. */
  readonly madeBefore: readonly string[];
}

/** What is known of the Service beside its slices. */
export interface MadeSlicesContext {
  /** People hear of edits by Events on it. */
  readonly reader: KubeObject | undefined;
  /** Reports whether what a live read has found is the copy that was planned from. */
  isStill(found: KubeObject | undefined): boolean;
}

/**
 * The strategy for the slices that are made from a copy of Endpoints. New slices are written immediately. Before a slice is changed,
 * deleted or created again, the copy is read from the API server: until then its content or absence is known only from a cache, and a
 * different cache has the slices. Before a slice is deleted, its replacement is read as well.
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

/** A slice that is made again would be made without end by a cache that still has a copy which is gone. */
function needsCopy({ madeBefore }: MadeWrites, operation: Operation): boolean {
  return operation.action !== "create" || madeBefore.includes(formatKey(keyOf(operation.object)));
}

/**
 * The writes that bring the slices to their desired state: first the new and changed slices and, once the host shows these, the removal of
 * the slices that they replace, so that readers never see fewer backends.
 */
export function planMadeSlices({ rules, made, desired, shown, left, confirms, standIns, madeBefore }: MadeSlicesInput): MadeWrites {
  // What stands stays: most times there is nothing at all.
  if (desired === made && left.length === 0) return { operations: [], notes: [], confirms, standIns: [], madeBefore: [] };
  const idOf = (slice: EndpointSlice) => formatKey(keyOf(slice));
  const there = new Map(made.map((slice) => [idOf(slice), slice]));
  const wanted = new Set(desired.map(idOf));
  const written = desired.flatMap((slice): Operation[] => {
    const before = there.get(idOf(slice));
    if (before === undefined)
      return [{ action: "create", side: "host", object: slice, reason: "Nothing on the host makes slices from the copy" }];
    if (before === slice || isAsMade(rules, before, slice)) return [];
    const object = withMade(rules, before, slice);
    return [{ action: "update", side: "host", object, reason: "The slice does not match the copy of Endpoints" }];
  });
  const gone = !shown ? [] : made.filter((slice) => !wanted.has(idOf(slice)) && !slice.metadata.deletionTimestamp);
  const deletions = [
    ...gone.map((slice) => deletion(slice, "Other slices show its backends, or the copy no longer has them", "none")),
    ...left.map((slice) => deletion(slice, "The slice was left behind by a mirror that no longer works", "none")),
  ];
  const operations = [...written, ...deletions];
  return { operations, notes: [], confirms, standIns: standIns(), madeBefore: [...madeBefore.keys()] };
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

/** The same two are compared several times while something is decided. */
const lastCompared = new WeakMap<EndpointSlice, { readonly slice: EndpointSlice; readonly rules: Rules; readonly isSame: boolean }>();

/** Most are the same to the letter; where an API server has filled something in, it is what they mean that counts. */
function isSameContent(one: EndpointSlice, other: EndpointSlice): boolean {
  return (jsonEqual(one.endpoints, other.endpoints) && jsonEqual(one.ports, other.ports)) || contentOf(one) === contentOf(other);
}

const contentOf = remembered((slice: EndpointSlice) => sliceFingerprint(slice));

/** All that the slice says is there, and beside it only keys that never cross. */
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
