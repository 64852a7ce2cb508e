import type { EngineError } from "../../../base/errors.ts";
import type { ClusterClient, ListScope } from "../../../kube/object/cluster-client.ts";
import type { ObjectKey } from "../../../kube/object/key.ts";
import type { ObjectSource } from "../../../kube/object/object-source.ts";
import type { ResourceType } from "../../../kube/object/resource.ts";
import type { KubeObject } from "../../../kube/object/types.ts";

/** How the syncer writes to one cluster, and reads live where a cache will not do. */
export type Writer = Pick<ClusterClient, "get" | "create" | "update" | "delete">;

/** The caches of one cluster. */
export interface ClusterCaches {
  /**
   * The cache of one kind. Must return the same source for the same kind every time. If there is none of EndpointSlices, it throws or returns
   * undefined for them: `backends: auto` then copies Endpoints alone.
   */
  source(resource: ResourceType): ObjectSource;
  /**
   * A cache of one object, which need not exist, until it is stopped. It may hold more objects than that one. Left out, the cache
   * of the whole kind does; a client that may not read all Secrets offers this.
   */
  follow?(resource: ResourceType, key: ObjectKey): FollowedSource;
}

/** A cache that its requester stops when it is no longer needed. */
export interface FollowedSource extends ObjectSource {
  stop(): Promise<void> | void;
}

/**
 * One cluster as the syncer sees it. An embedder hands in the caches it has; nothing opens a second watch.
 */
export interface ClusterAccess extends ClusterCaches {
  readonly writer: Writer;
  /** Lists objects of one kind, by label. Left out, the cache of the whole kind is looked through. */
  list?(resource: ResourceType, scope: ListScope): Promise<readonly KubeObject[]>;
  /** Tells this cluster from others that answer in its place. Default: only absent objects are verified. */
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
  /** CLUSTER_IDENTITY, from when another cluster has answered until the right one does. */
  readonly wrong: EngineError | undefined;
}
