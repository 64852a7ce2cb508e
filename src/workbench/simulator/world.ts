import type { Clock } from "../../base/clock.ts";
import { EngineError, isEngineError } from "../../base/errors.ts";
import { formatKey, keyOf } from "../../kube/object/key.ts";
import { ENDPOINTS, type ResourceType } from "../../kube/object/resource.ts";
import { matchesSelector, parseSelector } from "../../kube/object/selector.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import type { Request, Response } from "../../engine/reconcile/machine.ts";
import { HAND_BACK } from "../../engine/sync/backends/hand-back.ts";
import { responseTo, send } from "../../engine/sync/run/apply.ts";
import { plan, type Planner } from "../../engine/reconcile/plan.ts";
import { writtenKey, type Plan } from "../../engine/reconcile/plan-types.ts";
import type { Rules } from "../../engine/reconcile/rules/rules.ts";
import type { SyncHooks } from "../../engine/sync/run/reconcile.ts";
import { createSimulatedCluster, type StoreChange, type SimulatedCluster, type Side } from "./model/cluster.ts";
import { plainKindsOf, referencedOf, resourcesOf, type Generation, type Setting } from "./model/generation.ts";
import type { WriteAuthor, WritingReplica, Happening, Oracle, Violation, Write } from "./model/history.ts";
import type { TenantName } from "./model/names.ts";
import { rememberPlans } from "./model/remembered-plans.ts";
import { SimulatedReplica, type CreateCore, type Flight, type ReconcileWatcher } from "./model/replica.ts";
import { createTimeline, type Timeline } from "./model/timeline.ts";

/** Virtual time begins here: 2026-01-01. */
const EPOCH_MS = 1_767_225_600_000;

/** How often one plan can run the patches of an object: to the host, back, and to the host again to check the result. */
const WAYS = 3;

/** Maximum time that a server works on a request, in virtual milliseconds. After that, it does not write. */
const REQUEST_MS = 60_000;

/** A write whose client gave up. The server still executes it if it arrives in time. */
interface LateWrite {
  readonly flight: Pick<Flight, "id" | "reconcile" | "request" | "generation" | "since">;
  readonly replica: number;
  /** Of the replica when it sent the write. */
  readonly memory: object;
  readonly until: number;
}

/** Options of a world, which a seed determines. */
export interface WorldOptions {
  readonly setting: Setting;
  readonly replicas: number;
  readonly workers: number;
  readonly names: readonly TenantName[];
  /** If true, reconciles begin in the order of the real queue, which is fair to namespaces; otherwise in any order. */
  readonly inOrder: boolean;
  readonly oracles: (world: World) => readonly Oracle[];
  readonly hooks?: SyncHooks;
  readonly planner?: Planner;
  readonly createCore?: CreateCore;
}

/** Two clusters, the replicas between them, and all requests and events in transit. Only the world advances time. */
export class World {
  readonly options: WorldOptions;
  readonly resources: readonly ResourceType[];
  readonly clusters: Readonly<Record<Side, SimulatedCluster>>;
  readonly replicas: SimulatedReplica[] = [];
  readonly late: LateWrite[] = [];
  readonly clock: Clock;
  readonly timeline: Timeline = createTimeline();
  readonly #oracles: readonly Oracle[];
  readonly #referenced: ReadonlySet<string>;
  readonly #planner: Planner;
  /** A cluster does not respond before this time. */
  readonly downUntil: Record<Side, number> = { tenant: 0, host: 0 };
  /** True if the host's mirror makes slices of Endpoints. */
  mirroring: boolean;
  /** True if the tenant's mirror does. */
  tenantMirrors: boolean;
  /** True while a mirror writes. */
  mirrorWrites = false;
  generation: Generation;
  step = 0;
  now = 0;
  /** Reads of single objects by replicas. Only kinds that they follow count: there is no other way to see objects of other kinds. */
  reads = 0;
  /** Writes by replicas that a cluster accepted and that changed something. */
  writes = 0;
  /** Requests to write by replicas that a cluster accepted, those that changed nothing included. */
  accepted = 0;
  violation: Violation | undefined;
  /** Copies of referenced objects of whose creation no replica knows any more: only the next start finds them. */
  readonly forgottenCopies = new Set<string>();
  #author: WriteAuthor = { kind: "tenant" };
  /** True responses: a cluster itself gave them. */
  readonly #true = new WeakSet<Response>();

  constructor(options: WorldOptions, clusters: Record<Side, SimulatedCluster>, clock: Clock) {
    this.options = options;
    this.tenantMirrors = options.setting.pods === true;
    this.clusters = clusters;
    this.clock = clock;
    this.resources = resourcesOf(options.setting);
    this.#referenced = new Set(referencedOf(options.setting).map(({ plural }) => plural));
    this.generation = options.setting.generations[0]!;
    this.mirroring = options.workers % 2 === 0;
    this.#oracles = options.oracles(this);
    this.#planner = this.#watch(options.planner ?? rememberPlans(plan));
    for (let index = 0; index < options.replicas; index += 1) this.start(index, () => 0);
  }

