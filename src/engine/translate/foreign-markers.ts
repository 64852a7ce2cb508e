/**
 * Markers of other syncers, or of this one under a different prefix. The product that maintained the copies before writes the same facts
 * under its own keys.
 *
 * @module
 */
import type { ResourceType } from "../../kube/object/resource.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { formatKind, managedByValue, MANAGED_BY, NAMESPACE } from "./markers.ts";

/** Source of a host object according to another syncer's markers. */
export interface ForeignSource {
  /** Prefix of its keys, including the slash at the end. */
  readonly prefix: string;
  /** Namespace, name and uid of the tenant object. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Prefix of the product of this family that most hosts have. All keys with this prefix belong to that product. */
const FIRST_OF_FAMILY = "vcluster.loft.sh/";

const FAMILY_KEY = /^[^/]+\/(?:object-(?:name|namespace|uid|kind|host-name|host-namespace)|stands-for)$/;

/**
 * Reports whether syncers of this family use a label or annotation key, under any prefix, to recognize their objects, or the host's
 * operator uses it to instruct them. A tenant's values under such a key must not determine the owner of an object on the host.
 *
 * @example
 * isSyncerKey("a.io/object-name"); // true
 */
export function isSyncerKey(key: string): boolean {
  return key.startsWith(FIRST_OF_FAMILY) || FAMILY_KEY.test(key);
}

/** The annotation that every syncer of this family writes below its prefix. */
const NAME_KEY = /^([^/]+\/)object-name$/;

/** Reports whether an object carries markers of any syncer, regardless of their content. */
export function isMarkedBySyncer({ metadata: { annotations = {} } }: KubeObject): boolean {
  return Object.keys(annotations).some((key) => NAME_KEY.test(key));
}

const KIND_KEY = /^[^/]+\/object-kind$/;

/** Reports whether a marker of any syncer names a kind other than this one, regardless of the other markers. */
export function isMarkedAsOther({ kind }: Pick<ResourceType, "kind">, { metadata: { annotations = {} } }: KubeObject): boolean {
  return Object.entries(annotations).some(([key, value]) => KIND_KEY.test(key) && !value.endsWith(kind));
}

/** Reports whether an object carries at least one marker that names a virtual cluster other than this one. */
export function namesAnotherCluster(
  { metadata: { labels = {}, annotations = {} } }: KubeObject,
  { vcluster, ownPrefix }: { readonly vcluster: string; readonly ownPrefix: string },
): boolean {
  const differs = (said: string | undefined, own: string) => said !== undefined && said !== own;
  return (
    [FIRST_OF_FAMILY, ownPrefix].some((prefix) => differs(labels[prefix + MANAGED_BY], managedByValue(vcluster))) ||
    differs(annotations[`${ownPrefix}vcluster`], vcluster)
  );
}

/**
 * Reads the markers of other syncers that name this virtual cluster, the object's kind and the object itself: an object that merely
 * inherited them is not a copy. All markers of one prefix must be present and agree. A syncer that copies annotations may also have copied
 * markers that a tenant wrote, so the markers of the family's first product come first in the result.
 *
 * @example
 * readForeignMarkers(copy, { vcluster: "blue", resource: ENDPOINTS, ownPrefix: "sync.platform/" })[0]?.prefix; // "vcluster.loft.sh/"
 */
export function readForeignMarkers(
  object: KubeObject,
  about: { readonly vcluster: string; readonly resource: ResourceType; readonly ownPrefix: string },
): readonly ForeignSource[] {
  const prefixes = Object.keys(object.metadata.annotations ?? {}).flatMap((key) => NAME_KEY.exec(key)?.[1] ?? []);
  const foreign = prefixes.filter((prefix) => prefix !== about.ownPrefix);
  if (foreign.length === 0) return NOTHING;
  const sources = foreign.flatMap((prefix) => readUnder(prefix, object, about) ?? []);
  return sources.sort((left, right) => Number(right.prefix === FIRST_OF_FAMILY) - Number(left.prefix === FIRST_OF_FAMILY));
}

const NOTHING: readonly ForeignSource[] = [];

function readUnder(
  prefix: string,
  object: KubeObject,
  { vcluster, resource }: { readonly vcluster: string; readonly resource: ResourceType },
): ForeignSource | undefined {
  const { labels = {}, annotations = {}, name = "", namespace = "" } = object.metadata;
  const said = (key: string) => (Object.hasOwn(annotations, prefix + key) ? annotations[prefix + key] : undefined);
  const source = { prefix, namespace: said("object-namespace"), name: said("object-name"), uid: said("object-uid") };
  const agrees =
    labels[prefix + MANAGED_BY] === managedByValue(vcluster) &&
    labels[prefix + NAMESPACE] === source.namespace &&
    (said("vcluster") ?? vcluster) === vcluster &&
    kindTexts(resource).includes(said("object-kind") ?? "") &&
    (said("object-host-name") ?? name) === name &&
    (said("object-host-namespace") ?? namespace) === namespace;
  const { namespace: ofNamespace, name: ofName, uid } = source;
  return agrees && ofNamespace !== undefined && ofName !== undefined && uid !== undefined
    ? { prefix, namespace: ofNamespace, name: ofName, uid }
    : undefined;
}

/** A kind in the form that this syncer writes, and in the form in which Go prints a GroupVersionKind: `/v1, Kind=Endpoints`. */
function kindTexts({ apiVersion, kind }: ResourceType): readonly string[] {
  const groupVersion = apiVersion.includes("/") ? apiVersion : `/${apiVersion}`;
  return [formatKind({ apiVersion, kind }), `${groupVersion}, Kind=${kind}`];
}
