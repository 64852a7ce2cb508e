/**
 * Objects in the words of stories: what a cluster holds and what a story wants, brought into one form.
 *
 * @module
 */
import { dump } from "js-yaml";
import { isRecord } from "../../src/base/json.ts";
import { formatKey, keyOf, parseKey } from "../../src/object/key.ts";
import type { ObjectKey } from "../../src/object/key.ts";
import { ENDPOINTS, NAMESPACES, SERVICES } from "../../src/object/resource.ts";
import type { ResourceType } from "../../src/object/resource.ts";
import { repackSubsets } from "../../src/object/subsets.ts";
import type { EndpointSubset, KubeObject, StringMap } from "../../src/object/types.ts";
import { isMarkerKey, isOurs, readMarkers } from "../../src/translate/markers.ts";
import type { StoryObject, StoryObjects } from "./scenario.ts";

/** One of the two clusters. */
export type Side = "tenant" | "host";

/** How the copies of a story's engine are marked. */
export interface Marks {
  readonly vcluster: string;
  readonly prefix: string;
}

/** Kinds that stories speak of. */
export const KINDS: readonly ResourceType[] = [SERVICES, ENDPOINTS, NAMESPACES];

/** Kind and key behind `Kind namespace/name`. */
export function parseId(id: string): { type: ResourceType; key: ObjectKey } {
  const space = id.indexOf(" ");
  const type = KINDS.find(({ kind }) => kind === id.slice(0, space));
  if (type === undefined) throw new Error(`Stories know no such object: ${id}`);
  return { type, key: parseKey(id.slice(space + 1)) };
}

/** `Kind namespace/name`. */
export function idOf(object: KubeObject): string {
  return `${object.kind} ${formatKey(keyOf(object))}`;
}

/**
 * An object in the words of stories: all that counts, and of the `spec` of a Service what `wanted` names. `uids` are those of the
 * tenant objects that exist.
 */
export function seenObject(
  object: KubeObject,
  about: { side: Side; marks: Marks; uids: ReadonlyMap<string, string>; wanted: StoryObject },
): StoryObject {
  const ours = about.side === "host" && isOurs(about.marks.prefix, about.marks.vcluster, object, object);
  const own = (map: StringMap | undefined) =>
    Object.fromEntries(Object.entries(map ?? {}).filter(([key]) => !ours || !isMarkerKey(about.marks.prefix, key)));
  const { labels, annotations, finalizers = [], ownerReferences = [] } = object.metadata;
  return tidy({
    ...(ours && { copyOf: sourceOf(object, about) }),
    owner: ownerReferences.map(({ kind, name }) => `${kind} ${name}`).join(", ") || undefined,
    labels: own(labels),
    annotations: own(annotations),
    finalizers,
    ...bodyOf(object, about.wanted),
  });
}

function sourceOf(object: KubeObject, { marks, uids }: { marks: Marks; uids: ReadonlyMap<string, string> }): string {
  const source = readMarkers(marks.prefix, object)!;
  const key = formatKey(source);
  const uid = uids.get(`${object.kind} ${key}`);
  return uid === undefined || uid === source.uid ? key : `${key}, an earlier one`;
}

function bodyOf(object: KubeObject, wanted: StoryObject): Record<string, unknown> {
  if (object.kind === ENDPOINTS.kind) return { subsets: repackSubsets((object["subsets"] ?? []) as EndpointSubset[]) };
  return wanted?.["spec"] === undefined ? {} : { spec: named(object["spec"], wanted["spec"]) };
}

/** Of `value` only what `wanted` names; what is not there is null. */
function named(value: unknown, wanted: unknown): unknown {
  if (Array.isArray(wanted) && Array.isArray(value)) return value.map((item, index) => named(item, wanted[index]));
  if (!isRecord(wanted) || !isRecord(value)) return value ?? null;
  return Object.fromEntries(Object.keys(wanted).map((field) => [field, named(value[field], wanted[field])]));
}

/** Wanted objects in the form of {@link seenObject}. */
export function wantedObjects(objects: StoryObjects): StoryObjects {
  return Object.fromEntries(
    Object.entries(objects).map(([id, object]) => {
      const { subsets = [], ...rest } = object ?? {};
      return [id, tidy({ ...rest, ...(id.startsWith(ENDPOINTS.kind) && { subsets: repackSubsets(subsets as EndpointSubset[]) }) })];
    }),
  );
}

/** Without members that say nothing. */
function tidy(object: Record<string, unknown>): Record<string, unknown> {
  const says = (value: unknown) => value !== undefined && !(typeof value === "object" && value !== null && Object.keys(value).length === 0);
  return Object.fromEntries(Object.entries(object).filter(([, value]) => says(value)));
}

/** Reasons but for those that `wanted` has with a question mark. */
export function withoutOptional(
  found: Record<string, string[]>,
  wanted: Readonly<Record<string, readonly string[]>>,
): Record<string, string[]> {
  const counts = (id: string) => (reason: string) => !reason.endsWith("?") && !wanted[id]?.includes(`${reason}?`);
  const kept = Object.entries(found).map(([id, reasons]) => [id, reasons.filter(counts(id))] as const);
  return Object.fromEntries(kept.filter(([, reasons]) => reasons.length > 0));
}

/** Each list once and in order. */
export function sortedLists(lists: Readonly<Record<string, readonly string[]>>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(lists).map(([id, list]) => [id, [...new Set(list)].sort()]));
}

/** The same text for the same state, whatever the order of keys. */
export function asText(value: unknown): string {
  return dump(value, { sortKeys: true, noRefs: true, lineWidth: -1 });
}