  /** Starts a new process for replica `index`; `behind` returns by how many changes each first list is late. */
  start(index: number, behind: () => number): void {
    const { workers, hooks, createCore } = this.options;
    const { clusters, resources, clock, generation } = this;
    const handsBack = this.options.setting.choosesBackends === true;
    const given = {
      ...(hooks && { hooks }),
      ...(createCore && { createCore }),
      planner: this.#planner,
      handsBack,
      watcher: this.#watcher(),
    };
    this.replicas[index]?.crash();
    this.replicas[index] = new SimulatedReplica({ index, clusters, resources, clock, workers, generation, ...given }, behind);
  }

  /** Returns a watcher that reports reconciles to the oracles; undefined if no oracle needs it. */
  #watcher(): ReconcileWatcher | undefined {
    const oracles = this.#oracles.filter(({ ended, misled }) => ended !== undefined || misled !== undefined);
    if (oracles.length === 0) return undefined;
    return {
      began: (replica, id) => oracles.forEach((oracle) => oracle.began?.({ replica, id })),
      hears: (replica, { id, request, response }) => {
        if (request.type === "report" || this.#true.has(response!)) return;
        const how = response!.type === "object" || response!.type === "absent" ? "lie" : "failure";
        for (const oracle of oracles) oracle.misled?.({ replica, id }, how);
      },
      ended: (replica, id) => this.#ended(replica, id),
    };
  }

