import type { EmbeddedCluster } from "../../../../src/cluster/cluster.ts";
import type { ObjectKey } from "../../../../src/kube/object/key.ts";
import { ENDPOINTS, type ResourceType } from "../../../../src/kube/object/resource.ts";
import { createCacheByHand, EMPTY_CACHE } from "../../../support/cache-by-hand.ts";

/** A cache of Endpoints that learns of an object only when `look` is called, and the cluster's client as its writer. */
export function lateAccess({ client }: EmbeddedCluster) {
  const { source, show: put } = createCacheByHand();
  const look = async (key: ObjectKey) => put(key, await client.get(ENDPOINTS, key));
  return { writer: client, source: (type: ResourceType) => (type === ENDPOINTS ? source : EMPTY_CACHE), put, look };
}
