import { finish } from "../../../base/finish.ts";
import type { Clock } from "../../../base/clock.ts";
import { isEngineError } from "../../../base/errors.ts";
import { silentLogger } from "../../../base/logger.ts";
import { noMetrics } from "../../../base/metrics.ts";
import type { ResourceType } from "../../../kube/object/resource.ts";
import type { Ending, Request, Response } from "../../../engine/reconcile/machine.ts";
import type { Planner } from "../../../engine/reconcile/plan.ts";
import { targetSide } from "../../../engine/reconcile/references/reference-copy.ts";
import { FairQueue } from "../../../kube/runtime/queue/fair-queue.ts";
import { decideRetry, Failures } from "../../../kube/runtime/retry.ts";
import { HAND_BACK } from "../../../engine/sync/backends/hand-back.ts";
import type { ClusterAccess } from "../../../engine/sync/cluster/access.ts";
import { createSyncCore, type SyncCore, type SyncCoreOptions } from "../../../engine/sync/core.ts";
import { createSyncState } from "../../../engine/sync/state/sync-state.ts";
import { namespaceOfId } from "../../../engine/sync/state/sync-id.ts";
import type { SyncHooks, ReconcileRun } from "../../../engine/sync/run/reconcile.ts";
import { SimulatedCache } from "./cache.ts";
import type { SimulatedCluster, Side } from "./cluster.ts";
import type { Generation } from "./generation.ts";
import { createFairness } from "./fairness.ts";

/** A reconcile with its pending request, and with the response once a cluster has given one. */
export interface Flight {
  readonly id: string;
  readonly reconcile: ReconcileRun;
  readonly generation: Generation;
  /** Revisions of both clusters when the reconcile began. Responses to its requests are not older. */
  readonly since: Readonly<Record<Side, number>>;
  /** The request that waits for a cluster, if it is not answered. */
  request: Exclude<Request, { type: "done" }>;
  response: Response | undefined;
}

/** Watches the reconciles of a replica. */
export interface ReconcileWatcher {
  /** A reconcile begins, and decides from the caches as they are now. */
  began(replica: SimulatedReplica, id: string): void;
  /** A reconcile is about to receive the response of its flight. */
  hears(replica: SimulatedReplica, flight: Flight): void;
  ended(replica: SimulatedReplica, id: string): void;
}

/** Options of a replica. */
export interface SimulatedReplicaOptions {
  readonly index: number;
  readonly clusters: Readonly<Record<Side, SimulatedCluster>>;
  readonly resources: readonly ResourceType[];
  readonly clock: Clock;
  /** Maximum number of concurrent reconciles. */
  readonly workers: number;
  readonly generation: Generation;
  readonly hooks?: SyncHooks;
  readonly planner?: Planner;
  readonly createCore?: CreateCore;
  /** If true, made slices are handed back once backends are no longer decided per Service. Default false. */
  readonly handsBack?: boolean;
  readonly watcher?: ReconcileWatcher | undefined;
}

/** Creates the synchronous core of the syncer: `createSyncCore`, or a variant that deliberately behaves differently. */
export type CreateCore = (options: SyncCoreOptions) => SyncCore;

/** Codes of notes about writes that are retried regularly although nothing has changed. */
const TRIED_AGAIN: ReadonlySet<string> = new Set(["API_INVALID", "HOST_NAMESPACE_MISSING", "REFERENCE_REFUSED"]);

/** Time after which a failed hand-back is repeated, in milliseconds. */
const HAND_BACK_RETRY_MS = 1_000;

/** One syncer process: its own caches, the real core, a queue and reconciles in progress. */
export class SimulatedReplica {
  readonly #options: SimulatedReplicaOptions;
  readonly index: number;
  readonly caches: readonly SimulatedCache[];
  readonly flights: Flight[] = [];
  generation: Generation;
  /** The replica does nothing before this time, in virtual milliseconds. */
  pausedUntil = 0;
  readonly #caches: Readonly<Record<Side, ReadonlyMap<string, SimulatedCache>>>;
  readonly #memory = createSyncState();
  #core: SyncCore;
  /** The next configuration, which is used as soon as no reconcile with the old one is in progress. */
  #next: Generation | undefined;
  readonly #queue = new Set<string>();
  /** The same ids, in the order in which a process takes them. */
  readonly #order = new FairQueue<true>(namespaceOfId);
  #fairness = createFairness();
  /** Ids of reconciles in progress, from just before they begin. */
  readonly #running = new Set<string>();
  readonly #again = new Set<string>();
  readonly #due = new Map<string, number>();
  readonly #failures = new Failures();
  /** Time of the next hand-back. */
  #handBackAt = Infinity;

