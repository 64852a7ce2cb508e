import { formatKey, keyOf } from "../../kube/object/key.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { DEFAULT_MARKER_PREFIX } from "../../engine/translate/markers.ts";
import { differences } from "../../workbench/asserts/differences.ts";
import { shown } from "../../workbench/asserts/shown.ts";

/** Human-readable values of the objects in both clusters, by side, kind and key: labels, annotations and the body. */
export type DemoValues = ReadonlyMap<string, unknown>;

/** The side that objects are on. */
export interface DemoSide {
  readonly side: "tenant" | "host";
  readonly objects: readonly KubeObject[];
}

/** The values of all objects, without the bookkeeping of API servers and the syncer, such as versions and managed fields. */
export function demoValues(sides: readonly DemoSide[]): DemoValues {
  return new Map(sides.flatMap(({ side, objects }) => objects.map((object) => [nameOf(side, object), valuesOf(object)] as const)));
}

/**
 * Describes the changes, one line per value: `host Endpoints vc-blue/web metadata.labels.a: "x" → "y"`. Created and deleted objects have one
 * line each.
 *
 * @example
 * valueChanges(new Map([["host Endpoints a/b", { a: 1 }]]), new Map([["host Endpoints a/b", { a: 2 }]])); // ["host Endpoints a/b a: 1 → 2"]
 */
export function valueChanges(before: DemoValues, after: DemoValues): readonly string[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  return names.flatMap((name) => {
    if (!before.has(name)) return [`${name}: new`];
    if (!after.has(name)) return [`${name}: gone`];
    const changed = differences(before.get(name), after.get(name));
    return changed.map((one) => `${name} ${one.path}: ${shown(one.before)} → ${shown(one.after)}`);
  });
}

function nameOf(side: string, object: KubeObject): string {
  return `${side} ${object.kind} ${formatKey(keyOf(object))}`;
}

function valuesOf({ metadata: { labels = {}, annotations = {} }, ...body }: KubeObject): unknown {
  return { ...body, metadata: { labels: withoutMarkers(labels), annotations: withoutMarkers(annotations) } };
}

function withoutMarkers(map: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(map).filter(([key]) => !key.startsWith(DEFAULT_MARKER_PREFIX)));
}
