/**
 * Objects as stories write them: actual and expected objects, in one form.
 *
 * @module
 */
import { dump } from "js-yaml";
import { canonicalJson, isRecord } from "../../src/base/json.ts";
import { formatKey, keyOf, parseKey, type ObjectKey } from "../../src/kube/object/key.ts";
import {
  CONFIG_MAPS,
  ENDPOINT_SLICES,
  ENDPOINTS,
  NAMESPACES,
  SECRETS,
  SERVICES,
  type ResourceType,
} from "../../src/kube/object/resource.ts";
import { repackSubsets } from "../../src/kube/object/endpoints/subsets.ts";
import type { EndpointSubset, KubeObject, StringMap } from "../../src/kube/object/types.ts";
import { readCopyMarkers } from "../../src/engine/translate/identity.ts";
import { isMarkerKey, readMarkers } from "../../src/engine/translate/markers.ts";
import type { StoryObject, StoryObjects } from "./scenario.ts";

/** One of the two clusters. */
export type Side = "tenant" | "host";

/** How the copies of a story's engine are marked. */
export interface Marks {
  readonly vcluster: { readonly name: string; readonly namespace: string };
  readonly prefix: string;
}

/** Kinds that stories speak of. */
export const KINDS: readonly ResourceType[] = [SERVICES, ENDPOINTS, ENDPOINT_SLICES, NAMESPACES, SECRETS, CONFIG_MAPS];

/** Kinds that references name. */
export const REFERENCED_KINDS: readonly ResourceType[] = [SECRETS, CONFIG_MAPS];

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
 * objects of the other cluster, which copies are of.
 */
export function seenObject(
  object: KubeObject,
  about: { side: Side; marks: Marks; uids: ReadonlyMap<string, string>; wanted: StoryObject },
): StoryObject {
  const ours = isCopy(object, about);
  // Slices that the host mirrors inherit the markers of Endpoints; that these make nothing ours shows in the missing copyOf.
  const unmarked = ours || object.kind === ENDPOINT_SLICES.kind;
  const shows = (key: string) => !isStamp(key, about) && (!unmarked || !isMarkerKey(about.marks.prefix, key));
  const own = (map: StringMap | undefined) => Object.fromEntries(Object.entries(map ?? {}).filter(([key]) => shows(key)));
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

/** The engine's marks on a tenant object about accepted host edits. */
function isStamp(key: string, { side, marks }: { side: Side; marks: Marks }): boolean {
  return side === "tenant" && key === `${marks.prefix}flowed`;
}

/** In the tenant cluster only what references name can be a copy, and markers say that. */
function isCopy(object: KubeObject, { side, marks }: { side: Side; marks: Marks }): boolean {
  if (side === "host") {
    const { name, namespace } = marks.vcluster;
    const source = readCopyMarkers(marks.prefix, object, object);
    return source?.vcluster === name && (source.vclusterNamespace ?? namespace) === namespace;
  }
  return readMarkers(marks.prefix, object) !== undefined && REFERENCED_KINDS.some(({ kind }) => kind === object.kind);
}

function sourceOf(object: KubeObject, { side, marks, uids }: { side: Side; marks: Marks; uids: ReadonlyMap<string, string> }): string {
  const source = readMarkers(marks.prefix, object)!;
  const key = formatKey(side === "host" ? source : { namespace: source.hostNamespace, name: source.hostName });
  const uid = uids.get(`${object.kind} ${key}`);
  return uid === undefined || uid === source.uid ? key : `${key}, an earlier one`;
}

function bodyOf(object: KubeObject, wanted: StoryObject): Record<string, unknown> {
  if (object.kind === ENDPOINTS.kind) return { subsets: repackSubsets((object["subsets"] ?? []) as EndpointSubset[]) };
  if (object.kind === ENDPOINT_SLICES.kind) return sliceBody(object);
  if (REFERENCED_KINDS.some(({ kind }) => kind === object.kind)) return dataBody(object);
  return wanted?.["spec"] === undefined ? {} : { spec: named(object["spec"], wanted["spec"]) };
}

/** Data as texts, and the type if it says something. */
function dataBody({ kind, data = {}, stringData = {}, binaryData, type, immutable }: StoryBody): Record<string, unknown> {
  const read = (value: unknown) => (kind === SECRETS.kind ? Buffer.from(String(value), "base64").toString() : value);
  const texts = Object.entries(data as object).map(([key, value]) => [key, read(value)] as const);
  const all = { ...Object.fromEntries(texts), ...(stringData as object) };
  return { data: all, binaryData, type: type === "Opaque" ? undefined : type, immutable };
}

/** Endpoints and ports as sets, without what says nothing. */
function sliceBody({ addressType = "IPv4", endpoints, ports }: StoryBody): Record<string, unknown> {
  const sorted = (list: unknown, change: (item: Record<string, unknown>) => Record<string, unknown>) =>
    ((list ?? []) as Record<string, unknown>[])
      .map((item) => tidy(change(item)))
      .sort((a, b) => (canonicalJson(a) < canonicalJson(b) ? -1 : 1));
  return {
    addressType,
    endpoints: sorted(endpoints, (endpoint) => endpoint),
    ports: sorted(ports, ({ name, protocol, ...port }) => ({ ...port, name: name || undefined, protocol: protocol ?? "TCP" })),
  };
}

type StoryBody = Readonly<Record<string, unknown>>;

/** The parts of `value` that `wanted` names; null for missing ones. */
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
      const { type } = parseId(id);
      const repacked = type === ENDPOINTS && { subsets: repackSubsets(subsets as EndpointSubset[]) };
      const { stringData: _written, ...shown } = {
        ...rest,
        ...(REFERENCED_KINDS.includes(type) && dataBody({ kind: type.kind, ...rest })),
      };
      return [id, tidy({ ...shown, ...repacked, ...(type === ENDPOINT_SLICES && sliceBody(rest)) })];
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

/** Names that a cluster generated, and how stories write them: `web-*`. */
export type GeneratedNames = ReadonlyMap<string, string>;

/** The names that the API server generated for these objects. Two of one beginning are more than a story can tell apart. */
export function generatedNames(objects: readonly KubeObject[]): GeneratedNames {
  const names = new Map<string, string>();
  for (const { metadata } of objects) {
    if (!metadata.generateName) continue;
    const written = `${metadata.generateName}*`;
    if ([...names.values()].includes(written)) throw new Error(`Two generated names would be ${written}`);
    names.set(metadata.name!, written);
  }
  return names;
}

/** The same state with each name that `names` has replaced by what it stands for there, wherever it is. */
export function withWrittenNames<State>(state: State, names: GeneratedNames): State {
  let text = JSON.stringify(state);
  for (const [name, written] of names) text = text.replaceAll(name, written);
  return JSON.parse(text) as State;
}
