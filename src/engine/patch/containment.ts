/**
 * Contains the failure of a patch on one value: the rest of the object must still be synced.
 *
 * Source of the rule: `onError` in the settings. The default, keep-last, never lets an unpatched value reach the host, where it could have
 * a different meaning:
 * - A label or annotation keeps the value last written for the same patch, or is left out.
 * - In a list, the nearest list element is left out; old and new elements are never mixed.
 * - Any other field is left out.
 *
 * @module
 */
import { isRecord } from "../../base/json.ts";
import type { Direction } from "./patch-definition.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { REMOVE } from "../path/path.ts";
import { isMarkerKey } from "../translate/markers.ts";
import { isInList, type MetadataPlace, type ValueRole } from "./place.ts";
import type { OnError } from "./types.ts";

/** Placeholder for a value that failed inside a list, until {@link dropLeftOut} removes the list element. */
export const LEFT_OUT: unique symbol = Symbol("LEFT_OUT");

/** The value of a place after a failure: `value` itself, an empty map, REMOVE or LEFT_OUT. */
export function containFailure(place: ValueRole, value: unknown, policy: { direction: Direction; onError: OnError }): unknown {
  // A value that failed is not synced back to the tenant, so it can stay as it is.
  if (policy.direction === "toTenant" || policy.onError !== "keep-last") return value;
  switch (place.role) {
    case "metadata":
    case "protected":
      return value;
    case "map":
      return {};
    case "entry":
      return REMOVE;
    case "field":
      return isInList(place.path) ? LEFT_OUT : REMOVE;
  }
}

/** Removes the innermost list element around each LEFT_OUT. Shares unchanged parts. */
export function dropLeftOut(value: unknown): unknown {
  if (Array.isArray(value)) return dropFromList(value);
  if (!isRecord(value)) return value;
  let copy: Record<string, unknown> | undefined;
  for (const key of Object.keys(value)) {
    const kept = dropLeftOut(value[key]);
    if (kept === LEFT_OUT) return LEFT_OUT;
    if (kept === value[key]) continue;
    copy ??= { ...value };
    copy[key] = kept;
  }
  return copy ?? value;
}

function dropFromList(list: readonly unknown[]): readonly unknown[] {
  const kept = list.map(dropLeftOut);
  return kept.every((item, index) => item === list[index] && item !== LEFT_OUT) ? list : kept.filter((item) => item !== LEFT_OUT);
}

/** Values that were written before, by concrete path. */
export type LastWritten = (place: string) => { readonly value: unknown } | undefined;

/**
 * Restores the value last written of each label and annotation whose patch failed. This happens after all patches, because that value has
 * already passed through all of them: patching it again would make it grow with every sync.
 */
export function keepLast(
  object: KubeObject,
  places: readonly MetadataPlace[],
  from: { last: LastWritten; markerPrefix: string },
): KubeObject {
  return places.reduce((kept, place) => {
    const last = from.last(place.path);
    return last === undefined ? kept : withLast(kept, place, { value: last.value, markerPrefix: from.markerPrefix });
  }, object);
}

function withLast(object: KubeObject, place: MetadataPlace, last: { value: unknown; markerPrefix: string }): KubeObject {
  const map = place.role === "entry" ? { ...object.metadata[place.field], [place.key]: last.value } : last.value;
  if (!isRecord(map)) return object;
  const entries = Object.entries(map).filter(([key, value]) => typeof value === "string" && !isMarkerKey(last.markerPrefix, key));
  return { ...object, metadata: { ...object.metadata, [place.field]: Object.fromEntries(entries) } };
}
