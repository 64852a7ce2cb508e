import { isEngineError } from "../../../base/errors.ts";
import type { Logger } from "../../../base/logger.ts";
import type { Metrics } from "../../../base/metrics.ts";
import type { ObjectKey } from "../../../kube/object/key.ts";
import type { ResourceType } from "../../../kube/object/resource.ts";
import {
  CONTRADICTIONS_MIN,
  CONTRADICTIONS_TOLD,
  type Ending,
  type Machine,
  type ReconcileState,
  type Response,
  type Start,
} from "../../reconcile/machine.ts";
import { goneLive, isComplete } from "../../reconcile/object-strategy.ts";
import { isCopying, isRestoration, sourceVersion, type Operation, type Plan, type PlanInput } from "../../reconcile/plan-types.ts";
import type { Rules } from "../../reconcile/rules/rules.ts";
import {
  countNotes,
  beginReconcile,
  resourceLabels,
  showPlan,
  type ReconcileObserver,
  type ReconcileRun,
  type SyncHooks,
  type Tracked,
} from "./reconcile.ts";
import type { LoopGuard } from "../guards/loop-guard.ts";
import type { WriteLimiter } from "../guards/write-limiter.ts";
import type { StatusRecords } from "../state/status-records.ts";
import type { AwaitedSlices } from "./awaited-slices.ts";
import type { GoneObjects } from "./gone-objects.ts";
import type { EventHandlers } from "./event-handlers.ts";

/** Called with the plan of an object that may refer to others: before it is carried out, and when it has been. */
export interface ReferenceObserver {
  planned(id: string, rules: Rules, input: PlanInput, plan: Plan): void;
  settled(id: string, rules: Rules, input: PlanInput, plan: Plan): void;
}

/** State kept from one reconcile to the next. */
export interface SharedState {
  readonly guard: LoopGuard;
  readonly writeLimiter: WriteLimiter;
  readonly missingNamespaces: MissingNamespaces;
  readonly records: StatusRecords;
  readonly router: EventHandlers;
  readonly awaited: AwaitedSlices;
  /** Per id: the number of consecutive reconciles whose plan was outdated. */
  readonly outdated: Map<string, number>;
  readonly goneObjects: GoneObjects;
  /** Called when a cluster has contradicted the known state of one of its objects for a while. */
  doubt(side: "tenant" | "host", resource: ResourceType, key: ObjectKey): void;
  /** Observes the references in plans; undefined if referenced objects are not copied. */
  readonly references?: ReferenceObserver | undefined;
}

/** Dependencies of the reconcile of a synced object. */
export interface ObjectReconcileOptions {
  readonly id: string;
  readonly tracked: Tracked;
  readonly start: Start;
  readonly machine: Machine;
  readonly shared: SharedState;
  readonly hooks: SyncHooks;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Begins the reconcile of a synced object. Yields when the machine yields. */
export function beginObjectReconcile(options: ObjectReconcileOptions): Generator<undefined, ReconcileRun> {
  const { tracked } = options;
  return beginReconcile({ ...options, resource: tracked.rules.kind.resource, known: tracked, observer: new ObjectObserver(options) });
}

/** Records the results of the reconcile of one synced object: for its next reconcile, for the status, and for metrics. */
class ObjectObserver implements ReconcileObserver<PlanInput, Plan> {
  readonly #options: ObjectReconcileOptions;
  readonly #resource: ResourceType;
  /** Set if the object waits for its host namespace: the delay before a retry, or none if another object is retried for that namespace. */
  #waitMs: { readonly ms: number | undefined } | undefined;

  constructor(options: ObjectReconcileOptions) {
    this.#options = options;
    this.#resource = options.tracked.rules.kind.resource;
  }