  /** Starts a process; `behind` returns by how many changes its first list of a kind is late. */
  constructor(options: SimulatedReplicaOptions, behind: () => number) {
    const { index, clusters, resources, generation } = options;
    this.#options = options;
    this.index = index;
    this.generation = generation;
    const sources = (side: Side) => new Map(resources.map((resource) => [resource.plural, new SimulatedCache(clusters[side], resource)]));
    this.#caches = { tenant: sources("tenant"), host: sources("host") };
    this.caches = [...this.#caches.tenant.values(), ...this.#caches.host.values()];
    this.#core = this.#makeCore();
    for (const cache of this.caches) cache.relist({ behind: behind() });
    this.#findCopies();
  }

  #makeCore(): SyncCore {
    const { clock, hooks, planner, createCore = createSyncCore } = this.#options;
    const { rules, loopGuard, deleteBrake, references } = this.generation;
    const core = createCore({
      tenant: { source: ({ plural }) => this.#caches.tenant.get(plural)! },
      host: { source: ({ plural }) => this.#caches.host.get(plural)! },
      ...{ rules, loopGuard, clock, logger: silentLogger, metrics: noMetrics },
      ...(deleteBrake && { deleteBrake }),
      ...(references && { references }),
      ...(hooks && { hooks }),
      ...(planner && { planner }),
      memory: this.#memory,
      enqueue: (id) => this.enqueue(id),
    });
    this.#handBackAt = this.#options.handsBack === true && core.handBack !== undefined ? clock.monotonic() : Infinity;
    return core;
  }

  /** Finds the copies of referenced objects, as a process does when it starts. */
  #findCopies(): void {
    for (const kind of this.generation.references?.kinds ?? []) {
      const cluster = this.#options.clusters[targetSide({ kind })];
      for (const object of cluster.objects(kind.resource).values()) this.#core.found?.(kind, object);
    }
  }

  /** The cache of one kind. */
  cache(side: Side, { plural }: ResourceType): SimulatedCache {
    return this.#caches[side].get(plural)!;
  }

  /** Loads another configuration. The process keeps running, and keeps its memory. */
  reload(generation: Generation): void {
    this.#next = generation;
    this.#swap();
  }

  #swap(): void {
    if (this.#next === undefined || this.flights.length > 0) return;
    this.#core.close();
    for (const waiting of [this.#queue, this.#order, this.#again, this.#due]) waiting.clear();
    this.#fairness = createFairness();
    this.generation = this.#next;
    this.#next = undefined;
    this.#core = this.#makeCore();
    this.#findCopies();
  }

  enqueue(id: string): void {
    if (id === HAND_BACK) {
      if (this.#options.handsBack === true) this.#handBackAt = Math.min(this.#handBackAt, this.#options.clock.monotonic());
    } else if (this.#running.has(id)) this.#again.add(id);
    else this.#wait(id);
  }

  #wait(id: string): void {
    this.#queue.add(id);
    if (!this.#order.has(id)) this.#order.push(id, true);
  }

  get waiting(): readonly string[] {
    return [...this.#queue];
  }

  get canTake(): boolean {
    return this.#next === undefined && this.#queue.size > 0 && this.flights.length < this.#options.workers;
  }

  /** Reports whether there is work for an id, now or later. */
  isToDo(id: string): boolean {
    return id === HAND_BACK ? this.#handBackAt < Infinity : this.#queue.has(id) || this.#running.has(id) || this.#due.has(id);
  }

  /** Identifies the memory of the core: after a start or with another configuration, it is a different object. */
  get memory(): object {
    return this.#core;
  }

  /** Reports whether a hand-back is due. */
  get canHandBack(): boolean {
    return this.#next === undefined && this.#handBackAt <= this.#options.clock.monotonic();
  }

  /** Reports whether the only scheduled work is a hand-back. */
  get onlyHandsBack(): boolean {
    return this.#due.size === 0 && this.#handBackAt < Infinity;
  }

  /** Runs a hand-back now. Returns its outcome in words. */
  async handBack(host: ClusterAccess): Promise<string> {
    const now = this.#options.clock.monotonic();
    this.#handBackAt = Infinity;
    try {
      const { requeueAfterMs } = await this.#core.handBack!(host);
      if (requeueAfterMs !== undefined) this.#handBackAt = Math.min(this.#handBackAt, now + requeueAfterMs);
      return requeueAfterMs === undefined ? "done" : `looks again after ${requeueAfterMs} ms`;
    } catch (error) {
      if (!isEngineError(error)) throw error;
      this.#handBackAt = now + HAND_BACK_RETRY_MS;
      return error.code;
    }
  }

  /** Begins the reconcile of the next id in order, and returns the id. Reports a problem of the order to `complain`. */
  takeNext(complain: (message: string) => void): string {
    const { waiting } = this;
    const [id] = this.#order.shift()!;
    const wrong = this.#fairness.took(id, waiting);
    if (wrong !== undefined) complain(wrong);
    this.take(id);
    return id;
  }

  /** Begins the reconcile of a waiting id. */
  take(id: string): void {
    this.#queue.delete(id);
    this.#order.remove(id);
    this.#running.add(id);
    const { tenant, host } = this.#options.clusters;
    const since = { tenant: tenant.revision, host: host.revision };
    const reconcile = finish(this.#core.begin(id));
    if (reconcile.waits === true) return this.#goOn(id, { result: "settled" });
    this.#options.watcher?.began(this, id);
    if (reconcile.request.type === "done") return this.#ended(id, reconcile.request.ending);
    this.flights.push({ id, reconcile, since, generation: this.generation, request: reconcile.request, response: undefined });
  }

  /** Gives the response of a flight to its reconcile, which makes another request or ends. */
  land(flight: Flight): void {
    const { id, reconcile } = flight;
    this.#options.watcher?.hears(this, flight);
    finish(reconcile.answer(flight.response!));
    flight.response = undefined;
    if (reconcile.request.type !== "done") return void (flight.request = reconcile.request);
    this.flights.splice(this.flights.indexOf(flight), 1);
    this.#ended(id, reconcile.request.ending);
    this.#swap();
  }

  #ended(id: string, ending: Ending): void {
    this.#goOn(id, ending);
    this.#options.watcher?.ended(this, id);
  }

  #goOn(id: string, ending: Ending): void {
    this.#running.delete(id);
    if (this.#again.delete(id)) this.#wait(id);
    if (ending.result === "failed") {
      const failures = this.#failures.count(id, ending.error);
      return this.#later(id, decideRetry({ error: ending.error, failures, random: () => 0.5 }).afterMs);
    }
    this.#failures.forget(id);
    if (ending.requeueAfterMs !== undefined) this.#later(id, ending.requeueAfterMs);
  }

  #later(id: string, afterMs: number): void {
    const due = this.#options.clock.monotonic() + afterMs;
    this.#due.set(id, Math.min(due, this.#due.get(id) ?? Infinity));
  }

  /** Time of the next work without an event; Infinity if there is none. */
  get nextDue(): number {
    return Math.min(this.#handBackAt, ...this.#due.values());
  }

  /** Ids of objects for which the responses of a cluster keep contradicting a cache. */
  get contradicted(): readonly string[] {
    return this.#core.contradicted();
  }

  /** Reports whether writes of an object are slowed down, because there are too many. */
  get isSlowed(): boolean {
    return this.#says((code) => code === "WRITES_SLOWED");
  }

  /** Reports whether something was refused, and will be retried in a minute. */
  get retriesRefused(): boolean {
    return this.#says((code) => TRIED_AGAIN.has(code));
  }

  /** Reports whether the process gave up on an object, or held deletions back. A new process would try again. */
  get hasGivenUp(): boolean {
    return this.#says((code) => code === "LOOP_STOPPED" || code === "DELETE_BRAKE");
  }

  #says(is: (code: string) => boolean): boolean {
    return this.#core.records().some(({ notes }) => notes.some(({ code }) => is(code)));
  }

  /** Enqueues all ids that are due. */
  wake(): void {
    const now = this.#options.clock.monotonic();
    for (const [id, due] of this.#due) {
      if (due > now) continue;
      this.#due.delete(id);
      this.enqueue(id);
    }
  }

  /** Codes of the notes about an object. */
  notes(plural: string, key: { namespace: string; name: string }): readonly string[] {
    const record = this.#core
      .records()
      .find(({ resource, tenantKey }) => resource === plural && tenantKey.name === key.name && tenantKey.namespace === key.namespace);
    return record?.notes.map(({ code }) => code) ?? [];
  }

  /** Ends the process. Returns its flights, whose requests may still arrive. */
  crash(): readonly Flight[] {
    this.#core.close();
    this.#memory.close();
    return this.flights;
  }
}
