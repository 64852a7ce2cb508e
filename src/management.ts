/**
 * The management API of a platform: `endpoint-sync/management`.
 *
 * @module
 */
export { startManagement, TOKEN_KEYS_PATH } from "./management/api/management.ts";
export type { Management, ManagementOptions } from "./management/api/management.ts";
export { BASE_PATH } from "./management/api/base-path.ts";
export { parseManagementConfig } from "./management/config/config.ts";
export type { ManagementConfigOptions, ManagementConfigResult } from "./management/config/config.ts";
export type { ManagementConfig } from "./management/config/effective.ts";
export { createCipher, parseEncryptionKeys } from "./management/data/encryption.ts";
export type { CipherOptions } from "./management/data/encryption.ts";
export type { Cipher, SealingKeys } from "./apiserver/store/cipher.ts";
export { startResealing } from "./apiserver/store/resealing.ts";
export type { Resealing, ResealingOptions } from "./apiserver/store/resealing.ts";
export type { Resealable, ResealStep } from "./apiserver/store/resealable.ts";
export type { Sharing } from "./management/replicas/sharing.ts";
export { createSecretSync } from "./management/secrets/secret-sync.ts";
export type { SecretSync, SecretSyncOptions } from "./management/secrets/secret-sync.ts";
export {
  CONFIG,
  DIRECT_CLUSTER_ENDPOINT_TOKENS,
  MANAGEMENT_GROUP,
  MANAGEMENT_VERSION,
  OWNED_ACCESS_KEYS,
  SHARED_SECRETS,
  TEAMS,
  USERS,
} from "./management/kinds/types.ts";
export { createHttpClient } from "./kube/client/http-client.ts";
export type { HttpClientOptions } from "./kube/client/http-client.ts";
export { loadKubeConfig } from "./kube/client/kube-config.ts";
export { systemChance } from "./base/chance.ts";
export { systemClock } from "./base/clock.ts";
export { createMemoryStore } from "./apiserver/store/memory/memory-store.ts";
export { openSqliteStore } from "./apiserver/store/sqlite/sqlite-store.ts";
export { isEtcdStore, openEtcdStore } from "./apiserver/store/etcd/etcd-store.ts";
export type { EtcdCredentials, EtcdStore, EtcdStoreOptions, EtcdTimes, EtcdTls } from "./apiserver/store/etcd/etcd-store.ts";
