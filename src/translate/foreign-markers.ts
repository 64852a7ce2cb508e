/**
 * Markers of other syncers, or of this one under another prefix: the product that kept copies here before writes the same facts
 * under keys of its own.
 *
 * @module
 */
import type { ResourceType } from "../object/resource.ts";
import type { KubeObject } from "../object/types.ts";
import { formatKind, managedByValue, MANAGED_BY, NAMESPACE } from "./markers.ts";

/** What another syncer's markers say about a host object. */
export interface ForeignSource {
  /** Where its keys live, with the slash at the end. */
  readonly prefix: string;
  /** Namespace, name and uid of the tenant object. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Every syncer of this family writes this annotation below its prefix. */
const NAME_KEY = /^([^/]+\/)object-name$/;

/**
 * What the markers of another syncer say, if they name this virtual cluster, the object's kind and the object itself: an object
 * that merely inherited them is nobody's copy. Undefined unless all of them are there and agree.
 *
 * @example
 * readForeignMarkers(copy, { vcluster: "blue", resource: ENDPOINTS, ownPrefix: "sync.platform/" })?.prefix; // "vcluster.loft.sh/"
 */
export function readForeignMarkers(
  object: KubeObject,
  about: { readonly vcluster: string; readonly resource: ResourceType; readonly ownPrefix: string },
): ForeignSource | undefined {
  for (const key of Object.keys(object.metadata.annotations ?? {})) {
    const prefix = NAME_KEY.exec(key)?.[1];
    if (prefix === undefined || prefix === about.ownPrefix) continue;
    const source = readUnder(prefix, object, about);
    if (source !== undefined) return source;
  }
  return undefined;
}

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

/** As this syncer writes a kind, and as Go prints a GroupVersionKind: `/v1, Kind=Endpoints`. */
function kindTexts({ apiVersion, kind }: ResourceType): readonly string[] {
  const groupVersion = apiVersion.includes("/") ? apiVersion : `/${apiVersion}`;
  return [formatKind({ apiVersion, kind }), `${groupVersion}, Kind=${kind}`];
}
