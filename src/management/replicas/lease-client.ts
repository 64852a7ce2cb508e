import { delay, type Clock } from "../../base/clock.ts";
import { groupOf, type ResourceType } from "../../kube/object/resource.ts";
import type { ClusterClient } from "../../kube/object/cluster-client.ts";
import type { ObjectKey } from "../../kube/object/key.ts";
import { alreadyExists, conflict, MODIFIED, unavailable } from "../../apiserver/types/status.ts";
import type { Store } from "../../apiserver/store/store.ts";
import { INTERNAL_PREFIX } from "../records/internal-records.ts";

/** The part of a cluster client that an election needs. */
export type LeaseClient = Pick<ClusterClient, "get" | "create" | "update">;

/** Options of {@link createLeaseClient}. */
export interface LeaseClientOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Longest time for one call, in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * Keeps Leases in the server's own store, separate from the objects that clients see. A call that takes too long fails; its write may
 * still happen afterwards, and the next call detects that by a conflict.
 */
export function createLeaseClient({ store, clock, timeoutMs }: LeaseClientOptions): LeaseClient {
  const inTime = async <T>(call: Promise<T>): Promise<T> => {
    const over = new AbortController();
    const late = delay(clock, timeoutMs, over.signal).then(() => {
      throw unavailable(`the store did not respond within ${timeoutMs} ms`);
    });
    // A rejection of the promise that lost the race must not go unhandled.
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
