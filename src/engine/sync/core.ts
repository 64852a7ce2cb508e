/**
 * The syncer without promises: its state, and reconciles that return the next request to a cluster. Its driver sends the
 * requests, in real life or in a simulation.
 *
 * @module
 */
import type { Clock } from "../../base/clock.ts";
import { EngineError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Metrics } from "../../base/metrics.ts";
import { formatKey, keyOf, sameKey, type ObjectKey } from "../../kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES, type ResourceType } from "../../kube/object/resource.ts";
import type { KubeObject, OwnerReference } from "../../kube/object/types.ts";
import { DEFAULT_DELETE_BRAKE_LIMITS, type DeleteBrakeLimits } from "../reconcile/delete-brake-limits.ts";
import { CONTRADICTIONS_TOLD, createMachine } from "../reconcile/machine.ts";
import { objectStrategy } from "../reconcile/object-strategy.ts";
import type { Planner } from "../reconcile/plan.ts";
import { sourceVersion, type Note } from "../reconcile/plan-types.ts";
import type { ReferenceKind, ReferenceRules } from "../reconcile/references/reference-rules.ts";
import type { Rules } from "../reconcile/rules/rules.ts";
import type { ClusterAccess, ClusterCaches } from "./cluster/access.ts";
import { createDeleteBrake, createDeleteConfirmation, type DeleteConfirmation } from "./guards/delete-brake.ts";
import { createHandBack, type HandBack } from "./backends/hand-back.ts";
import { createServiceBackends } from "./backends/service-backends.ts";
import { createAwaitedSlices } from "./run/awaited-slices.ts";
import { createGather, ownerReference } from "./run/gather.ts";
import { addEventHandlers } from "./run/event-handlers.ts";
import { createGoneObjects } from "./run/gone-objects.ts";
import { createLanes } from "./run/lanes.ts";
import { createLoopGuard, type LoopGuardLimits } from "./guards/loop-guard.ts";
import type { Expectations } from "./state/expectations.ts";
import { createSyncState, type SyncState } from "./state/sync-state.ts";
import { createStatusRecords, type SyncRecord } from "./state/status-records.ts";
import { createReferenceCopies } from "./references/reference-copies.ts";
import { createMissingNamespaces, beginObjectReconcile, type SharedState } from "./run/object-reconcile.ts";
import { BACKENDS, parseSyncId, syncId } from "./state/sync-id.ts";
import type { ReferenceUser } from "../reconcile/references/reference-strategy.ts";
import { beginSeries, createNoticeReconcile, type SyncHooks, type Tracked, type ReconcileRun } from "./run/reconcile.ts";
import { createWriteLimiter } from "./guards/write-limiter.ts";

/** Options of the syncer's core. */
export interface SyncCoreOptions {
  readonly tenant: ClusterCaches;
  readonly host: ClusterCaches;
  /** One entry per synced kind. */
  readonly rules: readonly Rules[];
  /** Rules for copying the objects that reference patches name. If omitted, these objects are not copied. */
  readonly references?: ReferenceRules;
  /** The host Service that owns copies, if it exists. */
  readonly ownerService?: ObjectKey;
  readonly loopGuard: LoopGuardLimits;
  /** Default {@link DEFAULT_DELETE_BRAKE_LIMITS}. */
  readonly deleteBrake?: DeleteBrakeLimits;
  /** Confirmed deletes, which the brake does not hold. Default none. */
  readonly deletesConfirmed?: DeleteConfirmation;
  /** Called when the delete brake engages. */
  readonly braked?: (note: Note) => void;
  /** State of an earlier core over the same caches. Default none. */
  readonly memory?: SyncState;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly hooks?: SyncHooks;
  /** Replaces `plan`, for example to record plans. */
  readonly planner?: Planner;
  /** Receives the keys to reconcile. */
  enqueue(id: string): void;
}

/** State of the syncer, and operations on it. */
export interface SyncCore {
  /**
   * Begins to bring one object to its desired state, based only on the current state. `id` must be one that `enqueue` received; at most one
   * reconcile of an id may be in progress. Log lines go to `context.logger`, if given. Yields where other work may proceed.
   */
  begin(id: string, context?: RunContext): Generator<undefined, ReconcileRun>;
  /** True once every cache has been complete. */
  readonly synced: boolean;
  /** Records a copy of a referenced object that an earlier process made; undefined if referenced objects are not copied. */
  readonly found?: (kind: ReferenceKind, copy: KubeObject) => void;
  /** Hands made slices back to the host's mirror; undefined unless Endpoints are copied without decisions per Service. */
  readonly handBack?: HandBack["run"];
  /** Status of every object that has been reconciled. */
  records(): readonly SyncRecord[];
  /** Ids of the objects for which a cluster has contradicted its cache for a while. */
  contradicted(): readonly string[];
  /** Called when another process may write from now on, until the next {@link begin}. */
  standBy(): void;
  close(): void;
}

/** Context of one reconcile. */
export interface RunContext {
  readonly logger?: Logger | undefined;
  /** Called with the reconcile's time on the thread, in milliseconds. */
  readonly charge?: ((costMs: number) => void) | undefined;
}

