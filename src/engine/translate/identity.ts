/**
 * Ownership of copies. A virtual cluster is identified by its name, its host namespace and the uid of its tenant cluster: names
 * alone are not unique on a host, because two host namespaces may contain virtual clusters with the same name.
 *
 * @module
 */
import type { ResourceType } from "../../kube/object/resource.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { formatKind, readMarkers, type CopySource } from "./markers.ts";
import type { Translator } from "./translator.ts";

/** The identity of one virtual cluster, as far as it is known. The rules of a configuration contain it. */
export interface VClusterIdentity {
  readonly translator: Pick<Translator, "vcluster" | "markerPrefix" | "hostNamespace" | "targetNamespaces">;
  /** uid of the tenant cluster's `kube-system` namespace; undefined while it is not known, and then it is not compared. */
  readonly clusterUid?: string | undefined;
  /** uid of an earlier tenant cluster of this virtual cluster, whose copies count as ours. */
  readonly adoptCluster?: string | undefined;
}

/**
 * The owner of a copy. `former`: this virtual cluster, with a tenant cluster other than the present one. `foreign`: another virtual
 * cluster, even if it has the same name.
 */
export type Whose = "ours" | "former" | "foreign";

/**
 * Returns the owner of a copy with these markers. Copies of earlier versions do not name the host namespace of their virtual cluster:
 * for these copies, the uid of the tenant cluster determines the owner or, without a uid to compare, the namespace of the copy.
 *
 * @example
 * whose({ translator, clusterUid: "4f0c" }, { ...source, vclusterNamespace: "another-namespace" }); // "foreign"
 */
export function whose(identity: VClusterIdentity, source: CopySource): Whose {
  const { name, namespace } = identity.translator.vcluster;
  const said = source.vclusterNamespace;
  if (source.vcluster !== name || (said !== undefined && said !== namespace)) return "foreign";
  const uid = identity.clusterUid === undefined ? undefined : source.clusterUid;
  const sameCluster = uid !== undefined && (uid === identity.clusterUid || uid === identity.adoptCluster);
  if (uid !== undefined && !sameCluster) return said !== undefined || isInOurPlace(identity, source) ? "former" : "foreign";
  return said !== undefined || sameCluster || isInOurPlace(identity, source) ? "ours" : "foreign";
}

/** Reports whether copies of this virtual cluster can be in the host namespace that the markers name. */
function isInOurPlace({ translator }: VClusterIdentity, { namespace, hostNamespace }: CopySource): boolean {
  if (hostNamespace === translator.vcluster.namespace || hostNamespace === translator.hostNamespace(namespace)) return true;
  const targets = translator.targetNamespaces();
  return targets !== "all" && targets.includes(hostNamespace);
}

/**
 * Reads the markers of a host object if they name its own kind, name and namespace, whichever syncer made it. An object that merely
 * inherited the markers of another one is not a copy.
 */
export function readCopyMarkers(
  prefix: string,
  object: KubeObject,
  resource: Pick<ResourceType, "apiVersion" | "kind">,
): CopySource | undefined {
  const source = readMarkers(prefix, object);
  const { name, namespace = "" } = object.metadata;
  const itself = source?.kind === formatKind(resource) && source.hostName === name && source.hostNamespace === namespace;
  return itself ? source : undefined;
}

/**
 * Reads the markers of a host object that this virtual cluster's syncer wrote; undefined for every other object.
 *
 * @example
 * ourMarkers(rules, host, ENDPOINTS)?.name; // "db"
 */
export function ourMarkers(
  identity: VClusterIdentity,
  object: KubeObject,
  resource: Pick<ResourceType, "apiVersion" | "kind">,
): CopySource | undefined {
  const source = readCopyMarkers(identity.translator.markerPrefix, object, resource);
  return source !== undefined && whose(identity, source) === "ours" ? source : undefined;
}

/** Reports whether this virtual cluster's syncer wrote a host object. */
export function isOurs(identity: VClusterIdentity, object: KubeObject, resource: Pick<ResourceType, "apiVersion" | "kind">): boolean {
  return ourMarkers(identity, object, resource) !== undefined;
}
