/**
 * Embedded Kubernetes clusters: `endpoint-sync/clusters`.
 *
 * @module
 */
export { createEmbeddedCluster, startCluster } from "./cluster/cluster.ts";
export type { Cluster, ClusterOptions, EmbeddedCluster, EmbeddedClusterOptions } from "./cluster/cluster.ts";
export type { Controllers } from "./cluster/controllers/running/running-controllers.ts";
export type { ControllerName } from "./cluster/controllers/running/controller-selection.ts";
export { createInProcessClient } from "./cluster/in-process-client.ts";
export type { InProcessClient } from "./cluster/in-process-client.ts";
export { createClusterCredentials } from "./cluster/credentials.ts";
export type { ClusterCredentials, CredentialsOptions } from "./cluster/credentials.ts";
export type { KeySource } from "./cluster/tokens/platform-keys.ts";
export type { PlatformTrust } from "./cluster/tokens/platform-tokens.ts";
export { createMemoryStore } from "./apiserver/store/memory/memory-store.ts";
export type { MemoryStoreOptions } from "./apiserver/store/memory/memory-store.ts";
export { openSqliteStore } from "./apiserver/store/sqlite/sqlite-store.ts";
export type { SqliteStoreOptions } from "./apiserver/store/sqlite/sqlite-store.ts";
export { ETCD_TIMES, openEtcdStore } from "./apiserver/store/etcd/etcd-store.ts";
export type { EtcdCredentials, EtcdStoreOptions, EtcdTimes, EtcdTls } from "./apiserver/store/etcd/etcd-store.ts";
export type { ClusterTarget, ManagementTarget, Target, VirtualClusterTarget } from "./cluster/scope/types.ts";
export type { Store } from "./apiserver/store/store.ts";
export type { IssuedToken, TokenSubject } from "./cluster/kinds/token-for.ts";
