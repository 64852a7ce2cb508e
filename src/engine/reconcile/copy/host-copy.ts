import type { KubeObject, OwnerReference, StringMap } from "../../../kube/object/types.ts";
import { formatKind, isMarkerKey, writeMarkers, type CopySource } from "../../translate/markers.ts";
import { isAsWritten, readBase, writeBase, type Base, type ComparedField } from "../agreement/base.ts";
import { MANAGED_BY_CONTROLLER, TRIGGER_TIME, withoutKeys } from "../rules/excluded-keys.ts";
import type { CopyInput, Note, Plan } from "../plan-types.ts";
import type { Rules } from "../rules/rules.ts";
import type { HostBody } from "../convert/to-host.ts";

/** Parts of a copy. */
export interface CopyParts {
  readonly rules: Rules;
  /** Translated and patched, without markers. */
  readonly desired: KubeObject;
  readonly source: CopySource;
  readonly base: Base;
  readonly owner?: OwnerReference | undefined;
}

/** Returns a new copy: the desired object with its markers, its base and its owner. */
export function copyOf({ rules, desired, source, base, owner }: CopyParts): KubeObject {
  const prefix = rules.translator.markerPrefix;
  const markers = writeMarkers(prefix, source);
  return {
    ...desired,
    metadata: {
      ...desired.metadata,
      labels: { ...desired.metadata.labels, ...markers.labels },
      annotations: { ...desired.metadata.annotations, ...markers.annotations, ...writeBase(prefix, base) },
      ...(owner !== undefined && { ownerReferences: [owner] }),
    },
  };
}

/**
 * Writes `copy` over `host`: identity, owners and excluded keys stay; every other label and annotation comes from the copy, as do the
 * labels that the engine sets. The label of the host's own controller is dropped, because it would no longer be true.
 */
export function rebuiltCopy(rules: Rules, host: KubeObject, copy: KubeObject): KubeObject {
  const own = [MANAGED_BY_CONTROLLER, ...rules.kind.ownLabelKeys];
  const excluded = (key: string) => !rules.settings.excluded(key) || own.includes(key);
  const body = ownedBy(rules.kind.withBody(host, copy), copy.metadata.ownerReferences?.[0]);
  const { labels = {}, annotations = {} } = body.metadata;
  return {
    ...body,
    metadata: {
      ...body.metadata,
      labels: { ...withoutKeys(labels, excluded), ...copy.metadata.labels },
      annotations: { ...withoutKeys(annotations, excluded), ...copy.metadata.annotations },
    },
  };
}

/** Parts of the update of an existing copy. */
export interface UpdateParts extends CopyParts {
  readonly host: KubeObject;
  /** The parts that are written; all others stay as they are on the host. */
  readonly changed: readonly ComparedField[];
}

/** Returns the host object with the changed parts, and with the current markers, base and owner. */
export function updatedCopy({ rules, host, desired, changed, source, base, owner }: UpdateParts): KubeObject {
  const prefix = rules.translator.markerPrefix;
  const markers = writeMarkers(prefix, source);
  const body = ownedBy(changed.some(({ id }) => id === "body") ? rules.kind.withBody(host, desired) : host, owner);
  // The trigger time is copied only together with a real change.
  const stamp = desired.metadata.annotations?.[TRIGGER_TIME];
  return {
    ...body,
    metadata: {
      ...body.metadata,
      labels: { ...withChanged("labels", body.metadata.labels, changed), ...markers.labels },
      annotations: {
        ...withChanged("annotations", body.metadata.annotations, changed),
        ...(stamp !== undefined && { [TRIGGER_TIME]: stamp }),
        ...markers.annotations,
        ...writeBase(prefix, base),
      },
    },
  };
}

function withChanged(map: "labels" | "annotations", standing: StringMap = {}, changed: readonly ComparedField[]): StringMap {
  const values = changed.flatMap(({ id, desired }) => (id.startsWith(map) ? [[id.slice(map.length + 1), desired] as const] : []));
  // Most changes are of the body, or of one annotation.
  if (values.length === 0) return standing;
  const written = Object.fromEntries(values.filter(([, desired]) => desired !== undefined)) as StringMap;
  const gone = new Set(values.flatMap(([key, desired]) => (desired === undefined ? [key] : [])));
  return withoutKeys({ ...standing, ...written }, (key) => gone.has(key));
}

