import { delay } from "../../base/clock.ts";
import type { Clock } from "../../base/clock.ts";
import { groupOf } from "../../kube/object/resource.ts";
import type { ResourceType } from "../../kube/object/resource.ts";
import type { ClusterClient } from "../../kube/object/cluster-client.ts";
import type { ObjectKey } from "../../kube/object/key.ts";
import { alreadyExists, conflict, MODIFIED, unavailable } from "../../apiserver/types/status.ts";
import type { Store } from "../../apiserver/store/store.ts";
import { INTERNAL_PREFIX } from "../records/internal-records.ts";

/** What an election needs of a cluster. */
export type LeaseClient = Pick<ClusterClient, "get" | "create" | "update">;

/** What Leases are kept in. */
export interface LeaseClientOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Longest time for one call, in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * Leases in a store of our own, beside the objects that clients see. A call that takes too long fails; what it wanted may still happen
 * then, and the next call finds out by its conflict.
 */
export function createLeaseClient({ store, clock, timeoutMs }: LeaseClientOptions): LeaseClient {
  const inTime = async <T>(call: Promise<T>): Promise<T> => {
    const over = new AbortController();
    const late = delay(clock, timeoutMs, over.signal).then(() => {
      throw unavailable(`the store did not answer within ${timeoutMs} ms`);
    });
    // Whichever is not waited for any more must not fail unheard.
    late.catch(() => {});
    call.catch(() => {});
    try {
      return await Promise.race([call, late]);
    } finally {
      over.abort();
    }
  };
  return {
    get: async (type, key) => (await inTime(store.get(storeKeyOf(type, key))))?.object,
    async create(type, object) {
      const { name = "", namespace = "" } = object.metadata;
      const stored = await inTime(store.create(storeKeyOf(type, { name, namespace }), object));
      if (stored === undefined) throw alreadyExists(type, name);
      return stored.object;
    },
    async update(type, object) {
      const { name = "", namespace = "", resourceVersion } = object.metadata;
      const stored = await inTime(store.update(storeKeyOf(type, { name, namespace }), object, Number(resourceVersion)));
      if (stored === undefined) throw conflict(type, name, MODIFIED);
      return stored.object;
    },
  };
}

function storeKeyOf(type: ResourceType, { namespace, name }: ObjectKey): string {
  return `${INTERNAL_PREFIX}${groupOf(type)}/${type.plural}/${namespace}/${name}`;
}
