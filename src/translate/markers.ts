/**
 * Markers make a host object ours. They say which virtual cluster it belongs to and which tenant object it is a copy of.
 *
 * Two are labels, because label selectors find them; the rest are annotations, because annotations have no limit of 63
 * characters. Host controllers copy both onto objects they derive (a mirrored EndpointSlice has all annotations of its
 * Endpoints), so the markers also name kind, name and namespace of the object that carries them.
 *
 * Anybody who may write the host object may write its markers: they tell our objects from others, they prove nothing.
 *
 * @module
 */
import type { ResourceType } from "../object/resource.ts";
import type { KubeObject, StringMap } from "../object/types.ts";
import { safeConcat } from "./name.ts";

/** Where marker keys live, unless a setting says otherwise. */
export const DEFAULT_MARKER_PREFIX = "sync.platform/";

/** What the markers of a host object say. */
export interface Source {
  /** Name of the virtual cluster. */
  readonly vcluster: string;
  /** Kind of both objects, as {@link formatKind} writes it. */
  readonly kind: string;
  /** Namespace of the tenant object. */
  readonly namespace: string;
  /** Name of the tenant object. */
  readonly name: string;
  /** uid of the tenant object; "" when the tenant cluster gave it none. */
  readonly uid: string;
  /** Name of the host object itself. */
  readonly hostName: string;
  /** Namespace of the host object itself. */
  readonly hostNamespace: string;
  /** uid of the tenant cluster's `kube-system` namespace, which tells one tenant cluster from another. */
  readonly clusterUid?: string;
  /** resourceVersion of the tenant object at the last real change. */
  readonly resourceVersion?: string;
  /** Hash of the configuration at the last real change. */
  readonly configHash?: string;
}

/** Annotation (below the prefix) of each field. */
const REQUIRED = {
  vcluster: "vcluster",
  kind: "object-kind",
  namespace: "object-namespace",
  name: "object-name",
  uid: "object-uid",
  hostName: "object-host-name",
  hostNamespace: "object-host-namespace",
} as const satisfies Partial<Record<keyof Source, string>>;

const OPTIONAL = {
  clusterUid: "cluster-uid",
  resourceVersion: "object-resource-version",
  configHash: "config-hash",
} as const satisfies Partial<Record<keyof Source, string>>;

/** Label (below the prefix) with the virtual cluster's name; select by it to find all copies. */
export const MANAGED_BY = "managed-by";
/** Label (below the prefix) with the tenant namespace. */
export const NAMESPACE = "namespace";

/**
 * A kind as text: `v1/Endpoints`, `discovery.k8s.io/v1/EndpointSlice`.
 *
 * @example
 * formatKind({ apiVersion: "v1", kind: "Secret" }); // "v1/Secret"
 */
export function formatKind(kind: Pick<ResourceType, "apiVersion" | "kind">): string {
  return `${kind.apiVersion}/${kind.kind}`;
}

/**
 * The markers of a copy. `prefix` ends with a slash.
 *
 * @example
 * writeMarkers("sync.platform/", source).labels; // { "sync.platform/managed-by": "blue", "sync.platform/namespace": "shop" }
 */
export function writeMarkers(prefix: string, source: Source): { labels: Record<string, string>; annotations: Record<string, string> } {
  const annotations = Object.entries({ ...REQUIRED, ...OPTIONAL })
    .map(([field, key]) => [prefix + key, source[field as keyof Source]] as const)
    .filter((entry): entry is [string, string] => entry[1] !== undefined);
  return {
    labels: { [prefix + MANAGED_BY]: managedByValue(source.vcluster), [prefix + NAMESPACE]: source.namespace },
    annotations: Object.fromEntries(annotations),
  };
}

/** The value of the managed-by label: a label value has at most 63 characters, a virtual cluster's name may have more. */
export function managedByValue(vcluster: string): string {
  return safeConcat(vcluster);
}

/** What the markers of `object` say; undefined unless all of them are there and agree with each other. */
export function readMarkers(prefix: string, object: KubeObject): Source | undefined {
  const { labels = {}, annotations = {} } = object.metadata;
  const required = readFields(prefix, annotations, REQUIRED);
  if (Object.values(required).includes(undefined)) return undefined;
  const source = { ...required, ...withoutAbsent(readFields(prefix, annotations, OPTIONAL)) } as unknown as Source;
  const complete =
    source.name !== "" &&
    own(labels, prefix + MANAGED_BY) === managedByValue(source.vcluster) &&
    own(labels, prefix + NAMESPACE) === source.namespace;
  return complete ? source : undefined;
}

function readFields(prefix: string, annotations: StringMap, fields: Readonly<Record<string, string>>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(fields).map(([field, key]) => [field, own(annotations, prefix + key)]));
}

function withoutAbsent(fields: Record<string, string | undefined>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function own(map: StringMap, key: string): string | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

/**
 * Tells whether `object` is a copy that this virtual cluster's syncer wrote: its markers name the virtual cluster and the
 * object's own kind, name and namespace. An object that merely inherited the markers of another one is not ours.
 */
export function isOurs(prefix: string, vcluster: string, object: KubeObject, resource: Pick<ResourceType, "apiVersion" | "kind">): boolean {
  const source = readMarkers(prefix, object);
  return (
    source !== undefined &&
    source.vcluster === vcluster &&
    source.kind === formatKind(resource) &&
    source.hostName === object.metadata.name &&
    source.hostNamespace === (object.metadata.namespace ?? "")
  );
}

/**
 * Tells whether a label or annotation key is the engine's own. Everything below the prefix is, but translated label keys,
 * whose values belong to the tenant.
 */
export function isMarkerKey(prefix: string, key: string): boolean {
  return key.startsWith(prefix) && !key.startsWith(`${prefix}label-`);
}