/** Creates the work that undoes `backends: auto`: without decisions per Service, made slices may be left from an earlier configuration. */
function handBackOf({ rules, host, ...rest }: SyncCoreOptions, known: Expectations | undefined): HandBack | undefined {
  const endpoints = rules.find(({ kind, enabled }) => enabled && kind.resource === ENDPOINTS);
  const slices = rules.find(({ kind }) => kind.resource === ENDPOINT_SLICES);
  if (endpoints === undefined || slices?.decidesBackends === true) return undefined;
  const synced = slices && { slices: () => host.source(ENDPOINT_SLICES).list() };
  return createHandBack({ hooks: {}, ...rest, rules: endpoints, known, ...synced });
}

/**
 * Returns the tenant key, as text, of the Endpoints whose copy or made slices an id writes. Their writes must not overlap: otherwise, made
 * slices with earlier content of the copy could arrive after the decision that the host's mirror is no longer needed.
 */
function copyOfId(id: string): string | undefined {
  const isEither = id.startsWith(BACKENDS_ID) || id.startsWith(ENDPOINTS_ID);
  return isEither ? id.slice(id.indexOf("|") + 1) : undefined;
}

const [BACKENDS_ID, ENDPOINTS_ID] = [`${BACKENDS}|`, `${ENDPOINTS.plural}|`];