  planned({ input, planned }: ReconcileState): void {
    showPlan(this.#options, this.#resource, input.key, planned);
  }

  /** Records references only now: those of a plan that depends on a cache alone may never be needed. */
  trusted({ input, planned }: ReconcileState): void {
    const { id, tracked, shared } = this.#options;
    shared.references?.planned(id, tracked.rules, input, planned);
  }

  answered(operation: Operation, response: Response, { planned, input, written }: ReconcileState): void {
    if (isCopying(operation)) this.#noteNamespace(planned, response);
    const { id, shared, tracked } = this.#options;
    // A cluster may refuse a write for good, as a quota does. All that the plan depends on was read before.
    if (response.type === "failed") shared.references?.settled(id, tracked.rules, input, planned);
    if (response.type !== "object" && response.type !== "absent") return;
    const { tenant, vanished } = input;
    const made = response.type === "object" && operation.side === "tenant" ? response.object : undefined;
    if (made === undefined) shared.writeLimiter.wrote(id, sourceVersion(written.tenant));
    else shared.writeLimiter.flowed(id, sourceVersion(made));
    if (isRestoration(operation)) shared.guard.restored(id, sourceVersion(tenant));
    if (isCopying(operation) && vanished === true) shared.guard.recreated(id, sourceVersion(tenant));
    // Another replica may delete what this one makes because one of the two has missed a change.
    if (isCopying(operation) && shared.guard.recreationWaitMs(id, sourceVersion(tenant)) > 0)
      for (const cache of [tracked.tenant, tracked.host]) cache.relist();
  }

  /** Records whether the host namespace is missing. A permission may be missing because the namespace with the role is. */
  #noteNamespace({ hostKey }: Plan, response: Response): void {
    const { id, shared } = this.#options;
    const namespace = hostKey?.namespace;
    if (namespace === undefined) return;
    const isMissing = response.type === "refused" && response.note?.code === "HOST_NAMESPACE_MISSING";
    const isForbidden =
      response.type === "failed" && isEngineError(response.error, "API_FORBIDDEN") && !OF_OBJECT.test(response.error.message);
    if (isMissing || isForbidden) this.#waitMs = { ms: shared.missingNamespaces.waits(id, namespace) };
    if (response.type === "object") shared.missingNamespaces.isThere(namespace);
  }

