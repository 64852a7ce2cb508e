import type { ClusterClient } from "../object/cluster-client.ts";
import type { ObjectSource } from "../object/object-source.ts";
import type { ResourceType } from "../object/resource.ts";

/** How the syncer writes to one cluster, and reads live where a cache will not do. */
export type Writer = Pick<ClusterClient, "get" | "create" | "update" | "delete">;

/**
 * One cluster as the syncer sees it. An embedder hands in the caches it has; nothing opens a second watch.
 */
export interface ClusterAccess {
  /** The cache of one kind. Must return the same source for the same kind every time. */
  source(resource: ResourceType): ObjectSource;
  readonly writer: Writer;
}