/** Returns the host object without the engine's markers and labels; everything else stays. */
export function strippedCopy(rules: Rules, host: KubeObject): KubeObject {
  const mine = (key: string) => isMarkerKey(rules.translator.markerPrefix, key);
  const base = readBase(rules.translator.markerPrefix, host) ?? new Map();
  const { labels = {}, annotations = {} } = host.metadata;
  const written = (key: string) => rules.kind.ownLabelKeys.includes(key) && isAsWritten(base, `labels/${key}`, labels[key]!);
  const kept = withoutKeys(labels, (key) => mine(key) || written(key));
  return { ...host, metadata: { ...host.metadata, labels: kept, annotations: withoutKeys(annotations, mine) } };
}

/** Returns the source that the markers of a copy record. */
export function copySourceOf(rules: Rules, { tenant, key, hostKey }: CopyInput): CopySource {
  const { resourceVersion, uid = "" } = tenant.metadata;
  return {
    vcluster: rules.translator.vcluster.name,
    vclusterNamespace: rules.translator.vcluster.namespace,
    kind: formatKind(rules.kind.resource),
    ...key,
    uid,
    hostName: hostKey.name,
    hostNamespace: hostKey.namespace,
    ...(resourceVersion !== undefined && { resourceVersion }),
    configHash: rules.configHash,
    ...(rules.clusterUid !== undefined && { clusterUid: rules.clusterUid }),
  };
}

/**
 * Returns the owners of a copy with `owner` in place of an earlier owner of the same kind and name, because a copy whose owners are gone is
 * garbage-collected. Undefined if the copy already has `owner`, or if `owner` is undefined.
 *
 * @example
 * missingOwner(copy, { apiVersion: "v1", kind: "Service", name: "blue", uid: "new" });
 */
export function missingOwner({ metadata }: KubeObject, owner: OwnerReference | undefined): readonly OwnerReference[] | undefined {
  const { ownerReferences = [] } = metadata;
  if (owner === undefined || ownerReferences.some(({ uid }) => uid === owner.uid)) return undefined;
  const isFormer = ({ apiVersion, kind, name }: OwnerReference) =>
    apiVersion === owner.apiVersion && kind === owner.kind && name === owner.name;
  return [...ownerReferences.filter((reference) => !isFormer(reference)), owner];
}

/** Returns the copy with `owner` among its owners; `copy` itself if it already has that owner. */
export function ownedBy<T extends KubeObject>(copy: T, owner: OwnerReference | undefined): T {
  const ownerReferences = missingOwner(copy, owner);
  return ownerReferences === undefined ? copy : { ...copy, metadata: { ...copy.metadata, ownerReferences } };
}

/** Reason why a field or annotation is not copied. */
export const WHY_LEFT_OUT = "the API server refuses it on a Service of the copy's type";

/** Returns the results of the conversion to the host, as parts of a plan. */
export function reported(wanted: HostBody): Pick<Plan, "outcomes" | "references" | "notes"> {
  const refused = wanted.refusedAddresses.map(({ ip, reason }): Note => ({
    code: "ADDRESS_REFUSED",
    message: `Address "${ip}" was left out: ${reason}`,
  }));
  const leftOut = wanted.leftOut.map((place): Note => ({
    code: "FIELD_LEFT_OUT",
    message: `${place} was left out: ${WHY_LEFT_OUT}`,
  }));
  const failed = wanted.outcomes.flatMap((outcome) =>
    (outcome.failures ?? []).map(({ code, message, place }): Note => ({ code, message: `${place}: ${message}` })),
  );
  return { outcomes: wanted.outcomes, references: wanted.references, notes: [...refused, ...leftOut, ...failed] };
}

/** Explains why the conversion to the host produced no object to write. */
export function rejection(wanted: HostBody): Note[] {
  const notes = reported(wanted).notes;
  return notes.length > 0
    ? [...notes]
    : [{ code: wanted.rejectedAs ?? "EXPRESSION_RESULT", message: `The object is not written: ${wanted.rejected}` }];
}
