/**
 * The syncer for embedders with their own queue and workers.
 *
 * @module
 */
import { systemChance, type Chance } from "../../base/chance.ts";
import { systemClock, type Clock } from "../../base/clock.ts";
import { silentLogger, withFields, type Logger } from "../../base/logger.ts";
import { noMetrics, type Metrics } from "../../base/metrics.ts";
import type { DeleteBrakeLimits } from "../reconcile/delete-brake-limits.ts";
import type { ReferenceRules } from "../reconcile/references/reference-rules.ts";
import type { Rules } from "../reconcile/rules/rules.ts";
import type { VCluster } from "../translate/name.ts";
import type { Translator } from "../translate/translator.ts";
import type { ClusterAccess } from "./cluster/access.ts";
import type { SyncCoreOptions } from "./core.ts";
import { createDeleteConfirmation } from "./guards/delete-brake.ts";
import { checkIdentity, readClusterUid } from "./cluster/identity.ts";
import type { LoopGuardLimits } from "./guards/loop-guard.ts";
import { checkLeftEndpoints } from "./cluster/left-endpoints.ts";
import { withinReach } from "./cluster/slice-permissions.ts";
import { checkOtherSyncers } from "./cluster/other-syncers.ts";
import type { SyncRecord } from "./state/status-records.ts";
import { sameClusterOnly, verifiedOnly } from "./cluster/cluster-guard.ts";
import { createSyncLoop } from "./syncer.ts";
import type { SyncHooks } from "./run/reconcile.ts";

/** The sync part of a compiled configuration; `createEngine` returns one. */
export interface SyncEngine {
  readonly rules: readonly Rules[];
  readonly references: ReferenceRules | undefined;
  readonly translator: Translator;
  readonly vcluster: VCluster;
  readonly settings: { readonly setOwner: boolean; readonly loopGuard: LoopGuardLimits; readonly deleteBrake: DeleteBrakeLimits };
}

/** Options of a reconciler. */
export interface ReconcilerOptions {
  /** Created with `createEngine`. Dispose of it yourself, after {@link Reconciler.close}. */
  readonly engine: SyncEngine;
  /** The caches and the writer of the tenant cluster. The reconciler starts and stops neither. */
  readonly tenant: ClusterAccess;
  /** The caches and the writer of the host cluster. The reconciler starts and stops neither. */
  readonly host: ClusterAccess;
  /**
   * Receives the key of every object that must be reconciled; at the start, the keys of all objects. A key is a string for your queue;
   * its format is an internal detail. The same key can arrive several times; reconcile it at least once after each arrival.
   */
  enqueue(key: string): void;
  readonly hooks?: SyncHooks;
  /** Number of deletes, in total, that the delete brake allows instead of holding them; see the `deleteBrake` setting. Default 0. */
  readonly confirmDeletes?: number;
  /** Default: {@link systemClock}. */
  readonly clock?: Clock;
  /** Generates the ids of reconciles in the log. Default: {@link systemChance}. */
  readonly chance?: Chance;
  /** Default: nothing is logged. */
  readonly logger?: Logger;
  /** Default: nothing is recorded. */
  readonly metrics?: Metrics;
}

/** Result of a successful reconcile. */
export interface Reconciled {
  /** Reconcile the key again after this many milliseconds. */
  readonly requeueAfterMs?: number;
  /** Nothing was done, because another reconcile excludes this one; `enqueue` receives the key later. Do not reset its failure count. */
  readonly waits?: true;
}

/** Reconciles objects by key, for an embedder with its own queue and workers. */
export interface Reconciler {
  /** True once every cache has loaded all its objects. Until then, every reconcile is postponed. */
  readonly synced: boolean;
  /**
   * Brings one object to its desired state, based only on the current state. Different keys may be reconciled at the same time, but never
   * the same key twice. After a failure, the caller decides when to try again, with an increasing delay.
   *
   * @throws CLUSTER_IDENTITY when the host's copies belong to another tenant cluster, or the clusters are swapped; then nothing is written.
   * @throws OTHER_SYNCER when the host has copies that another syncer made for this virtual cluster.
   * @throws CONFIG_VALUE when Endpoints are not copied, but the host still has slices made from copies of Endpoints.
   * @throws API_… when a cluster cannot answer.
   */
  reconcile(key: string): Promise<Reconciled>;
  /** Status of every object that has been reconciled. */
  records(): readonly SyncRecord[];
  /** Stops following changes. The caller finishes the reconciles in progress. */
  close(): void;
}