/** Subscribes to the caches and passes the ids of their objects to `enqueue`. Starts nothing. */
export function createSyncCore(options: SyncCoreOptions): SyncCore {
  const { tenant, host, rules, clock, hooks = {}, logger, metrics, ownerService } = options;
  const memory = options.memory ?? createSyncState();
  const hostServices = host.source(SERVICES);
  for (const { kind, patches } of rules) beginSeries(metrics, kind.resource, patches.length);
  for (const { resource } of options.references?.kinds ?? []) beginSeries(metrics, resource, 0);
  const tracked = rules.map((rule) => ({
    rules: rule,
    tenant: memory.latest(tenant.source(rule.kind.resource)),
    host: memory.latest(host.source(rule.kind.resource)),
  }));
  const sides = new Map<string, Tracked>(tracked.map((side) => [side.rules.kind.resource.plural, side]));
  // Services are synced by this syncer or by another one; either way their newest known state counts.
  const services = sides.get(SERVICES.plural) ?? { tenant: tenant.source(SERVICES), host: host.source(SERVICES) };
  const decides = rules.some(({ decidesBackends }) => decidesBackends === true);
  const lanes = createLanes({ enqueue: options.enqueue, laneOf: (id) => (decides ? copyOfId(id) : undefined) });
  const { enqueue } = lanes;
  const records = createStatusRecords(clock, (id) => {
    const { plural, key } = parseSyncId(id);
    if (decides && plural === ENDPOINTS.plural) enqueue(syncId(BACKENDS, key));
  });
  const router = addEventHandlers({ tenant, host, rules, enqueue, changed: records.changed });
  const awaited = createAwaitedSlices({ clock, enqueue, serviceOf: (slice) => router.slices?.serviceOf(slice) });
  const guard = createLoopGuard(clock, options.loopGuard);
  const writeLimiter = createWriteLimiter({ clock, limits: options.loopGuard, logger, metrics });
  const brake = createDeleteBrake({
    ...{ tenant, host, rules, logger, metrics, enqueue },
    limits: options.deleteBrake ?? DEFAULT_DELETE_BRAKE_LIMITS,
    confirmation: options.deletesConfirmed ?? createDeleteConfirmation(),
    orphans: (rule, key) => router.orphans(rule, key),
    engaged: (note) => options.braked?.(note),
  });
  const references =
    options.references &&
    createReferenceCopies({ ...options, guard, writeLimiter, brake, hooks, synced: rules, rules: options.references, user, owner, doubt });
  const goneObjects = createGoneObjects({
    clock,
    cached: ({ side, resource, object }) => (sides.get(resource.plural) ?? services)[side].get(keyOf(object)),
    doubt: ({ side, resource, object }) => doubt(side, resource, keyOf(object)),
  });
  const missingNamespaces = createMissingNamespaces(enqueue, referencesWaiting);
  const shared: SharedState = {
    records,
    router,
    guard,
    writeLimiter,
    missingNamespaces,
    goneObjects,
    awaited,
    outdated: new Map(),
    references,
    doubt,
  };
  const backends =
    router.backends &&
    createServiceBackends({
      ...{ tracked, router, writeLimiter, hooks, clock, metrics },
      ...{ service, shown, enqueue, isRejected: records.isRejected },
    });
  const handBack = handBackOf(options, sides.get(ENDPOINT_SLICES.plural)?.host);
  const slicesShown = handBack !== undefined && sides.has(ENDPOINT_SLICES.plural) ? host.source(ENDPOINT_SLICES) : undefined;
  const endHandBack = slicesShown?.onChange((key) => {
    const slice = slicesShown.get(key);
    if (slice !== undefined) handBack!.saw(slice);
  });
  const gather = createGather({
    services,
    syncedSlices: sides.get(ENDPOINT_SLICES.plural),
    router,
    awaited,
    brake,
    owner,
    ownsHostService: hooks.ownsHostService?.bind(hooks),
    backends: backends ?? handBack,
  });
  const machines = new Map(rules.map((rule) => [rule, createMachine(objectStrategy(rule, options.planner))]));

  function service(of: "tenant" | "host", key: ObjectKey): KubeObject | undefined {
    return services[of].get(key);
  }

  function doubt(of: "tenant" | "host", resource: ResourceType, key: ObjectKey): void {
    const side = sides.get(resource.plural);
    if (side === undefined) (of === "host" ? host : tenant).source(resource).relist?.();
    else side[of].doubt(key);
  }

  function shown(key: ObjectKey): KubeObject | undefined {
    return host.source(ENDPOINT_SLICES).get(key);
  }

  function user(id: string): ReferenceUser | undefined {
    const { plural, key } = parseSyncId(id);
    const side = sides.get(plural);
    return side && { resource: side.rules.kind.resource, key, object: side.tenant.get(key) };
  }

  function owner(): OwnerReference | undefined {
    return ownerService && ownerReference(hostServices.get(ownerService));
  }

  /** uid of the current owner. When it changes, all objects are enqueued, so that copies that were made earlier get the owner. */
  let ownerUid = owner()?.uid;
  const endOwner = hostServices.onChange((key) => {
    if (ownerService === undefined || !sameKey(key, ownerService) || ownerUid === owner()?.uid) return;
    ownerUid = owner()?.uid;
    if (ownerUid !== undefined) for (const { resource, tenantKey } of allRecords()) enqueue(syncId(resource, tenantKey));
  });

  /** Ids of referenced objects whose copies may wait for a host namespace: they are retried once another copy was made there. */
  function referencesWaiting(namespace: string): readonly string[] {
    const waiting = (references?.records() ?? []).filter(({ hostKey, notes }) => hostKey?.namespace === namespace && notes.length > 0);
    return waiting.map(({ resource, tenantKey }) => syncId(resource, tenantKey));
  }

  function allRecords(): readonly SyncRecord[] {
    return [...records.list(), ...(references?.records() ?? [])];
  }

  function begin(id: string, context?: RunContext): Generator<undefined, ReconcileRun> {
    return lanes.run(id, ENDPOINTS, beginAny(id, context));
  }

  function* beginAny(id: string, { logger: labelled = logger }: RunContext = {}): Generator<undefined, ReconcileRun> {
    const { plural, key } = parseSyncId(id);
    if (plural === BACKENDS && backends !== undefined) return backends.begin(key, labelled);
    const side = sides.get(plural);
    const referenced = side === undefined ? references?.begin(id, labelled) : undefined;
    if (referenced !== undefined) return referenced;
    if (side === undefined) throw new EngineError("INTERNAL", `Broken invariant: no rules for "${plural}"`);
    const hostKey = side.rules.translator.toHost(key, side.rules.kind.resource);
    shared.goneObjects.check(id);
    const seen = gather(id, side, key, hostKey);
    const version = sourceVersion(seen.tenant);
    const vanished = seen.host === undefined && (records.hadCopy(id) || guard.hasRecreated(id, version));
    const input = vanished ? { ...seen, vanished } : seen;
    if (records.settled(id, input)) {
      shared.outdated.delete(id);
      return createNoticeReconcile({ resource: side.rules.kind.resource, requeueAfterMs: writeLimiter.rests(id) });
    }
    if (hostKey !== undefined) router.claim(side.rules, key, hostKey);
    const start = {
      input,
      stoppedAt: guard.stoppedAt(id),
      recreationWaitMs: guard.recreationWaitMs(id, version),
      ...writeLimiter.restraint(id, version),
      outdatedTimes: shared.outdated.get(id) ?? 0,
    };
    const machine = machines.get(side.rules)!;
    const begun = beginObjectReconcile({ id, tracked: side, start, machine, shared, hooks, metrics, logger: labelled });
    // The copy of a slice must not go while a reconcile of its Service changes what replaces it for readers.
    const isReplaced = input.backends?.standIns?.some(({ side = "host", object }) => side === "host" && object !== undefined) === true;
    const service = plural === ENDPOINT_SLICES.plural && isReplaced ? input.backends?.service : undefined;
    return yield* service === undefined ? begun : lanes.runIn(formatKey(service), id, ENDPOINT_SLICES, begun);
  }

  return {
    begin,
    get synced() {
      return router.synced;
    },
    ...(handBack && { handBack: (access: ClusterAccess) => handBack.run(access) }),
    ...(references && { found: (kind, copy) => references.found(kind, copy) }),
    records: allRecords,
    contradicted: () => [...shared.outdated].flatMap(([id, times]) => (times >= CONTRADICTIONS_TOLD ? [id] : [])),
    standBy() {
      references?.standBy();
      handBack?.standBy();
    },
    close() {
      endOwner();
      endHandBack?.();
      references?.close();
      router.close();
      brake.close();
      if (options.memory === undefined) memory.close();
    },
  };
}
