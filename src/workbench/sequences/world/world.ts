/**
 * The world of one sequence: two API servers in this process, the real syncer core between them, and a virtual time that advances only
 * here, from one event to the next.
 *
 * @module
 */
import type { Clock } from "../../../base/clock.ts";
import { EngineError } from "../../../base/errors.ts";
import { silentLogger } from "../../../base/logger.ts";
import { keyOf } from "../../../kube/object/key.ts";
import {
  CONFIG_MAPS,
  ENDPOINT_SLICES,
  ENDPOINTS,
  EVENTS,
  NAMESPACES,
  SECRETS,
  SERVICES,
  type ResourceType,
} from "../../../kube/object/resource.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import type { Response } from "../../../engine/reconcile/machine.ts";
import type { Planner } from "../../../engine/reconcile/plan.ts";
import type { Note } from "../../../engine/reconcile/plan-types.ts";
import { createSyncCore } from "../../../engine/sync/core.ts";
import { createEventRecorder, type EventRecorder } from "../../../engine/sync/report/events.ts";
import { engineParts, type SyncEngine } from "../../../engine/sync/reconciler.ts";
import type { SimulatedCache } from "../../simulator/model/cache.ts";
import type { Side } from "../../simulator/model/cluster.ts";
import { plainKindsOf, resourcesOf } from "../../simulator/model/generation.ts";
import { createRandom } from "../../simulator/model/random.ts";
import { SimulatedReplica, type CreateCore, type Flight } from "../../simulator/model/replica.ts";
import { mirrorChanges, performChange } from "../../simulator/model/mirror.ts";
import { describeRequest, simulatedOutage } from "../../simulator/world.ts";
import { formatSeconds } from "../durations.ts";
import { createLedger, type Ledger } from "./ledger.ts";
import { Wire } from "./wire.ts";

/** Virtual time begins here: 2026-01-01. */
const EPOCH_MS = 1_767_225_600_000;
/** Maximum delay of a request, a response or an event if a seed determines it. */
const DELAY_MAX_MS = 50;
/** Time for refused writes, which are retried every minute, to succeed. Virtual milliseconds. */
const PATIENCE_MS = 130_000;
/** Longer than every delay of the syncer. Virtual milliseconds. */
const REST_MAX_MS = 2 * 3_600_000;
/** Maximum number of moments in one run at which something happens. A run with more counts as endless. */
const MOMENTS_MAX = 20_000;
/** Number of objects that are synced at the same time, as by default. */
const WORKERS = 10;

/** The kinds whose objects a sequence can have, besides those that are synced. */
export const SEQUENCE_KINDS: readonly ResourceType[] = [NAMESPACES, SERVICES, ENDPOINTS, ENDPOINT_SLICES, SECRETS, CONFIG_MAPS, EVENTS];

/** Options of a world. */
export interface SequenceWorldOptions {
  /** The first one runs at the start; a reload can replace it with another one. */
  readonly engines: readonly SyncEngine[];
  /** 0: everything takes 1 ms. */
  readonly seed: number;
  readonly planner?: Planner | undefined;
  readonly createCore?: CreateCore | undefined;
}

/** Times at which a request reaches its cluster, and at which its response is back; Infinity while there is no response. */
interface Journey {
  readonly arrivesAt: number;
  answeredAt: number;
}

/** A scheduled event. */
interface Due {
  readonly atMs: number;
  /** The awaited event, for messages. */
  readonly what: string;
  perform(): void | Promise<void>;
}

/** Two clusters, the syncer between them, and their virtual time. The syncer does not run before {@link SequenceWorld.start}. */
export class SequenceWorld {
  /** Virtual milliseconds. */
  now = 0;
  engine: SyncEngine;
  readonly ledger: Ledger;
  readonly wire: Wire;
  /** Events that will be lost, by cluster. */
  readonly lostEvents: Record<Side, number> = { tenant: 0, host: 0 };
  readonly #options: SequenceWorldOptions;
  readonly #clock: Clock;
  readonly #delay: () => number;
  readonly #resources: readonly ResourceType[];
  readonly #journeys = new Map<Flight, Journey>();
  readonly #quietUntil: Record<Side, number> = { tenant: 0, host: 0 };
  readonly #downUntil: Record<Side, number> = { tenant: 0, host: 0 };
  readonly #dues: Due[] = [];
  #replica: SimulatedReplica | undefined;
  #events: EventRecorder | undefined;
  #moments = 0;
  /** True while a run of the host's mirror is scheduled. */
  #mirrors = false;

