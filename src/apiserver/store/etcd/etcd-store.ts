import { systemChance, type Chance } from "../../../base/chance.ts";
import { systemClock, type Clock } from "../../../base/clock.ts";
import { isEngineError } from "../../../base/errors.ts";
import { silentLogger, type Logger } from "../../../base/logger.ts";
import { noMetrics, type Metrics } from "../../../base/metrics.ts";
import { EtcdClient, type EtcdCredentials } from "./client/client.ts";
import { EtcdConnection, type EtcdTls } from "./client/connection.ts";
import { demandLast, layoutOf, loadContents, loadPast, type EtcdContents } from "./contents.ts";
import { openError } from "./client/failure.ts";
import { glanceAt } from "./past/glance.ts";
import type { SeenState } from "./past/present.ts";
import { raiseUnlessSame } from "./past/raise.ts";
import type { EtcdStore } from "./contract.ts";
import { HISTORY_DEFAULT } from "../memory/memory-store.ts";
import type { StoreMemory } from "../memory-limits.ts";
import type { Store } from "../store.ts";
import { ReplicatedStore } from "./replicated-store.ts";
import type { Cipher } from "../cipher.ts";

export type { EtcdCredentials } from "./client/client.ts";
export type { SeenState } from "./past/present.ts";
export type { EtcdStore } from "./contract.ts";
export { RAISE_MAX } from "./past/raise.ts";
export type { EtcdTls } from "./client/connection.ts";

/** The addresses of etcd, and how objects are stored there. */
export interface EtcdStoreOptions {
  /** Addresses of members of one cluster, such as `https://127.0.0.1:2379`. When one fails, the next one is used. */
  readonly endpoints: readonly string[];
  /** Prefix of all keys. Default `/endpoint-sync/`. Other data in etcd is not affected, except by compactions. */
  readonly prefix?: string;
  readonly tls?: EtcdTls;
  readonly credentials?: EtcdCredentials;
  /** Encrypts the objects in etcd; keys are not encrypted. Default: no encryption. */
  readonly cipher?: Cipher;
  /** Number of events kept for watches and paged lists of older states. Default 10,000. */
  readonly history?: number;
  /** Memory limits. Defaults: see {@link StoreMemory}. */
  readonly memory?: StoreMemory | undefined;
  /**
   * Checks etcd's contents at the start, and before a running store continues with them after a restoration. Throws to refuse them; reads
   * then fail, nothing is written, and the next read checks again. Default: all contents are accepted.
   */
  readonly admit?: (found: Pick<Store, "get" | "list">) => Promise<void>;
  /**
   * The state that an earlier process has reached, which clients may have seen. If it is not part of etcd's history, etcd was restored: its
   * revision is first raised above this state, and earlier history is not served. Default: no earlier process.
   */
  readonly seen?: SeenState | undefined;
  /** Time limits. Default {@link ETCD_TIMES}. */
  readonly times?: Partial<EtcdTimes>;
  readonly clock?: Clock;
  readonly chance?: Chance;
  /** Logs loss and recovery of etcd. Default: no logs. */
  readonly logger?: Logger;
  /** Counts full reloads. Default: nothing is counted. */
  readonly metrics?: Metrics;
}

/** Time limits, in milliseconds. */
export interface EtcdTimes {
  /** Time limit for connecting to a member. */
  readonly connectMs: number;
  /** Time limit for the response of a member. */
  readonly requestMs: number;
  /** Time for which a failing read or write is retried. The caller receives a result at most `requestMs` later. */
  readonly giveUpMs: number;
  /** Time for which the watch may be silent although events are expected. Then a new watch is started. */
  readonly silentMs: number;
  /** Interval of periodic checks of etcd, which advance the bookmarks of idle watches and detect a dead watch. */
  readonly heartbeatMs: number;
  /**
   * Time for which etcd's contents may be unusable after etcd returned to an older state, before `recovers` becomes false; 0 for no limit.
   */
  readonly recoverMs: number;
}

/** The default times. Only tests need other values, except for `recoverMs`. */
export const ETCD_TIMES: EtcdTimes = {
  connectMs: 2_000,
  requestMs: 5_000,
  giveUpMs: 10_000,
  silentMs: 2_000,
  heartbeatMs: 5_000,
  recoverMs: 60_000,
};

/**
 * Opens a store in etcd 3.4 or later, through its HTTP gateway. Several processes may have the same prefix open. Each sees the writes of
 * all processes, in the same order and with the same revisions, which are those of etcd.
 *
 * All objects are also in memory, kept up to date by one watch. Lists and watches are served from memory. Before each read, this process
 * reads the latest revision from etcd and waits until it has caught up. Therefore no process shows a state older than one that any process
 * has shown before.
 *
 * @throws STORE_FAILED when etcd cannot be reached or refuses a request, or when its data cannot be read or does not fit into memory;
 *   CONFIG_VALUE when an endpoint is not an address. Reads and writes throw API_UNAVAILABLE while etcd cannot be reached.
 *
 * @example
 * const store = await openEtcdStore({ endpoints: ["http://127.0.0.1:2379"] });
 * await store.create("/core/configmaps/shop/a", { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "shop" } });
 * await store.close();
 */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<EtcdStore> {
  const { endpoints, tls, credentials, cipher, history = HISTORY_DEFAULT, memory = {}, prefix = "/endpoint-sync/" } = options;
  const { clock = systemClock, chance = systemChance, logger = silentLogger, metrics = noMetrics } = options;
  const admit = options.admit ?? (async () => {});
  const times = { ...ETCD_TIMES, ...options.times };
  const { connectMs: connectTimeoutMs, requestMs: requestTimeoutMs, giveUpMs } = times;
  const connection = new EtcdConnection({ endpoints, clock, connectTimeoutMs, requestTimeoutMs, ...(tls && { tls }) });
  const client = new EtcdClient({ connection, credentials, clock, chance, giveUpMs });
  const layout = layoutOf(prefix);
  const processId = chance.uuid();
  const begin = async (contents: EtcdContents) => {
    const common = { connection, client, layout, cipher, history, memory, admit, contents, times, clock, logger, metrics };
    const store = new ReplicatedStore({ ...common, processId });
    await store.start();
    return store;
  };
  const beginInPast = async () => {
    try {
      return await begin(await loadPast({ client, layout, cipher, memory, history }));
    } catch (error) {
      if (!isEngineError(error, "STORE_FAILED", "API_UNAVAILABLE")) throw error;
      // The history may contain values of a key that has been replaced, or too many events to read in time. The present contents may still
      // be usable.
      return begin(await loadContents({ client, layout, cipher, memory }));
    }
  };
  try {
    await demandLast({ client, layout });
    if (options.seen !== undefined) {
      await raiseUnlessSame(options.seen, () => admit(glanceAt({ client, layout, cipher })), { client, layout, processId, logger });
    }
    const store = await beginInPast();
    try {
      await admit(store);
      return store;
    } catch (error) {
      await store.close();
      throw error;
    }
  } catch (error) {
    connection.close();
    throw openError(error);
  }
}

/** Reports whether a store is in etcd, where several processes can share it. */
export function isEtcdStore(store: Store): store is EtcdStore {
  return store instanceof ReplicatedStore;
}