  ended(ending: Ending, state: ReconcileState): number | undefined {
    const { id, shared, tracked } = this.#options;
    shared.awaited.ended(id, ending, state);
    if (ending.result === "outdated") this.#noteContradiction(state);
    if (ending.result === "settled") {
      shared.outdated.delete(id);
      shared.goneObjects.look(id, goneLive(tracked.rules, state));
      shared.references?.settled(id, tracked.rules, state.input, state.planned);
    }
    if (ending.result === "failed" && state.phase === "done") this.#recordRefusal(ending.error, state);
    // The references were recorded with the plan, and must be recorded again if everything returns to the earlier state.
    if (ending.result !== "settled") shared.records.unsettle(id);
    // A copy that the brake holds is reported although its object is deleted.
    else if (state.input.tenant !== undefined || state.notes.length > 0) this.#record(state);
    // The cache still has an object that is gone from its cluster. The cluster was asked because there was a copy, and is asked again.
    // Or the copy waits for what replaces it: its end must be noticed, also if another writer deletes it.
    else if (state.start.input.tenant !== undefined || state.planned.state === "waiting") shared.records.unsettle(id);
    else {
      shared.records.forget(id);
      shared.guard.forget(id);
      shared.router.release(tracked.rules, state.input.key);
    }
    // A slowed object is reconciled again when it may have come to rest, and an object that waits for its namespace is retried.
    if (this.#waitMs === undefined) shared.missingNamespaces.leaves(id);
    if (ending.result !== "settled") return undefined;
    if (this.#waitMs?.ms !== undefined) return this.#waitMs.ms;
    if (state.notes.some(({ code }) => code === "WRITES_SLOWED")) shared.writeLimiter.held(id);
    return ending.requeueAfterMs ?? shared.writeLimiter.rests(id);
  }

  /** Doubts the caches after several outdated reconciles: a lagging cache catches up within moments, so one has missed a change. */
  #noteContradiction({ input, planned: { hostKey } }: ReconcileState): void {
    const { id, tracked, shared, logger, metrics } = this.#options;
    const times = (shared.outdated.get(id) ?? 0) + 1;
    shared.outdated.set(id, times);
    if (times < CONTRADICTIONS_MIN) return;
    metrics.count("endpoint_sync_contradictions_total", resourceLabels(this.#resource));
    if (times === CONTRADICTIONS_TOLD) logger.warn("A cache contradicts its cluster", { id, times });
    tracked.tenant.doubt(input.key);
    if (hostKey !== undefined) tracked.host.doubt(hostKey);
    for (const { side = "host", resource, key } of input.backends?.standIns ?? []) shared.doubt(side, resource, key);
  }

  /** Records a missing permission in the status, because it is not temporary: users who ask why there is no copy must see it. */
  #recordRefusal(error: unknown, { input, written, planned, notes }: ReconcileState): void {
    if (!isEngineError(error, "API_FORBIDDEN") || input.tenant === undefined) return;
    const { id, shared } = this.#options;
    const refused = { ...planned, state: "refused" } as const;
    const reported = [...notes, { code: error.code, message: error.message }];
    const facts = { resource: this.#resource.plural, input: written, planned: refused, notes: reported };
    shared.records.record(id, { ...facts, complete: false, failed: true });
  }

  #record(state: ReconcileState): void {
    const { id, shared, tracked, metrics } = this.#options;
    const { written, planned, notes } = state;
    countNotes(metrics, this.#resource, notes);
    const complete = isComplete(tracked.rules, state);
    const lagMs = shared.records.record(id, { resource: this.#resource.plural, input: written, planned, notes, complete });
    if (lagMs !== undefined) metrics.observe("endpoint_sync_lag_seconds", lagMs / 1000, resourceLabels(this.#resource));
  }
}

/** Tracks the objects that wait for missing host namespaces. Of those that wait for one namespace, only one is retried. */
export interface MissingNamespaces {
  /** Records that a copy waits for a namespace. Returns the delay before a retry, in milliseconds; undefined if another one is retried. */
  waits(id: string, namespace: string): number | undefined;
  /** Records that an object no longer waits; another one is retried in its place. */
  leaves(id: string): void;
  /** Records that a copy was made in a namespace, and enqueues the objects that wait for it. Returns whether there are any. */
  isThere(namespace: string): boolean;
}

/** Minimum delay before a retry for one namespace, in milliseconds. */
export const PROBE_MS = 3_000;
/**
 * Average time between retries for all missing namespaces together in the end, in milliseconds. The delay of each namespace doubles up to
 * the one that results from their number, so that a namespace that appears soon does not wait for many others that never do.
 */
const BETWEEN_PROBES_MS = 500;
/** What kube-apiserver says if a quota, a webhook or a policy refuses an object: its namespace exists. */
const OF_OBJECT = /exceeded quota|denied (the )?request/;

/**
 * Creates a record of missing namespaces, empty at first. Passes the objects that no longer need to wait to `enqueue`, along with those of
 * `others`.
 */
export function createMissingNamespaces(
  enqueue: (id: string) => void,
  others: (namespace: string) => readonly string[] = () => [],
): MissingNamespaces {
  /** Per namespace: the objects that wait for it, and the number of tries. The first object is retried. */
  const waiting = new Map<string, { readonly ids: Set<string>; tries: number }>();
  const namespaceOf = new Map<string, string>();

  function leaves(id: string): void {
    const namespace = namespaceOf.get(id);
    if (namespace === undefined) return;
    namespaceOf.delete(id);
    const { ids } = waiting.get(namespace)!;
    const wasTried = first(ids) === id;
    ids.delete(id);
    if (ids.size === 0) waiting.delete(namespace);
    else if (wasTried) enqueue(first(ids)!);
  }

  return {
    leaves,
    waits(id, namespace) {
      if (namespaceOf.get(id) !== namespace) leaves(id);
      namespaceOf.set(id, namespace);
      const known = waiting.get(namespace) ?? { ids: new Set(), tries: 0 };
      waiting.set(namespace, known);
      if (first(known.ids.add(id)) !== id) return undefined;
      const mostMs = Math.max(PROBE_MS, waiting.size * BETWEEN_PROBES_MS);
      return Math.min(PROBE_MS * 2 ** known.tries++, mostMs);
    },
    isThere(namespace) {
      const ids = waiting.get(namespace)?.ids;
      if (ids === undefined) return false;
      waiting.delete(namespace);
      for (const id of ids) {
        namespaceOf.delete(id);
        enqueue(id);
      }
      others(namespace).forEach(enqueue);
      return true;
    },
  };
}

function first(ids: ReadonlySet<string>): string | undefined {
  return ids.values().next().value;
}