  private constructor(
    options: SequenceWorldOptions,
    parts: { ledger: Ledger; clock: Clock; delay: () => number; resources: readonly ResourceType[] },
  ) {
    this.#options = options;
    this.engine = options.engines[0]!;
    this.ledger = parts.ledger;
    this.#clock = parts.clock;
    this.#delay = parts.delay;
    this.#resources = parts.resources;
    this.wire = new Wire({
      ledger: parts.ledger,
      isDown: (side) => this.isDown(side),
      log: (who, what) => this.log(who, what),
      later: (afterMs, what, perform) => this.#later(this.now + afterMs, what, perform),
    });
  }

  /** Creates a world of two empty clusters, without a syncer. */
  static async create(options: SequenceWorldOptions): Promise<SequenceWorld> {
    const made: { world?: SequenceWorld } = {};
    const elapsed = () => made.world?.now ?? 0;
    const clock: Clock = { now: () => EPOCH_MS + elapsed(), monotonic: elapsed, schedule: noTimers };
    const random = createRandom(options.seed);
    const delay = options.seed === 0 ? () => 0 : () => random.below(DELAY_MAX_MS);
    const setting = { name: "", generations: options.engines.map(generationOf) };
    const resources = resourcesOf(setting);
    const watched = [...SEQUENCE_KINDS, ...resources.filter(({ plural }) => !SEQUENCE_KINDS.some((kind) => kind.plural === plural))];
    const ledger = await createLedger({
      ...{ resources: watched, plainKinds: plainKindsOf(setting), clock, delay },
      changed: (side, resource) => {
        if (side === "host" && (resource === ENDPOINTS || resource === SERVICES)) made.world?.mirrorSoon();
      },
    });
    made.world = new SequenceWorld(options, { ledger, clock, delay, resources });
    return made.world;
  }

  /** Starts the syncer: a process that knows nothing, and whose first lists are `behind` changes late. */
  start(behind = 0): void {
    const { planner, createCore = createSyncCore } = this.#options;
    const { clusters } = this.ledger;
    const hostEvents = this.#recorder("host");
    this.#events = this.#recorder("tenant");
    const braked = (note: Note) =>
      this.#later(this.now, "an Event about the delete brake", () => hostEvents.record(virtualCluster(this.engine), [note]));
    this.#replica = new SimulatedReplica(
      {
        ...{ index: 0, clusters, resources: this.#resources, clock: this.#clock, workers: WORKERS, generation: generationOf(this.engine) },
        ...(planner && { planner }),
        createCore: (core) => createCore({ ...core, ...ownerOf(this.engine), braked }),
      },
      () => behind,
    );
    if (behind > 0) for (const side of ["tenant", "host"] satisfies Side[]) this.cut(side, 1);
    // A process that cannot list its objects has not started yet.
    this.#replica.pausedUntil = Math.max(this.#downUntil.tenant, this.#downUntil.host);
  }

