/**
 * The management API of a platform: `endpoint-sync/management`.
 *
 * @module
 */
export { startManagement, TOKEN_KEYS_PATH } from "./management/management.ts";
export type { Management, ManagementOptions } from "./management/management.ts";
export { BASE_PATH } from "./management/base-path.ts";
export { parseManagementConfig } from "./management/config/config.ts";
export type { ManagementConfigOptions, ManagementConfigResult } from "./management/config/config.ts";
export type { ManagementConfig } from "./management/config/effective.ts";
export { createCipher, parseEncryptionKeys } from "./management/encryption.ts";
export type { CipherOptions } from "./management/encryption.ts";
export type { Cipher, SealingKeys } from "./server/store/sqlite/cipher.ts";
export { startResealing } from "./server/store/resealing.ts";
export type { Resealing, ResealingOptions } from "./server/store/resealing.ts";
export type { Resealable, ResealStep } from "./server/store/resealable.ts";
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
export { createHttpClient } from "./client/http-client.ts";
export type { HttpClientOptions } from "./client/http-client.ts";
export { loadKubeConfig } from "./client/kube-config.ts";
export { systemChance } from "./base/chance.ts";
export { systemClock } from "./base/clock.ts";
export { createMemoryStore } from "./server/store/memory-store.ts";
export { openSqliteStore } from "./server/store/sqlite-store.ts";
export { isEtcdStore, openEtcdStore } from "./server/store/etcd-store.ts";
export type { EtcdCredentials, EtcdStore, EtcdStoreOptions, EtcdTimes, EtcdTls } from "./server/store/etcd-store.ts";
