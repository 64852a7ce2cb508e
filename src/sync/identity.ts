import { EngineError, isEngineError } from "../base/errors.ts";
import { NAMESPACES } from "../object/resource.ts";
import type { Rules } from "../reconcile/rules.ts";
import { isOurs, readMarkers } from "../translate/markers.ts";
import type { ClusterAccess, Writer } from "./access.ts";

/** The object whose uid tells one cluster from another: no cluster is without it, and it is never made anew. */
export const CLUSTER_NAMESPACE = { namespace: "", name: "kube-system" } as const;

/** The uid that tells the tenant cluster from others; `undefined` when it can not be seen. */
export async function readClusterUid(tenant: Pick<Writer, "get">): Promise<string | undefined> {
  try {
    return (await tenant.get(NAMESPACES, CLUSTER_NAMESPACE))?.metadata.uid;
  } catch (error) {
    // Without this permission everything works but the check that the tenant cluster is the same as before.
    if (isEngineError(error, "API_FORBIDDEN")) return undefined;
    throw error;
  }
}

/**
 * Refuses to go on when the copies on the host came from another tenant cluster: every one of them would look like an orphan.
 *
 * @throws CLUSTER_IDENTITY when a copy names another cluster.
 */
export function checkIdentity(host: ClusterAccess, rules: readonly Rules[], clusterUid: string): void {
  for (const { kind, translator } of rules) {
    for (const object of host.source(kind.resource).list()) {
      if (!isOurs(translator.markerPrefix, translator.vcluster.name, object, kind.resource)) continue;
      const recorded = readMarkers(translator.markerPrefix, object)?.clusterUid;
      if (recorded === undefined || recorded === clusterUid) continue;
      throw new EngineError(
        "CLUSTER_IDENTITY",
        `Cannot start: the copies of "${translator.vcluster.name}" on the host came from cluster ${recorded}, and the tenant cluster is ${clusterUid}`,
      );
    }
  }
}