  #recorder(side: Side): EventRecorder {
    const { writer } = this.ledger.clusters[side];
    const reachable: typeof writer = {
      ...writer,
      create: async (resource, object) => {
        if (this.isDown(side)) throw simulatedOutage(side);
        this.ledger.author = "syncer";
        return writer.create(resource, object);
      },
    };
    return createEventRecorder({ writer: reachable, clock: this.#clock, logger: silentLogger });
  }

  isDown(side: Side): boolean {
    return this.#downUntil[side] > this.now;
  }

  /** Codes of the syncer's notes about a tenant object. */
  notes(resource: ResourceType, object: KubeObject): readonly string[] {
    return this.#replica?.notes(resource.plural, keyOf(object)) ?? [];
  }

  /** Ends the process now, and starts it again `afterMs` later, with first lists that are `behind` changes late. */
  crash(afterMs: number, behind: number): void {
    for (const flight of this.#replica?.crash() ?? []) {
      const journey = this.#journeys.get(flight);
      const { request } = flight;
      // Requests that it has sent still arrive.
      if (journey !== undefined && journey.arrivesAt > this.now && request.type === "write")
        this.#later(journey.arrivesAt, "the arrival of a late write", () =>
          this.wire.deliverLate({ request, resource: flight.reconcile.resource }),
        );
    }
    this.#journeys.clear();
    this.#replica = undefined;
    this.#later(this.now + afterMs, "the start of the syncer", () => {
      this.log("syncer", "starts again");
      this.start(behind);
    });
  }

  /** Pauses the process. */
  stall(forMs: number): void {
    if (this.#replica !== undefined) this.#replica.pausedUntil = Math.max(this.#replica.pausedUntil, this.now + forMs);
  }

  /** Makes a cluster send no responses and no events. */
  down(side: Side, forMs: number): void {
    this.#downUntil[side] = Math.max(this.#downUntil[side], this.now + forMs);
    this.cut(side, forMs);
  }

  /** Delays the events of a cluster. */
  cut(side: Side, forMs: number): void {
    this.#quietUntil[side] = Math.max(this.#quietUntil[side], this.now + forMs);
  }

  /** Makes the syncer list every kind of a cluster again, as soon as the cluster responds. */
  relist(side: Side, how: { readonly behind?: number; readonly without?: string } = {}): void {
    this.#later(Math.max(this.now, this.#downUntil[side]), `a list of the ${side} cluster`, () => this.#list(side, how));
  }

  /** Makes the syncer receive an empty list of a cluster, and list the cluster once more after a while. */
  empty(side: Side, forMs: number): void {
    this.relist(side, { without: "all" });
    this.#later(this.now + forMs, `a list of the ${side} cluster`, () => this.relist(side));
  }

  #list(side: Side, how: { readonly behind?: number; readonly without?: string }): void {
    for (const cache of this.#caches()) if (cache.cluster.side === side) cache.relist(how);
    if (how.behind !== undefined) this.cut(side, 1);
  }

  /** Loads another configuration into the running syncer. */
  reload(engine: SyncEngine): void {
    this.engine = engine;
    this.#replica?.reload(generationOf(engine));
  }

  /** Runs the host's mirror of Endpoints at the present time, so that it does not delay the effects of a write. */
  mirrorSoon(): void {
    if (this.#mirrors) return;
    this.#mirrors = true;
    this.#later(this.now, "the host's mirror", () => this.#mirror());
  }

  async #mirror(): Promise<void> {
    this.#mirrors = false;
    const { host } = this.ledger.clusters;
    const { author } = this.ledger;
    this.ledger.author = "mirror";
    for (const change of mirrorChanges(host)) await performChange(host.writer, change);
    this.ledger.author = author;
  }

  /** Adds a line to the chronicle. */
  log(who: string, what: string): void {
    this.ledger.chronicle.add(this.now, who, what);
  }

  /** Runs everything that is due before a time, and moves to that time. Returns false if there is no end to it. */
  async advance(untilMs: number): Promise<boolean> {
    for (;;) {
      const next = this.#next();
      if (next >= untilMs) break;
      if (!(await this.#moment(next))) return false;
    }
    this.now = Math.max(this.now, untilMs);
    return true;
  }

  /** Advances time until everything is at rest. Returns false if that never happens. */
  async settle(): Promise<boolean> {
    const giveUpAt = this.now + REST_MAX_MS;
    const begunAt = this.now;
    for (;;) {
      const next = this.#next();
      if (next === Infinity) return true;
      const patientUntil = Math.max(begunAt, this.ledger.lastChangeAt) + PATIENCE_MS;
      if (this.underWay() === undefined && next > patientUntil) return true;
      if (next > giveUpAt || !(await this.#moment(next))) return false;
    }
  }

  /** Describes something that is not at rest; undefined if everything is. Refused writes that are retried every minute count as at rest. */
  underWay(): string | undefined {
    const replica = this.#replica;
    const [due] = this.#dues;
    if (due !== undefined) return `${due.what} is due at ${formatSeconds(due.atMs)}`;
    if (replica === undefined) return "the syncer is not running";
    const [flight] = replica.flights;
    if (flight !== undefined) return `a request is in progress: ${describeRequest(flight.request, flight.reconcile.resource.plural)}`;
    const [waiting] = replica.waiting;
    if (waiting !== undefined) return `${waiting} waits to be reconciled`;
    const behind = replica.caches.find(({ idle }) => !idle);
    if (behind !== undefined) return `an event for ${behind.cluster.side} ${behind.resource.plural} has not arrived`;
    if (replica.nextDue === Infinity || replica.retriesRefused) return undefined;
    return `a retry is due at ${formatSeconds(replica.nextDue)}`;
  }

  #later(atMs: number, what: string, perform: Due["perform"]): void {
    this.#dues.push({ atMs, what, perform });
    this.#dues.sort((left, right) => left.atMs - right.atMs);
  }

  #caches(): readonly SimulatedCache[] {
    return this.#replica?.caches ?? [];
  }

  /** Time of the next thing that happens by itself; Infinity if there is none. */
  #next(): number {
    let next = this.#dues[0]?.atMs ?? Infinity;
    const replica = this.#replica;
    if (replica !== undefined) {
      let own = replica.canTake ? this.now : replica.nextDue;
      for (const cache of replica.caches) if (!cache.idle) own = Math.min(own, this.#arrivalAt(cache));
      for (const flight of replica.flights) own = Math.min(own, this.#journeys.get(flight)?.answeredAt ?? this.now);
      next = Math.min(next, Math.max(own, replica.pausedUntil));
      for (const { arrivesAt, answeredAt } of this.#journeys.values()) if (answeredAt === Infinity) next = Math.min(next, arrivesAt);
    }
    return Math.max(Math.ceil(next), this.now);
  }

  #arrivalAt(cache: SimulatedCache): number {
    const { side } = cache.cluster;
    const index = this.ledger.clusters[side].changes(cache.resource).length - cache.pending;
    return Math.max(this.ledger.arrivalOf(side, cache.resource, index), this.#quietUntil[side]);
  }

  /** Moves to a time and runs everything that is due then. Returns false after too many moments. */
  async #moment(atMs: number): Promise<boolean> {
    this.now = atMs;
    this.#moments += 1;
    if (this.#moments > MOMENTS_MAX) return false;
    while (this.#dues[0] !== undefined && this.#dues[0].atMs <= this.now) await this.#dues.shift()!.perform();
    const replica = this.#replica;
    if (replica === undefined) return true;
    if (replica.pausedUntil <= this.now) this.#think(replica);
    for (const [flight, journey] of this.#journeys) {
      if (journey.answeredAt !== Infinity || journey.arrivesAt > this.now) continue;
      flight.response = await this.#answer(flight);
      journey.answeredAt = this.now + 1 + this.#delay();
    }
    return true;
  }

  async #answer({ request, reconcile }: Flight): Promise<Response> {
    if (request.type !== "report") return this.wire.transmit({ request, resource: reconcile.resource });
    await this.#events?.record(request.object, request.notes);
    return { type: "absent" };
  }

  /** Does the work of the process that is due now. */
  #think(replica: SimulatedReplica): void {
    replica.wake();
    for (const cache of replica.caches) while (!cache.idle && this.#arrivalAt(cache) <= this.now) this.#hear(cache);
    for (const flight of [...replica.flights]) {
      if ((this.#journeys.get(flight)?.answeredAt ?? Infinity) > this.now) continue;
      this.#journeys.delete(flight);
      replica.land(flight);
    }
    for (const id of replica.waiting) if (replica.canTake) replica.take(id);
    for (const flight of replica.flights) {
      if (!this.#journeys.has(flight)) this.#journeys.set(flight, { arrivesAt: this.now + this.#delay(), answeredAt: Infinity });
    }
  }

  #hear(cache: SimulatedCache): void {
    const { side } = cache.cluster;
    if (this.lostEvents[side] === 0) return void cache.deliver();
    this.lostEvents[side] -= 1;
    const { type, object } = cache.skip();
    this.log("fault", `the syncer does not receive ${type} ${side} ${object.kind} ${keyOf(object).namespace}/${keyOf(object).name}`);
  }
}

function generationOf(engine: SyncEngine) {
  const { rules, references, loopGuard, deleteBrake } = engineParts(engine, undefined);
  return { rules, references, loopGuard, deleteBrake };
}

function ownerOf(engine: SyncEngine) {
  const { ownerService } = engineParts(engine, undefined);
  return ownerService && { ownerService };
}

function virtualCluster({ vcluster: { name, namespace } }: SyncEngine): KubeObject {
  return { apiVersion: "v1", kind: "Service", metadata: { namespace, name } };
}

function noTimers(): never {
  throw new EngineError("INTERNAL", "Broken invariant: a sequence uses no timers of the clock");
}
