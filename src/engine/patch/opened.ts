import { jsonEqual } from "../../base/json.ts";
import type { KubeObject, StringMap } from "../../kube/object/types.ts";
import { isMarkerKey } from "../translate/markers.ts";

/** An object as patches see it, with the parts that are restored afterwards. */
export interface Opened {
  /** The object as it was given. */
  readonly original: KubeObject;
  /** With `metadata.labels` and `metadata.annotations`, so that a patch on the map can add a key, and without markers. */
  readonly object: KubeObject;
  readonly markers: { readonly labels: StringMap; readonly annotations: StringMap };
}

/** Opens an object for patching. Markers are hidden: no expression sees one, and `[*]` does not match them. */
export function openObject(original: KubeObject, markerPrefix: string): Opened {
  const { labels, annotations } = original.metadata;
  const [ownLabels, labelMarkers] = setAside(labels, markerPrefix);
  const [ownAnnotations, annotationMarkers] = setAside(annotations, markerPrefix);
  const ready = labels === ownLabels && annotations === ownAnnotations;
  return {
    original,
    object: ready ? original : { ...original, metadata: { ...original.metadata, labels: ownLabels, annotations: ownAnnotations } },
    markers: { labels: labelMarkers, annotations: annotationMarkers },
  };
}

const NONE: StringMap = Object.freeze({});

function setAside(map: StringMap | undefined, markerPrefix: string): [own: StringMap, markers: StringMap] {
  if (map === undefined) return [NONE, NONE];
  const entries = Object.entries(map);
  if (!entries.some(([key]) => isMarkerKey(markerPrefix, key))) return [map, NONE];
  const [own, markers] = [false, true].map((wanted) => entries.filter(([key]) => isMarkerKey(markerPrefix, key) === wanted));
  return [Object.fromEntries(own!), Object.fromEntries(markers!)];
}

/** The patched object with its markers and without empty maps; the original itself if nothing has changed. */
export function closeObject({ original, object, markers }: Opened, patched: KubeObject): KubeObject {
  if (patched === object) return original;
  const { labels, annotations, ...metadata } = patched.metadata;
  const closed = {
    ...patched,
    metadata: {
      ...metadata,
      ...unlessEmpty("labels", { ...labels, ...markers.labels }),
      ...unlessEmpty("annotations", { ...annotations, ...markers.annotations }),
    },
  };
  return jsonEqual(closed, original) ? original : closed;
}

function unlessEmpty(field: "labels" | "annotations", map: StringMap): { labels?: StringMap; annotations?: StringMap } {
  return Object.keys(map).length > 0 ? { [field]: map } : {};
}
