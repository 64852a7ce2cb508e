/**
 * Content of the copy of a referenced object. Its body is the source's. Labels and annotations are the source's too; those
 * that other writers add to the copy stay: the base distinguishes them from the engine's own.
 *
 * @module
 */
import { isRecord, jsonEqual } from "../../../base/json.ts";
import type { KubeObject, OwnerReference, StringMap } from "../../../kube/object/types.ts";
import { formatKind, isMarkerKey, readMarkers, writeMarkers } from "../../translate/markers.ts";
import { digestPair, readBase, writeBase, type Base, type FieldId } from "../agreement/base.ts";
import { withoutKeys } from "../rules/excluded-keys.ts";
import { missingOwner, ownedBy } from "../copy/host-copy.ts";
import type { ReferenceRules, SourcedInput } from "./reference-rules.ts";

/** Content of a copy without markers. */
export interface DesiredCopy {
  readonly labels: StringMap;
  readonly annotations: StringMap;
  readonly body: Readonly<Record<string, unknown>>;
}

/** An existing copy and its desired content. */
export interface CopyPair {
  readonly target: KubeObject;
  readonly desired: DesiredCopy;
}

/** Returns the content of an object except metadata and status, without empty maps. */
export function bodyOf(object: KubeObject): Record<string, unknown> {
  const {
    apiVersion: _apiVersion,
    kind: _kind,
    metadata: _metadata,
    status: _status,
    ...body
  } = object as KubeObject & { status?: unknown };
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined && !isEmptyMap(value)));
}

function isEmptyMap(value: unknown): boolean {
  return isRecord(value) && Object.keys(value).length === 0;
}

/** Returns the desired content of the copy of a source. */
export function desiredCopy({ translator, excluded }: ReferenceRules, { kind, source }: SourcedInput): DesiredCopy {
  const { labels = {}, annotations = {} } = source.metadata;
  const kept = withoutKeys(labels, excluded);
  return {
    labels: kind.direction === "toHost" ? translator.labels(kept) : translator.tenantLabels(kept),
    annotations: withoutKeys(annotations, (key) => excluded(key) || isMarkerKey(translator.markerPrefix, key)),
    body: bodyOf(source),
  };
}

/** Returns a new copy, with markers, base and owner. */
export function newCopy(rules: ReferenceRules, input: SourcedInput, desired: DesiredCopy): KubeObject {
  const { kind, key, hostKey } = input;
  const { apiVersion, kind: name } = kind.resource;
  const place = kind.direction === "toHost" ? hostKey : key;
  const empty: KubeObject = { apiVersion, kind: name, metadata: { namespace: place.namespace, name: place.name } };
  return refreshedCopy(rules, input, { target: empty, desired });
}

/** Returns the copy with its owner, updated to the content of the source. */
export function refreshedCopy(rules: ReferenceRules, input: SourcedInput, { target, desired }: CopyPair): KubeObject {
  const prefix = rules.translator.markerPrefix;
  const before = readBase(prefix, target) ?? new Map<FieldId, string>();
  const markers = markersOf(rules, input);
  const merged = (map: "labels" | "annotations") => {
    const written = (key: string) => before.has(`${map}/${key}`);
    return { ...withoutKeys(target.metadata[map] ?? {}, written), ...desired[map] };
  };
  const { apiVersion, kind, metadata, status } = ownedBy(target, ownerOf(input)) as KubeObject & { status?: unknown };
  return {
    apiVersion,
    kind,
    metadata: {
      ...metadata,
      labels: { ...merged("labels"), ...markers.labels },
      annotations: { ...merged("annotations"), ...markers.annotations, ...writeBase(prefix, baseOf(desired)) },
    },
    ...desired.body,
    ...(status !== undefined && { status }),
  };
}

/** Returns the owner of the copy. Copies in the tenant cluster have none: the owner is an object on the host. */
function ownerOf({ kind, owner }: SourcedInput): OwnerReference | undefined {
  return kind.direction === "toHost" ? owner : undefined;
}

function markersOf({ translator, clusterUid }: ReferenceRules, { kind, key, hostKey, source }: SourcedInput) {
  const { uid = "", resourceVersion } = source.metadata;
  return writeMarkers(translator.markerPrefix, {
    vcluster: translator.vcluster.name,
    vclusterNamespace: translator.vcluster.namespace,
    kind: formatKind(kind.resource),
    ...key,
    uid,
    hostName: hostKey.name,
    hostNamespace: hostKey.namespace,
    ...(resourceVersion !== undefined && { resourceVersion }),
    ...(clusterUid !== undefined && { clusterUid }),
  });
}

/** Returns the base, which records our labels and annotations. It contains nothing of the body, not even a digest, because of Secrets. */
function baseOf({ labels, annotations }: DesiredCopy): Base {
  const entries = (map: "labels" | "annotations", values: StringMap) =>
    Object.entries(values).map(([key, value]): [FieldId, string] => [`${map}/${key}`, digestPair(`${map}/${key}`, value, value)]);
  return new Map([...entries("labels", labels), ...entries("annotations", annotations)]);
}

/** Returns how to bring a copy to its desired content; `recreate` if an update cannot do it. */
export function differsFrom(rules: ReferenceRules, input: SourcedInput, { target, desired }: CopyPair): "none" | "update" | "recreate" {
  const body = bodyOf(target);
  const bodyDiffers = !jsonEqual(body, desired.body);
  if (bodyDiffers && (target["immutable"] === true || body["type"] !== desired.body["type"])) return "recreate";
  const prefix = rules.translator.markerPrefix;
  const base = readBase(prefix, target) ?? new Map<FieldId, string>();
  const agrees =
    !bodyDiffers &&
    readMarkers(prefix, target)?.uid === (input.source.metadata.uid ?? "") &&
    missingOwner(target, ownerOf(input)) === undefined &&
    sameEntries(base, baseOf(desired)) &&
    (["labels", "annotations"] as const).every((map) => contains(target.metadata[map] ?? {}, desired[map]));
  return agrees ? "none" : "update";
}

function sameEntries(left: Base, right: Base): boolean {
  return left.size === right.size && [...left].every(([id, text]) => right.get(id) === text);
}

function contains(map: StringMap, part: StringMap): boolean {
  return Object.entries(part).every(([key, value]) => Object.hasOwn(map, key) && map[key] === value);
}
