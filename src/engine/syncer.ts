/**
 * The syncer as a whole: rules, caches, queue and workers put together.
 *
 * @module
 */
import { systemChance, type Chance } from "../base/chance.ts";
import { delay, systemClock, type Clock } from "../base/clock.ts";
import { EngineError } from "../base/errors.ts";
import { silentLogger, type Logger } from "../base/logger.ts";
import { noMetrics, type Metrics } from "../base/metrics.ts";
import type { BackendsMode } from "./config/backends-mode.ts";
import { checkReload, createEngine, sameConfiguration, type Engine, type EngineOptions } from "./engine.ts";
import { createController, type Controller } from "../kube/runtime/controller.ts";
import { RecentKeys } from "../kube/runtime/queue/recent-keys.ts";
import { createWorkQueue, type WorkQueue } from "../kube/runtime/queue/work-queue.ts";
import { gateWrites } from "../kube/runtime/write-gate.ts";
import type { ClusterAccess, Writer } from "./sync/cluster/access.ts";
import { createDeleteConfirmation, type DeleteConfirmation } from "./sync/guards/delete-brake.ts";
import { checkIdentity, readClusterUid } from "./sync/cluster/identity.ts";
import { decidesSources, withinReach, withoutSlices } from "./sync/cluster/slice-permissions.ts";
import { requiredPermissions, type Permission } from "./sync/cluster/permissions.ts";
import { engineParts, withWriter, type EngineParts } from "./sync/reconciler.ts";
import type { SyncRecord } from "./sync/state/status-records.ts";
import { sameClusterOnly, verifiedOnly } from "./sync/cluster/cluster-guard.ts";
import { checkLeftEndpoints } from "./sync/cluster/left-endpoints.ts";
import { checkOtherSyncers } from "./sync/cluster/other-syncers.ts";
import { createSyncState } from "./sync/state/sync-state.ts";
import { namespaceOfId } from "./sync/state/sync-id.ts";
import { createSyncLoop, type SyncLoop } from "./sync/syncer.ts";
import type { SyncHooks } from "./sync/run/reconcile.ts";

/** Options of a syncer. Clock, randomness, logs and metrics have defaults. */
export interface SyncerOptions extends EngineOptions {
  /** Caches of the tenant cluster, and writes to it. The caller starts and stops the caches. */
  readonly tenant: ClusterAccess;
  /** Caches of the host cluster, and writes to it. The caller starts and stops the caches. */
  readonly host: ClusterAccess;
  readonly hooks?: SyncHooks;
  /** Number of deletes, in total, that the delete brake allows instead of holding them; see the `deleteBrake` setting. Default 0. */
  readonly confirmDeletes?: number;
  /** Called right before each write; while it returns false, no write begins. Default: always true. */
  readonly mayWrite?: () => boolean;
  readonly clock?: Clock;
  readonly chance?: Chance;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
}

/** A summary of a syncer's state. */
export interface SyncerStatus {
  /** True once every cache has been complete: the syncer is running or ready to run. */
  readonly prepared: boolean;
  /** True while the workers run. */
  readonly running: boolean;
  /** Number of objects that wait to be reconciled, excluding those in progress. */
  readonly waiting: number;
  readonly objects: readonly SyncRecord[];
  /** Ids of objects for which a cluster has contradicted its lists for about 13 s: their copies are not up to date. */
  readonly contradicted: readonly string[];
}

