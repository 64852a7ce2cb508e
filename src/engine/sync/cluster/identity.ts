import { EngineError, isEngineError } from "../../../base/errors.ts";
import { NAMESPACES } from "../../../kube/object/resource.ts";
import type { Rules } from "../../reconcile/rules/rules.ts";
import { readCopyMarkers, whose } from "../../translate/identity.ts";
import type { CopySource } from "../../translate/markers.ts";
import type { ClusterCaches, Writer } from "./access.ts";

/** The object whose uid identifies a cluster: every cluster has it, and it is never recreated. */
export const CLUSTER_NAMESPACE = { namespace: "", name: "kube-system" } as const;

/** Reads the uid that identifies a cluster; `undefined` if it cannot be read. */
export async function readClusterUid(cluster: Pick<Writer, "get">): Promise<string | undefined> {
  try {
    return (await cluster.get(NAMESPACES, CLUSTER_NAMESPACE))?.metadata.uid;
  } catch (error) {
    // Without this permission, everything works except the checks of identity.
    if (isEngineError(error, "API_FORBIDDEN")) return undefined;
    throw error;
  }
}

/** Both clusters, with the uid of the host cluster; undefined if it cannot be read. */
export interface CheckedClusters {
  readonly tenant: ClusterCaches;
  readonly host: ClusterCaches;
  readonly hostUid: string | undefined;
}

/**
 * Refuses to continue if the tenant cluster is not the one that the copies on the host came from: all of these copies would look like
 * orphans. Copies of another virtual cluster of the same name are ignored.
 *
 * @throws CLUSTER_IDENTITY when copies of this virtual cluster name another tenant cluster, or when the clusters are swapped.
 */
export function checkIdentity({ tenant, host, hostUid }: CheckedClusters, rules: readonly Rules[]): void {
  if (hostUid !== undefined) refuseSwapped(tenant, rules, hostUid);
  const former = rules.flatMap((rule) => copiesIn(host, rule).filter((source) => whose(rule, source) === "former"));
  const [first] = former;
  if (first === undefined) return;
  const { translator, clusterUid } = rules[0]!;
  const { name, namespace } = translator.vcluster;
  const uid = first.clusterUid!;
  const count = former.filter((source) => source.clusterUid === uid).length;
  const message = `Cannot start: ${count} copies of "${name}" in namespace "${namespace}" on the host are from tenant cluster ${uid}, but the tenant cluster is now ${clusterUid}`;
  const hint =
    `If the tenant kubeconfig names the wrong cluster, correct it. If this virtual cluster was rebuilt, stop the syncer of the old one, then start this one with --adopt-cluster ${uid}: ` +
    `those ${count} copies are then kept up to date, and deleted if the rebuilt cluster has no such object`;
  throw new EngineError("CLUSTER_IDENTITY", message, { details: { hint, clusterUid: uid } });
}

/** Refuses to continue if the tenant contains copies that were made from the host: the clusters are swapped. */
function refuseSwapped(tenant: ClusterCaches, rules: readonly Rules[], hostUid: string): void {
  const copies = rules.flatMap((rule) => copiesIn(tenant, rule).filter(({ clusterUid }) => clusterUid === hostUid));
  const [first] = copies;
  if (first === undefined) return;
  const example = `${first.kind} ${first.hostNamespace}/${first.hostName}`;
  const message = `Cannot start: the tenant cluster contains ${copies.length} copies that were made from the host cluster, for example ${example}`;
  const hint = "The clusters are swapped: swap the files of --tenant-kubeconfig and --host-kubeconfig";
  throw new EngineError("CLUSTER_IDENTITY", message, { details: { hint } });
}

function copiesIn(cluster: ClusterCaches, { kind: { resource }, translator }: Rules): CopySource[] {
  const objects = cluster.source(resource).list();
  return objects.flatMap((object) => readCopyMarkers(translator.markerPrefix, object, resource) ?? []);
}
