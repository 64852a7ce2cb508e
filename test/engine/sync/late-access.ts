import type { EmbeddedCluster } from "../../../src/cluster/cluster.ts";
import { formatKey } from "../../../src/kube/object/key.ts";
import type { ObjectKey } from "../../../src/kube/object/key.ts";
import type { ObjectSource } from "../../../src/kube/object/object-source.ts";
import { ENDPOINTS } from "../../../src/kube/object/resource.ts";
import type { ResourceType } from "../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";

/** A cache of Endpoints that learns of an object only when `look` is called, and the cluster's client as its writer. */
export function lateAccess({ client }: EmbeddedCluster) {
  const objects = new Map<string, KubeObject>();
  const listeners = new Set<(key: ObjectKey) => void>();
  const filled: ObjectSource = {
    get: (key) => objects.get(formatKey(key)),
    list: () => [...objects.values()],
    onChange: (listener) => (listeners.add(listener), () => void listeners.delete(listener)),
    synced: true,
    current: true,
  };
  const empty: ObjectSource = { ...filled, get: () => undefined, list: () => [], onChange: () => () => {} };
  const put = (key: ObjectKey, object: KubeObject | undefined) => {
    if (object === undefined) objects.delete(formatKey(key));
    else objects.set(formatKey(key), object);
    for (const listener of listeners) listener(key);
  };
  const look = async (key: ObjectKey) => put(key, await client.get(ENDPOINTS, key));
  return { writer: client, source: (type: ResourceType) => (type === ENDPOINTS ? filled : empty), put, look };
}
