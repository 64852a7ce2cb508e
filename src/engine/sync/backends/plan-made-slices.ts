import { canonicalJson } from "../../../base/json.ts";
import { sliceFingerprint } from "../../../kube/object/endpoints/slices.ts";
import { formatKey, keyOf } from "../../../kube/object/key.ts";
import type { ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINTS } from "../../../kube/object/resource.ts";
import type { EndpointSlice, KubeObject, StringMap } from "../../../kube/object/types.ts";
import { UNSEEN_RETRY_MS } from "../../reconcile/machine.ts";
import type { PlannedSteps, ReconcileStrategy } from "../../reconcile/machine.ts";
import { deletion } from "../../reconcile/plan-types.ts";
import type { Operation } from "../../reconcile/plan-types.ts";
import { remembered } from "../../reconcile/rules/remembered.ts";
import type { Rules } from "../../reconcile/rules/rules.ts";
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
}

/** What is to be written, in order, and what people hear once all is written. */
export interface MadeWrites extends PlannedSteps {
  /** The copy of Endpoints as it was taken for. */
  readonly confirms: MadeSlicesInput["confirms"];
}

/** What is known of the Service beside its slices. */
export interface MadeSlicesContext {
  /** People hear of edits by Events on it. */
  readonly reader: KubeObject | undefined;
  /** Reports whether what a live read has found is the copy that was planned from. */
  isStill(found: KubeObject | undefined): boolean;
}

/**
 * The strategy for the slices that are made from a copy of Endpoints. New slices are written immediately. Before a slice is changed or deleted, the copy
 * is read from the API server: until then its content or absence is known only from a cache, and the slices from another one.
 */
export function madeSlicesStrategy({ reader, isStill }: MadeSlicesContext): ReconcileStrategy<MadeWrites, MadeWrites> {
  return {
    *plan(writes) {
      return writes;
    },
    check({ planned: { operations, confirms }, index }, { action }) {
      const wasRead = operations.slice(0, index).some((earlier) => earlier.action !== "create");
      if (action === "create" || wasRead || confirms === undefined) return undefined;
      return { read: { side: "host", key: confirms.key, resource: ENDPOINTS }, isAsPlanned: isStill };
    },
    refusal: () => ({ requeueAfterMs: UNSEEN_RETRY_MS }),
    readers: ({ planned, index }) => (reader !== undefined && index === planned.operations.length ? [reader] : []),
  };
}

/**
 * The writes that bring the slices to their desired state: first the new and changed ones, and, once the host shows them, the removal of those that they
 * replace, so that readers never see fewer backends.
 */
export function planMadeSlices({ rules, made, desired, shown, left, confirms }: MadeSlicesInput): MadeWrites {
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
    ...left.map((slice) => deletion(slice, "It was left behind by a mirror that no longer works", "none")),
  ];
  return { operations: [...written, ...deletions], notes: [], confirms };
}

/** Reports whether a slice on the host is as desired. The values of excluded keys are ignored. */
export function isAsMade(rules: Rules, there: EndpointSlice, slice: EndpointSlice): boolean {
  if (there.addressType !== slice.addressType || contentOf(there) !== contentOf(slice)) return false;
  const others = keysOfOthers(rules, slice);
  return (
    canonicalJson(others(there.metadata.labels)) === canonicalJson(slice.metadata.labels ?? {}) &&
    canonicalJson(others(there.metadata.annotations)) === canonicalJson(slice.metadata.annotations ?? {}) &&
    there.metadata.ownerReferences?.[0]?.uid === slice.metadata.ownerReferences?.[0]?.uid
  );
}

const contentOf = remembered((slice: EndpointSlice) => sliceFingerprint(slice));

/** Without keys that never cross, unless the slice has them itself. */
function keysOfOthers({ settings, translator }: Rules, { metadata }: EndpointSlice): (map: StringMap | undefined) => StringMap {
  const own = new Set([...Object.keys(metadata.labels ?? {}), ...Object.keys(metadata.annotations ?? {})]);
  const kept = (key: string) => own.has(key) || isMarkerKey(translator.markerPrefix, key) || !settings.excluded(key);
  return (map = {}) => Object.fromEntries(Object.entries(map).filter(([key]) => kept(key)));
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