/** Keeps a host cluster's copies current until it is stopped. */
export interface Syncer {
  /**
   * Waits for the caches, then stands by: collects pending work without processing it.
   *
   * @throws CLUSTER_IDENTITY when the host's copies belong to another tenant cluster, or both clusters are swapped.
   * @throws OTHER_SYNCER when the host's copies carry the markers of another syncer that is not the one to adopt.
   * @throws CONFIG_VALUE when Endpoints are not copied, but the host still has slices made from copies of Endpoints.
   * @throws API_… if the identity of the tenant cluster cannot be read, or if a cluster does not report its permissions.
   * @throws USAGE when it was called before, also by {@link Syncer.start}.
   */
  prepare(): Promise<void>;
  /**
   * Syncs until `lost` aborts, then finishes the writes in progress, stands by again and resolves. The latest changes are processed
   * first. Requires an earlier {@link Syncer.prepare}, and can be called again.
   */
  lead(lost: AbortSignal): Promise<void>;
  /** Prepares the syncer, and runs it until it is stopped. @throws as {@link Syncer.prepare}. */
  start(): Promise<void>;
  /** Finishes the writes in progress, then stops. */
  stop(): Promise<void>;
  /**
   * Switches to another configuration once the reconciles in progress have finished with the old one, so no reconcile mixes the two.
   * Omitted parts do not change. All objects are processed again; objects that change in the meantime come first. Returns "unchanged",
   * without any effect, if the new configuration is equivalent. After a failure, the old configuration stays in effect.
   *
   * @throws EXPRESSION_SYNTAX, PATH_SYNTAX, PATCH_MODE as {@link createSyncer}.
   * @throws CONFIG_VALUE when the change needs a restart.
   * @throws API_UNAVAILABLE when a newly synced kind cannot be listed within 30 s.
   */
  reload(changed: ConfigurationChange): Promise<"changed" | "unchanged">;
  status(): SyncerStatus;
  /**
   * The mode that results from the `backends` setting, the sections of the configuration and the permissions: `auto` becomes `endpoints`
   * if permissions on slices are missing, and until {@link Syncer.prepare} has checked them.
   */
  readonly backends: BackendsMode;
  /** Permissions that the current configuration needs on both clusters. */
  permissions(): readonly Permission[];
}

/** Input of {@link Syncer.reload}. */
export type ConfigurationChange = Partial<Pick<EngineOptions, "config" | "settings">>;

/** How often a start looks whether the caches are complete, in milliseconds. */
const SYNC_POLL_MS = 5;
/** A kind that is synced newly must be listed within this time, in milliseconds. */
const NEW_KIND_MS = 30_000;
/** While standing by, a leader has this long to process a change; longer than an unrenewed lease lasts. */
const RECENT_MS = 60_000;
/** Number of keys beyond the number of objects that may wait while standing by: those of objects that came and went. */
const STALE_KEYS_MAX = 1_000;

/**
 * Creates a syncer between a tenant cluster and a host cluster. It makes no request before {@link Syncer.prepare} or {@link Syncer.start}.
 *
 * A running syncer guarantees:
 * - Every tenant object that should be copied has a current copy on the host, once the caches of both clusters have caught up.
 * - Only objects with the markers of this tenant cluster are changed or deleted. Live reads confirm deletes, and the delete brake holds
 *   them if there are many at once.
 * - Host edits that the configuration allows reach the tenant before the copy is written again; others are undone, with an Event.
 * - A busy namespace does not delay the others. If a process dies, the next one continues its work.
 * - While nothing changes, there are no requests.
 *
 * Only one syncer of a virtual cluster may write at a time: use `mayWrite` with a leader election.
 *
 * @throws EXPRESSION_SYNTAX, PATH_SYNTAX, PATCH_MODE as {@link createEngine}.
 * @example
 * const syncer = await createSyncer({ config, vcluster: { name: "blue", namespace: "vc-blue" }, tenant, host });
 * await syncer.start();
 */
export async function createSyncer(options: SyncerOptions): Promise<Syncer> {
  return new RunningSyncer(options, await createEngine(options));
}

class RunningSyncer implements Syncer {
  readonly #options: SyncerOptions;
  #engine: Engine;
  /** The options of {@link #engine}. */
  #configured: EngineOptions;
  /** The engine of {@link #configured}, whatever the clusters allow. */
  #asked: Engine;
  /** Whether the clusters allow it to decide about backends, which is asked once; undefined before. */
  #reachesSlices: boolean | undefined;
  #preparing = false;
  /** Ends when the last requested reload is over. */
  #reloads: Promise<unknown> = Promise.resolve();
  /** The controller waits for another configuration. */
  #swapping = false;
  readonly #memory = createSyncState();
  readonly #clock: Clock;
  readonly #queue: WorkQueue;
  /** Keys that changed while standing by. */
  readonly #recent: RecentKeys;
  readonly #stopping = new AbortController();
  readonly #deletesConfirmed: DeleteConfirmation;
  #clusterUid: string | undefined;
  #loop: SyncLoop | undefined;
  #controller: Controller | undefined;
  #running = false;
  /** Keys enqueued now are from the caches' contents and did not change. */
  #collecting = true;
  /** While standing by, the waiting keys are collected again if they exceed this. */
  #waitingMax = Infinity;

