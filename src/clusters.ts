/**
 * Embedded Kubernetes clusters: `endpoint-sync/clusters`.
 *
 * @module
 */
export { createEmbeddedCluster, startCluster } from "./clusters/cluster.ts";
export type { Cluster, ClusterOptions, EmbeddedCluster, EmbeddedClusterOptions } from "./clusters/cluster.ts";
export { createInProcessClient } from "./clusters/in-process-client.ts";
export type { InProcessClient } from "./clusters/in-process-client.ts";