/** Delay before a retry while the caches are not complete yet, in milliseconds. */
const NOT_SYNCED_MS = 100;
/** Number of characters of a UUID that distinguish the reconciles in one log. */
const ID_LENGTH = 8;

/**
 * Subscribes to the caches, passes the keys of their objects to `enqueue`, and waits to be called for each key. Opens no watch, starts no
 * worker and sets no timer.
 *
 * @throws API_… if the identity of the tenant cluster cannot be read, or if a cluster does not report its permissions.
 * @example
 * const engine = await createEngine({ config, vcluster, services: "external" });
 * const reconciler = await createReconciler({ engine, tenant, host, enqueue: (key) => queue.add(key) });
 * const { requeueAfterMs } = await reconciler.reconcile(await queue.take());
 */
export async function createReconciler(options: ReconcilerOptions): Promise<Reconciler> {
  const { tenant, host, hooks, confirmDeletes, enqueue } = options;
  const { clock = systemClock, chance = systemChance, logger = silentLogger, metrics = noMetrics } = options;
  const [clusterUid, hostUid] = await Promise.all([readClusterUid(tenant.writer), readClusterUid(host.writer)]);
  const engine = await withinReach(options.engine, { tenant, host, logger });
  const wired = engineParts(engine, clusterUid);
  const loop = createSyncLoop({
    ...wired,
    ...{ clock, logger, metrics },
    tenant: withWriter(tenant, verifiedOnly(sameClusterOnly(tenant.writer, { clusterUid, clock }), { to: tenant, from: host })),
    host: withWriter(host, verifiedOnly(host.writer, { to: host, from: tenant })),
    deletesConfirmed: createDeleteConfirmation(confirmDeletes),
    ...(hooks && { hooks }),
    enqueue: (key) => enqueue(key),
  });
  let checked = false;

  /** Foreign copies can be distinguished from ours only when all of them are known. */
  function check(): void {
    checkIdentity({ tenant, host, hostUid }, wired.rules);
    checkOtherSyncers(host, wired.rules);
    checkLeftEndpoints(host, wired.rules);
    checked = true;
  }

  return {
    get synced() {
      return loop.synced;
    },
    async reconcile(key) {
      if (!checked && !loop.synced) return { requeueAfterMs: NOT_SYNCED_MS };
      if (!checked) check();
      return loop.reconcile(key, { logger: withFields(logger, { reconcileID: chance.uuid().slice(0, ID_LENGTH) }) });
    },
    records: () => loop.records(),
    close: () => loop.close(),
  };
}

/** The parts of an engine that a sync loop needs. */
export type EngineParts = Pick<SyncCoreOptions, "rules" | "references" | "ownerService" | "loopGuard"> & {
  readonly deleteBrake: DeleteBrakeLimits;
};

/** Adapts an engine to the sync loop. Rules and references also include the tenant cluster that copies come from. */
export function engineParts(
  { rules, references, translator, vcluster, settings }: SyncEngine,
  clusterUid: string | undefined,
): EngineParts {
  const owned = settings.setOwner && translator.mode === "single-namespace";
  const from = clusterUid !== undefined && { clusterUid };
  return {
    rules: clusterUid === undefined ? rules : rules.map((rule) => ({ ...rule, clusterUid })),
    ...(references && { references: { ...references, ...from } }),
    ...(owned && { ownerService: { namespace: vcluster.namespace, name: vcluster.name } }),
    loopGuard: settings.loopGuard,
    deleteBrake: settings.deleteBrake,
  };
}

/** Returns the access to a cluster with a different writer. */
export function withWriter(access: ClusterAccess, writer: ClusterAccess["writer"]): ClusterAccess {
  return {
    source: access.source.bind(access),
    ...(access.follow && { follow: access.follow.bind(access) }),
    ...(access.list && { list: access.list.bind(access) }),
    writer,
  };
}
