/**
 * Embedded Kubernetes clusters: `endpoint-sync/clusters`.
 *
 * @module
 */
export { createEmbeddedCluster, startCluster } from "./clusters/cluster.ts";
export type { Cluster, ClusterOptions, EmbeddedCluster, EmbeddedClusterOptions } from "./clusters/cluster.ts";
export { createInProcessClient } from "./clusters/in-process-client.ts";
export type { InProcessClient } from "./clusters/in-process-client.ts";
export { createClusterCredentials } from "./clusters/credentials.ts";
export type { ClusterCredentials, CredentialsOptions } from "./clusters/credentials.ts";
export type { KeySource } from "./clusters/platform-keys.ts";
export type { PlatformTrust } from "./clusters/platform-tokens.ts";
export { createMemoryStore } from "./server/store/memory-store.ts";
export type { MemoryStoreOptions } from "./server/store/memory-store.ts";
export { openSqliteStore } from "./server/store/sqlite-store.ts";
export type { SqliteStoreOptions } from "./server/store/sqlite-store.ts";
export { ETCD_TIMES, openEtcdStore } from "./server/store/etcd-store.ts";
export type { EtcdCredentials, EtcdStoreOptions, EtcdTimes, EtcdTls } from "./server/store/etcd-store.ts";
export type { ClusterTarget, ManagementTarget, Target, VirtualClusterTarget } from "./scope/types.ts";
export type { Store } from "./server/store/store.ts";
export type { IssuedToken, TokenSubject } from "./clusters/token-for.ts";