  constructor(options: SyncerOptions, engine: Engine) {
    this.#options = options;
    this.#asked = engine;
    this.#engine = this.#allowed(engine);
    this.#configured = options;
    this.#deletesConfirmed = createDeleteConfirmation(options.confirmDeletes);
    this.#clock = options.clock ?? systemClock;
    const metrics = options.metrics ?? noMetrics;
    // One worker is left for other namespaces, however long the clusters take for one.
    const shares = { flowOf: namespaceOfId, runningMax: Math.max(1, engine.settings.workers - 1) };
    this.#queue = createWorkQueue({ name: "endpoint-sync", clock: this.#clock, metrics, ...shares });
    this.#queue.pause();
    this.#recent = new RecentKeys({ clock: this.#clock, withinMs: RECENT_MS });
  }

  async start(): Promise<void> {
    await this.prepare();
    if (!this.#stopping.signal.aborted) this.#work();
  }

  async prepare(): Promise<void> {
    if (this.#loop !== undefined) throw new EngineError("USAGE", "Cannot start a syncer twice; create another one");
    const { tenant, host } = this.#options;
    this.#preparing = true;
    const [clusterUid, hostUid] = await Promise.all([readClusterUid(tenant.writer), readClusterUid(host.writer)]);
    await this.#askForSlices(this.#asked);
    // Stopped meanwhile: work begun now would never be ended.
    if (this.#stopping.signal.aborted) return;
    this.#clusterUid = clusterUid;
    this.#engine = this.#allowed(this.#asked);
    const { rules } = this.#parts;
    const loop = (this.#loop = this.#createLoop());
    while (!loop.synced && !this.#stopping.signal.aborted) await delay(this.#clock, SYNC_POLL_MS, this.#stopping.signal);
    if (this.#stopping.signal.aborted) return;
    checkIdentity({ tenant, host, hostUid }, rules);
    checkOtherSyncers(host, rules);
    checkLeftEndpoints(host, rules);
    this.#controller = this.#createController();
    this.#controller.start();
    this.#collecting = false;
    this.#limitWaiting();
  }

  reload(changed: ConfigurationChange): Promise<"changed" | "unchanged"> {
    const reloaded = this.#reloads.then(() => this.#reload({ ...this.#configured, ...changed }));
    this.#reloads = reloaded.catch(() => undefined);
    return reloaded;
  }

  async #reload(options: EngineOptions): Promise<"changed" | "unchanged"> {
    if (sameConfiguration(this.#configured, options)) return "unchanged";
    checkReload(this.#configured, options);
    const asked = await createEngine(options);
    const before = this.#engine;
    try {
      if (this.#preparing) await this.#askForSlices(asked);
      await this.#listNewKinds(this.#allowed(asked));
    } catch (error) {
      asked.dispose();
      throw error;
    }
    await this.#swap(asked);
    this.#configured = options;
    before.dispose();
    return "changed";
  }

  /** The old configuration is at work until the caches are complete that the new one needs. */
  async #listNewKinds({ rules }: Engine): Promise<void> {
    const { tenant, host } = this.#options;
    // A start that is under way waits for its own caches first.
    while (this.#loop !== undefined && this.#controller === undefined && !this.#stopping.signal.aborted)
      await delay(this.#clock, SYNC_POLL_MS, this.#stopping.signal);
    if (this.#loop === undefined) return;
    const sources = rules.flatMap(({ kind }) => [tenant.source(kind.resource), host.source(kind.resource)]);
    const deadline = this.#clock.monotonic() + NEW_KIND_MS;
    while (sources.some(({ synced }) => !synced) && !this.#stopping.signal.aborted) {
      if (this.#clock.monotonic() > deadline)
        throw new EngineError("API_UNAVAILABLE", "Cannot list a kind that the new configuration syncs", {
          details: { hint: "Check the permissions on both clusters" },
        });
      await delay(this.#clock, SYNC_POLL_MS, this.#stopping.signal);
    }
  }

  /** What was found missing needs a restart. */
  async #askForSlices(engine: Engine): Promise<void> {
    const { tenant, host, logger = silentLogger } = this.#options;
    if (this.#reachesSlices === undefined && decidesSources(engine))
      this.#reachesSlices = decidesSources(await withinReach(engine, { tenant, host, logger }));
  }

  #allowed(engine: Engine): Engine {
    return this.#reachesSlices === true || !decidesSources(engine) ? engine : withoutSlices(engine);
  }

  async #swap(asked: Engine): Promise<void> {
    this.#swapping = true;
    await this.#controller?.pause();
    this.#swapping = false;
    this.#asked = asked;
    this.#engine = this.#allowed(asked);
    if (this.#stopping.signal.aborted || this.#loop === undefined) return;
    this.#collectAnew();
    if (this.#running) this.#controller?.resume();
  }

  async lead(lost: AbortSignal): Promise<void> {
    const controller = this.#controller;
    if (controller === undefined || lost.aborted) return;
    this.#work();
    await new Promise<void>((resolve) => lost.addEventListener("abort", () => resolve(), { once: true }));
    this.#running = false;
    await controller.pause();
    this.#loop?.standBy();
    this.#limitWaiting();
  }

  #work(): void {
    // Keys that changed while there may have been no leader go first.
    for (const id of this.#recent.take()) this.#queue.add(id, { priority: "fresh" });
    this.#running = true;
    this.#waitingMax = Infinity;
    if (!this.#swapping) this.#controller?.resume();
  }

  readonly #enqueue = (id: string): void => {
    // Keys of the first lists wait behind those that change in the meantime.
    this.#queue.add(id, { priority: this.#running && !this.#collecting ? "fresh" : "background" });
    if (this.#running || this.#collecting) return;
    this.#recent.add(id);
    if (this.#queue.depth > this.#waitingMax) this.#collectLater();
  };

  #limitWaiting(): void {
    this.#waitingMax = 2 * this.#queue.depth + STALE_KEYS_MAX;
  }

  /** A standby of many days would otherwise keep the key of every object that ever was. */
  #collectLater(): void {
    this.#waitingMax = Infinity;
    this.#clock.schedule(0, () => {
      if (this.#running || this.#stopping.signal.aborted) return;
      this.#collectAnew();
    });
  }

  #collectAnew(): void {
    this.#loop?.close();
    // A new configuration may no longer have their kind.
    this.#queue.dropWaiting({ delayed: true });
    this.#collecting = true;
    this.#loop = this.#createLoop();
    this.#collecting = false;
    if (!this.#running) this.#limitWaiting();
  }

  #createLoop(): SyncLoop {
    const { hooks, logger = silentLogger, metrics = noMetrics } = this.#options;
    return createSyncLoop({
      ...this.#parts,
      ...this.#guarded(),
      deletesConfirmed: this.#deletesConfirmed,
      memory: this.#memory,
      clock: this.#clock,
      logger,
      metrics,
      ...(hooks && { hooks }),
      enqueue: this.#enqueue,
    });
  }

  get #parts(): EngineParts {
    return engineParts(this.#engine, this.#clusterUid);
  }

  #guarded(): { tenant: ClusterAccess; host: ClusterAccess } {
    const { tenant, host, mayWrite } = this.#options;
    const gated = (writer: Writer) => (mayWrite === undefined ? writer : gateWrites(writer, mayWrite));
    const same = sameClusterOnly(tenant.writer, { clusterUid: this.#clusterUid, clock: this.#clock });
    // The gate is inside: leadership is checked last.
    return {
      tenant: withWriter(tenant, verifiedOnly(gated(same), { to: tenant, from: host })),
      host: withWriter(host, verifiedOnly(gated(host.writer), { to: host, from: tenant })),
    };
  }

  #createController(): Controller {
    const { chance = systemChance, logger = silentLogger, metrics = noMetrics } = this.#options;
    return createController({
      name: "endpoint-sync",
      queue: this.#queue,
      reconcile: (id, context) => this.#loop!.reconcile(id, context),
      clock: this.#clock,
      chance,
      workers: this.#engine.settings.workers,
      logger,
      metrics,
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#controller?.stop();
    await this.#reloads;
    this.#loop?.close();
    this.#memory.close();
    this.#engine.dispose();
  }

  get backends(): BackendsMode {
    return this.#engine.backends;
  }

  status(): SyncerStatus {
    const loop = this.#loop;
    return {
      prepared: this.#controller !== undefined,
      running: this.#running,
      waiting: this.#queue.depth,
      // Probes need the rest, many times a minute, and there may be tens of thousands of objects.
      get objects() {
        return loop?.records() ?? [];
      },
      get contradicted() {
        return loop?.contradicted() ?? [];
      },
    };
  }

  permissions(): readonly Permission[] {
    return requiredPermissions(this.#engine);
  }
}