  #ended(replica: SimulatedReplica, id: string): void {
    for (const oracle of this.#oracles) {
      const message = oracle.ended?.({ replica, id });
      if (message !== undefined) this.fail(oracle.name, message);
    }
  }

  #watch(planner: Planner): Planner {
    return (rules, input) => {
      const planned = planner(rules, input);
      const wrong = checkPlan(rules, planned);
      if (wrong !== undefined) this.fail(wrong.oracle, wrong.message);
      return planned;
    };
  }

  /** Reports an event that is not a write to the oracles. */
  notice(event: Happening): void {
    for (const oracle of this.#oracles) oracle.noticed?.(event);
  }

  /** Replicas that can do something now. */
  get awake(): readonly SimulatedReplica[] {
    return this.replicas.filter((replica) => this.isAwake(replica));
  }

  isAwake({ pausedUntil }: SimulatedReplica): boolean {
    return pausedUntil <= this.now;
  }

  isDown(side: Side): boolean {
    return this.downUntil[side] > this.now;
  }

  /** Lets a writer other than a replica write. Returns false if the cluster refuses the write. */
  async write(side: Side, act: (writer: SimulatedCluster["writer"]) => Promise<unknown>): Promise<boolean> {
    this.#author = { kind: side };
    try {
      await act(this.clusters[side].writer);
      return true;
    } catch (error) {
      if (isEngineError(error)) return false;
      throw error;
    }
  }

  /** Sends the request of a flight to its cluster, and returns the response. */
  async transmit(
    { id, reconcile, request, generation, since }: LateWrite["flight"],
    by: Pick<WritingReplica, "index" | "unanswered" | "forgotten">,
  ): Promise<Response> {
    if (request.type === "report") return { type: "absent" };
    const side = request.type === "get" ? request.side : request.operation.side;
    if (this.isDown(side)) return responseTo(request, simulatedOutage(side));
    if (request.type === "get" && this.#isFollowed(request.resource ?? reconcile.resource)) this.reads += 1;
    this.#author = { kind: "replica", id, generation, since, ...by };
    const writers = { tenant: this.clusters.tenant.writer, host: this.clusters.host.writer };
    const response = await send(request, reconcile.resource, writers);
    const isDone = response.type === "object" || response.type === "absent";
    if (isDone && !by.unanswered) this.#true.add(response);
    if (request.type === "write" && isDone) this.accepted += 1;
    return response;
  }

  /** Lets the request of a flight reach its cluster later: its client has given up. */
  delay({ id, reconcile, request, generation, since }: LateWrite["flight"], replica: number): void {
    const { memory } = this.replicas[replica]!;
    this.late.push({ flight: { id, reconcile, request, generation, since }, replica, memory, until: this.now + REQUEST_MS });
  }

  /** Delivers a late write, and returns the response of its cluster; undefined if the cluster has given up as well. */
  async landLate({ flight, replica, memory, until }: LateWrite): Promise<Response | undefined> {
    const forgotten = this.replicas[replica]!.memory !== memory;
    return this.now > until ? undefined : this.transmit(flight, { index: replica, unanswered: true, forgotten });
  }

  /** Lets a replica check which made slices to hand back to the host's mirror. */
  async handBack(replica: SimulatedReplica): Promise<string> {
    const { tenant, host } = this.clusters;
    const since = { tenant: tenant.revision, host: host.revision };
    const { index, generation } = replica;
    for (const oracle of this.#oracles) oracle.began?.({ replica, id: HAND_BACK });
    const asked = () => {
      if (this.isDown("host")) throw simulatedOutage("host");
      this.#author = { kind: "replica", id: HAND_BACK, generation, since, index, unanswered: false };
    };
    const result = await replica.handBack({
      source: (resource) => replica.cache("host", resource),
      list: async (resource, { namespace, labelSelector = "", fieldSelector }) => {
        asked();
        const selector = parseSelector(labelSelector);
        const fits = ({ metadata }: KubeObject) =>
          (namespace === undefined || metadata.namespace === namespace) &&
          matchesSelector(selector, metadata.labels) &&
          (fieldSelector === undefined || fieldSelector === `metadata.name=${metadata.name}`);
        return [...host.objects(resource).values()].filter(fits);
      },
      writer: {
        ...host.writer,
        delete: async (resource, key, preconditions) => {
          asked();
          const answer = await host.writer.delete(resource, key, preconditions);
          this.accepted += 1;
          return answer;
        },
      },
    });
    if (result.startsWith("API_")) for (const oracle of this.#oracles) oracle.misled?.({ replica, id: HAND_BACK }, "failure");
    this.#ended(replica, HAND_BACK);
    return `replica ${index} hands back made slices: ${result}`;
  }

  #isFollowed({ plural }: ResourceType): boolean {
    return this.resources.some((resource) => resource.plural === plural);
  }

  changed(side: Side, resource: ResourceType, { type, object, before }: StoreChange): void {
    const action = type === "ADDED" ? "create" : type === "DELETED" ? "delete" : "update";
    const { step, now: at } = this;
    const author = this.#author;
    if (author.kind === "replica") this.writes += 1;
    const after = type === "DELETED" ? undefined : object;
    const write: Write = { step, at, author, side, plural: resource.plural, action, key: formatKey(keyOf(object)), before, after };
    this.timeline.wrote(write);
    if (!this.#isFollowed(resource)) return;
    const about = this.#referenced.has(resource.plural) ? "referenced" : "synced";
    for (const oracle of this.#oracles) {
      if (oracle.about !== "both" && (oracle.about ?? "synced") !== about) continue;
      const message = oracle.saw(write);
      if (message !== undefined) this.fail(oracle.name, message);
    }
  }

  /** Records the first violation; what follows from it does not count. */
  fail(oracle: string, message: string): void {
    this.violation ??= { oracle, message, step: this.step };
  }
}

/** The error of a request to a cluster that does not respond. */
export function simulatedOutage(side: Side): EngineError {
  return new EngineError("API_UNAVAILABLE", `Cannot reach the ${side} cluster`);
}

/** Creates a world of two empty clusters. */
export async function createWorld(options: WorldOptions): Promise<World> {
  const made: { world?: World } = {};
  const elapsed = () => made.world?.now ?? 0;
  const clock: Clock = { now: () => EPOCH_MS + elapsed(), monotonic: elapsed, schedule: noTimers };
  // Users write Endpoints whether they are synced or not.
  const resources = [...new Set([...resourcesOf(options.setting), ENDPOINTS])];
  const plainKinds = plainKindsOf(options.setting);
  const cluster = (side: Side) =>
    createSimulatedCluster({
      side,
      resources,
      plainKinds,
      clock,
      onChange: (resource, change) => made.world?.changed(side, resource, change),
    });
  made.world = new World(options, { tenant: await cluster("tenant"), host: await cluster("host") }, clock);
  return made.world;
}

function noTimers(): never {
  throw new EngineError("INTERNAL", "Broken invariant: a simulation uses no timers of the clock");
}

/**
 * S10: no plan spends more fuel than an object has. S11: notes about an object in the tenant cluster do not name the host object.
 */
function checkPlan(rules: Rules, { hostKey, notes, outcomes }: Plan): { oracle: string; message: string } | undefined {
  const fuel = outcomes.reduce((sum, outcome) => sum + outcome.fuel, 0);
  if (fuel > rules.settings.objectFuel * WAYS) return { oracle: "S10", message: `a plan spent ${fuel} fuel` };
  // If a namespace is mapped, the host object has the tenant's own name, which is no secret.
  if (hostKey === undefined || rules.translator.mode !== "single-namespace") return undefined;
  const named = notes.find(({ message }) => message.includes(hostKey.name));
  return named && { oracle: "S11", message: `a note names the host object: ${named.message}` };
}

/** A request as a line of the timeline. */
export function describeRequest(request: Request, plural: string): string {
  switch (request.type) {
    case "get":
      return `get ${request.side} ${request.resource?.plural ?? plural} ${formatKey(request.key)}`;
    case "write": {
      const { operation } = request;
      return `${operation.action} ${operation.side} ${plural} ${formatKey(writtenKey(operation))}`;
    }
    case "report":
      return `report ${request.notes.map(({ code }) => code).join(", ")}`;
    case "done":
      return `done: ${request.ending.result}`;
  }
}
