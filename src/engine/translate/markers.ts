/**
 * Markers identify our objects on the host. They name the virtual cluster of an object and the tenant object that it is a copy of.
 *
 * Two are labels, because label selectors find them; the rest are annotations, because annotations have no limit of 63
 * characters. Host controllers copy both onto objects they derive (a mirrored EndpointSlice has all annotations of its
 * Endpoints), so the markers also name kind, name and namespace of the object that carries them.
 *
 * Every user who may write a host object may write its markers: they distinguish our objects, but prove nothing.
 *
 * @module
 */
import type { ResourceType } from "../../kube/object/resource.ts";
import type { KubeObject, StringMap } from "../../kube/object/types.ts";
import { safeConcat } from "./name.ts";

/** The default prefix of marker keys. */
export const DEFAULT_MARKER_PREFIX = "sync.platform/";

/** Content of a host object's markers. */
export interface CopySource {
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
  /** Host namespace of the virtual cluster, which distinguishes it from others with its name. Earlier versions did not write it. */
  readonly vclusterNamespace?: string;
  /** uid of the tenant cluster's `kube-system` namespace, which identifies the tenant cluster. */
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
} as const satisfies Partial<Record<keyof CopySource, string>>;

const OPTIONAL = {
  vclusterNamespace: "vcluster-namespace",
  clusterUid: "cluster-uid",
  resourceVersion: "object-resource-version",
  configHash: "config-hash",
} as const satisfies Partial<Record<keyof CopySource, string>>;

/** A field of a source, and the key of its annotation. */
interface MarkerKey {
  readonly field: string;
  readonly key: string;
}

/** The keys of all markers below one prefix. */
interface MarkerKeys {
  readonly vcluster: string;
  readonly managedBy: string;
  readonly namespaceLabel: string;
  readonly required: readonly MarkerKey[];
  readonly optional: readonly MarkerKey[];
  /** The markers of each copy that was read: every event and every decision about a copy needs them, and cached objects do not change. */
  readonly read: WeakMap<KubeObject, CopySource>;
}

const keysByPrefix = new Map<string, MarkerKeys>();

/**
 * Returns the keys below a prefix from a cache: looking up a string that was just concatenated is many times slower than looking up a
 * stored one. There are few prefixes, because they come from settings.
 */
function keysBelow(prefix: string): MarkerKeys {
  const known = keysByPrefix.get(prefix);
  if (known !== undefined) return known;
  const below = (fields: Readonly<Record<string, string>>) =>
    Object.entries(fields).map(([field, key]) => ({ field, key: lasting(prefix + key) }));
  const keys = {
    vcluster: lasting(prefix + REQUIRED.vcluster),
    managedBy: lasting(prefix + MANAGED_BY),
    namespaceLabel: lasting(prefix + NAMESPACE),
    required: below(REQUIRED),
    optional: below(OPTIONAL),
    read: new WeakMap<KubeObject, CopySource>(),
  };
  keysByPrefix.set(prefix, keys);
  return keys;
}

/** Returns the same text in the form in which JavaScript engines store the keys of objects. */
function lasting(text: string): string {
  return Object.keys({ [text]: 0 })[0]!;
}

/** Label (below the prefix) with the virtual cluster's name; select by it to find all copies. */
export const MANAGED_BY = "managed-by";
/** Label (below the prefix) with the tenant namespace. */
export const NAMESPACE = "namespace";

/**
 * Annotation (below the prefix) in which the host's operator names a tenant object, as `NAMESPACE/NAME`: the one whose backends a host
 * Service should get, or the one that a host object (such as a Secret) is meant for. It is never synced.
 */
export const STANDS_FOR = "stands-for";

/**
 * Formats a kind as text: `v1/Endpoints`, `discovery.k8s.io/v1/EndpointSlice`.
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
export function writeMarkers(prefix: string, source: CopySource): { labels: Record<string, string>; annotations: Record<string, string> } {
  const keys = keysBelow(prefix);
  const annotations: Record<string, string> = {};
  for (const fields of [keys.required, keys.optional])
    for (const { field, key } of fields) {
      const value = source[field as keyof CopySource];
      if (value !== undefined) annotations[key] = value;
    }
  return { labels: { [keys.managedBy]: managedByValue(source.vcluster), [keys.namespaceLabel]: source.namespace }, annotations };
}

/** The value of the managed-by label. A label value has at most 63 characters, but a virtual cluster's name may have more. */
export function managedByValue(vcluster: string): string {
  return safeConcat(vcluster);
}

/** Reads the markers of `object`; undefined unless all of them are present and agree with each other. The object must not change. */
export function readMarkers(prefix: string, object: KubeObject): CopySource | undefined {
  const said = readMarkersInAnnotations(prefix, object);
  if (said === undefined) return undefined;
  const { managedBy, namespaceLabel } = keysBelow(prefix);
  const { labels = {} } = object.metadata;
  const isAgreed = own(labels, managedBy) === managedByValue(said.vcluster) && own(labels, namespaceLabel) === said.namespace;
  return isAgreed ? said : undefined;
}

/**
 * Reads the markers that an object has inherited, regardless of its labels, which others may have edited. The object must not change.
 *
 * @example
 * readMarkersInAnnotations("sync.platform/", slice)?.hostName; // "db-x-shop-x-blue"
 */
export function readMarkersInAnnotations(prefix: string, object: KubeObject): CopySource | undefined {
  const keys = keysBelow(prefix);
  const { annotations = {} } = object.metadata;
  // Most objects are not copies.
  if (own(annotations, keys.vcluster) === undefined) return undefined;
  const known = keys.read.get(object);
  if (known !== undefined) return known;
  const source = parseAnnotations(keys, annotations);
  if (source !== undefined) keys.read.set(object, source);
  return source;
}

function parseAnnotations(keys: MarkerKeys, annotations: StringMap): CopySource | undefined {
  const source: Record<string, string> = { vcluster: "", kind: "", namespace: "", name: "", uid: "", hostName: "", hostNamespace: "" };
  for (const { field, key } of keys.required) {
    const value = own(annotations, key);
    if (value === undefined) return undefined;
    source[field] = value;
  }
  for (const { field, key } of keys.optional) {
    const value = own(annotations, key);
    if (value !== undefined) source[field] = value;
  }
  return source["name"] === "" ? undefined : (source as unknown as CopySource);
}

function own(map: StringMap, key: string): string | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

const TRANSLATED_LABEL = "label-";

/**
 * Reports whether a label or annotation key is the engine's own. Every key below the prefix is, except translated label keys, whose values
 * belong to the tenant.
 */
export function isMarkerKey(prefix: string, key: string): boolean {
  return key.startsWith(prefix) && !key.startsWith(TRANSLATED_LABEL, prefix.length);
}
