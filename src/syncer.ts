/**
 * The syncer as a whole: rules, caches, queue and workers put together.
 *
 * @module
 */
import { systemChance } from "./base/chance.ts";
import type { Chance } from "./base/chance.ts";
import { delay, systemClock } from "./base/clock.ts";
import type { Clock } from "./base/clock.ts";
import { EngineError } from "./base/errors.ts";
import { silentLogger } from "./base/logger.ts";
import type { Logger } from "./base/logger.ts";
import { noMetrics } from "./base/metrics.ts";
import type { Metrics } from "./base/metrics.ts";
import { createEngine } from "./engine.ts";
import type { Engine, EngineOptions } from "./engine.ts";
import type { Rules } from "./reconcile/rules.ts";
import { createController } from "./runtime/controller.ts";
import type { Controller } from "./runtime/controller.ts";
import { createWorkQueue } from "./runtime/work-queue.ts";
import type { WorkQueue } from "./runtime/work-queue.ts";
import type { ClusterAccess } from "./sync/access.ts";
import { checkIdentity, readClusterUid } from "./sync/identity.ts";
import type { SyncRecord } from "./sync/records.ts";
import { createSyncLoop } from "./sync/syncer.ts";
import type { SyncHooks, SyncLoop } from "./sync/syncer.ts";

/** What a syncer is made of. Time, chance, logs and metrics have defaults. */
export interface SyncerOptions extends EngineOptions {
  /** Caches of and writes to the tenant cluster. Somebody else starts and stops its caches. */
  readonly tenant: ClusterAccess;
  /** The same for the host cluster. */
  readonly host: ClusterAccess;
  readonly hooks?: SyncHooks;
  readonly clock?: Clock;
  readonly chance?: Chance;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
}

/** A syncer's state in short. */
export interface SyncerStatus {
  /** Every cache was complete once, and the workers run. */
  readonly running: boolean;
  /** Objects that wait to be reconciled, without those that are being. */
  readonly waiting: number;
  readonly objects: readonly SyncRecord[];
}

/** Keeps a host cluster's copies current until it is stopped. */
export interface Syncer {
  /**
   * Waits for the caches, then starts the workers.
   *
   * @throws CLUSTER_IDENTITY when the host's copies belong to another tenant cluster.
   * @throws API_… when the tenant cluster can not be asked who it is.
   */
  start(): Promise<void>;
  /** Finishes the writes that are under way and ends. */
  stop(): Promise<void>;
  status(): SyncerStatus;
}

/** How often a start looks whether the caches are complete, in milliseconds. */
const SYNC_POLL_MS = 5;

/**
 * Compiles the configuration and prepares a syncer.
 *
 * @throws EXPRESSION_SYNTAX, PATH_SYNTAX, PATCH_MODE as {@link createEngine}.
 */
export async function createSyncer(options: SyncerOptions): Promise<Syncer> {
  return new RunningSyncer(options, await createEngine(options));
}

class RunningSyncer implements Syncer {
  readonly #options: SyncerOptions;
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #queue: WorkQueue;
  readonly #stopping = new AbortController();
  #loop: SyncLoop | undefined;
  #controller: Controller | undefined;

  constructor(options: SyncerOptions, engine: Engine) {
    this.#options = options;
    this.#engine = engine;
    this.#clock = options.clock ?? systemClock;
    const metrics = options.metrics ?? noMetrics;
    this.#queue = createWorkQueue({ name: "endpoint-sync", clock: this.#clock, metrics });
  }

  async start(): Promise<void> {
    if (this.#loop !== undefined) throw new EngineError("INTERNAL", "Broken invariant: a syncer is started once");
    const { tenant, host } = this.#options;
    const clusterUid = await readClusterUid(tenant.writer);
    // Stopped meanwhile: nobody would ever end what is begun now.
    if (this.#stopping.signal.aborted) return;
    const rules = this.#engine.rules.map((rule) => (clusterUid === undefined ? rule : { ...rule, clusterUid }));
    const loop = this.#createLoop(rules);
    this.#loop = loop;
    while (!loop.synced && !this.#stopping.signal.aborted) await delay(this.#clock, SYNC_POLL_MS, this.#stopping.signal);
    if (this.#stopping.signal.aborted) return;
    if (clusterUid !== undefined) checkIdentity(host, rules, clusterUid);
    this.#controller = this.#createController(loop);
    this.#controller.start();
  }

  #createLoop(rules: readonly Rules[]): SyncLoop {
    const { tenant, host, hooks, logger = silentLogger, metrics = noMetrics } = this.#options;
    const { settings, translator, vcluster } = this.#engine;
    const owned = settings.setOwner && translator.mode === "single-namespace";
    return createSyncLoop({
      tenant,
      host,
      rules,
      loopGuard: settings.loopGuard,
      clock: this.#clock,
      logger,
      metrics,
      ...(owned && { ownerService: { namespace: vcluster.namespace, name: vcluster.name } }),
      ...(hooks && { hooks }),
      // What the first lists bring waits behind what changes while they are worked off.
      enqueue: (id) => this.#queue.add(id, { lane: this.#controller === undefined ? "background" : "fresh" }),
    });
  }

  #createController(loop: SyncLoop): Controller {
    const { chance = systemChance, logger = silentLogger, metrics = noMetrics } = this.#options;
    return createController({
      name: "endpoint-sync",
      queue: this.#queue,
      reconcile: (id) => loop.reconcile(id),
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
    this.#loop?.close();
    this.#engine.dispose();
  }

  status(): SyncerStatus {
    return { running: this.#controller !== undefined, waiting: this.#queue.depth, objects: this.#loop?.records() ?? [] };
  }
}
