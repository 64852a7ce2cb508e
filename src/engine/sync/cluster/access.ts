import type { EngineError } from "../../../base/errors.ts";
import type { ClusterClient, ListScope } from "../../../kube/object/cluster-client.ts";
import type { ObjectKey } from "../../../kube/object/key.ts";
import type { ObjectSource } from "../../../kube/object/object-source.ts";
import type { ResourceType } from "../../../kube/object/resource.ts";
import type { KubeObject } from "../../../kube/object/types.ts";

/** Writes to one cluster, and live reads where a cache is not enough. */
export type Writer = Pick<ClusterClient, "get" | "create" | "update" | "delete">;

/** The caches of one cluster. */
export interface ClusterCaches {
  /**
   * The cache of one kind. Must return the same source for the same kind every time. Throws or returns undefined for EndpointSlices if
   * there is no cache of them: `backends: auto` then copies only Endpoints.
   */
  source(resource: ResourceType): ObjectSource;
  /**
   * Returns a cache that follows one object, which may be absent, until the cache is stopped. It may contain other objects too. If omitted,
   * the cache of the whole kind is used; provide this for a client that is not allowed to read all Secrets.
   */
  follow?(resource: ResourceType, key: ObjectKey): FollowedSource;
}

/** A cache that its requester stops when it is no longer needed. */
export interface FollowedSource extends ObjectSource {
  stop(): Promise<void> | void;
}

/**
 * One cluster as the syncer sees it. An embedder passes in its own caches; nothing opens a second watch.
 */
export interface ClusterAccess extends ClusterCaches {
  readonly writer: Writer;
  /** Lists objects of one kind by label. If omitted, the cache of the whole kind is searched. */
  list?(resource: ResourceType, scope: ListScope): Promise<readonly KubeObject[]>;
  /**
   * Detects when another cluster answers in place of this one. If omitted, this is not detected; the syncer only verifies that an
   * object is gone before it deletes the copy.
   */
  readonly identity?: ClusterIdentity;
}

/** Reports whether the same cluster still answers. */
export interface ClusterIdentity {
  /**
   * Checks if there is a reason to, such as a broken connection.
   *
   * @throws CLUSTER_IDENTITY when another cluster answers.
   * @throws API_… if there is no answer.
   */
  verify(): Promise<void>;
  /** CLUSTER_IDENTITY from the time when another cluster has answered until the right one answers again. */
  readonly wrong: EngineError | undefined;
}

/** Follows one object: through a cache of its own or, if an embedder has none, through that of the whole kind. */
export function followOne(caches: ClusterCaches, resource: ResourceType, key: ObjectKey): FollowedSource {
  const followed = caches.follow?.(resource, key);
  if (followed !== undefined) return followed;
  const source = caches.source(resource);
  return {
    get: (wanted) => source.get(wanted),
    list: () => source.list(),
    onChange: (listener) => source.onChange(listener),
    expect: (object, written) => source.expect?.(object, written),
    relist: () => source.relist?.(),
    get synced() {
      return source.synced;
    },
    get current() {
      return source.current;
    },
    stop: () => {},
  };
}
