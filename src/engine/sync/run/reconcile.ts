import { isEngineError } from "../../../base/errors.ts";
import { finish } from "../../../base/finish.ts";
import type { Logger } from "../../../base/logger.ts";
import type { Metrics } from "../../../base/metrics.ts";
import { keyOf } from "../../../kube/object/key.ts";
import type { ObjectKey } from "../../../kube/object/key.ts";
import { qualifiedPlural } from "../../../kube/object/resource.ts";
import type { ResourceType } from "../../../kube/object/resource.ts";
import { CONTRADICTIONS_TOLD, isCopying, isRestoration, sourceVersion } from "../../reconcile/machine.ts";
import type { Ending, Machine, ReconcileState, Request, Response, Start, Step } from "../../reconcile/machine.ts";
import type { Operation, Plan, PlanInput } from "../../reconcile/plan-types.ts";
import type { Outcome } from "../../patch/types.ts";
import type { Rules } from "../../reconcile/rules/rules.ts";
import type { ToldEvent } from "../report/events.ts";
import type { EventHandlers } from "./event-handlers.ts";
import type { Expectations } from "../state/expectations.ts";
import { countNotes, countPlan } from "../report/plan-metrics.ts";
import type { LoopGuard } from "../guards/loop-guard.ts";
import type { MissingNamespaces } from "../state/missing-namespaces.ts";
import type { StatusRecords } from "../state/status-records.ts";
import type { WriteLimiter } from "../guards/write-limiter.ts";

/** Hooks by which an embedder can observe, change or stop the sync. */
export interface SyncHooks {
  /** Sees every write before it happens; "refuse" leaves it out until the object changes again. */
  beforeWrite?(operation: Operation): Operation | "refuse";
  /** Sees every plan that was made. */
  onPlan?(key: ObjectKey, resource: string, plan: Plan): void;
  /** Sees what became of every patch of a plan. `key` is the tenant key of the object, `resource` the plural of its kind. */
  onOutcome?(outcome: Outcome, key: ObjectKey, resource: string): void;
  /** Receives Events in place of the cluster: they are not written. Errors are logged. */
  recordEvent?(event: ToldEvent): void | Promise<void>;
  /**
   * With `services: "external"`, tells whether the host Service at this host key is one of those that copies may stand beside.
   * One that is not counts as missing, one that is counts whatever its marks. Default: its markers, or those of another syncer, name
   * this virtual cluster and the tenant Service, or its annotation `stands-for` below the marker prefix does.
   */
  ownsHostService?(hostKey: ObjectKey): boolean;
}

/** One synced kind with the newest that is known of it on both sides. */
export interface Tracked {
  readonly rules: Rules;
  readonly tenant: Expectations;
  readonly host: Expectations;
}

/** Called with the plan of an object that may refer to others. */
export interface ReferenceObserver {
  planned(id: string, rules: Rules, input: PlanInput, plan: Plan): void;
}

/** State kept from one reconcile to the next. */
export interface SharedState {
  readonly guard: LoopGuard;
  readonly writeLimiter: WriteLimiter;
  readonly missingNamespaces: MissingNamespaces;
  readonly records: StatusRecords;
  readonly router: EventHandlers;
  /** Per id the reconciles in a row that met a changed world. */
  readonly outdated: Map<string, number>;
  /** Copies of objects that reference patches name; undefined while none are made. */
  readonly references?: ReferenceObserver | undefined;
}

/** One reconcile under way. */
export interface ReconcileRun {
  readonly resource: ResourceType;
  /** The pending request; `done` if it is over. */
  readonly request: Request;
  /** Takes the answer to {@link request}, and makes the next one. Yields where other work may proceed. */
  answer(response: Response): Generator<undefined, void>;
}

/** Dependencies of a reconcile. */
export interface ReconcileOptions {
  readonly id: string;
  readonly tracked: Tracked;
  readonly start: Start;
  readonly machine: Machine;
  readonly shared: SharedState;
  readonly hooks: SyncHooks;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Begins a reconcile: the step machine, with a record of its requests and answers. Stops as the machine does. */
export function* beginReconcile(options: ReconcileOptions): Generator<undefined, ReconcileRun> {
  const { machine, tracked, start } = options;
  return new RunningTurn(options, yield* machine.begin(tracked.rules, start));
}

/** Number of outdated reconciles in a row, about a third of a second, after which the caches are listed again. */
const CONTRADICTIONS_MIN = 4;
const SETTLED: Ending = { result: "settled" };

class RunningTurn implements ReconcileRun {
  readonly #options: ReconcileOptions;
  #state: ReconcileState;
  #request!: Request;
  /** Records the answer to a write before the machine sees it. */
  #noteAnswer: ((response: Response) => void) | undefined;
  /** After how long it is tried again, should it wait for its host namespace. */
  #waitMs: { readonly ms: number | undefined } | undefined;
  /** The plan whose references were noted last. */
  #noted: Plan | undefined;

  constructor(options: ReconcileOptions, step: Step) {
    this.#options = options;
    this.#state = step.state;
    this.#planned(step.state.planned);
    this.#take(step);
  }

  get resource(): ResourceType {
    return this.#options.tracked.rules.kind.resource;
  }

  get request(): Request {
    return this.#request;
  }

  *answer(response: Response): Generator<undefined, void> {
    this.#noteAnswer?.(response);
    const { machine, tracked } = this.#options;
    const step = yield* machine.next(tracked.rules, this.#state, response);
    if (step.state.planned !== this.#state.planned) this.#planned(step.state.planned);
    this.#take(step);
  }

  #take({ state, request }: Step): void {
    const wasReported = this.#state.phase === "reporting";
    this.#state = state;
    this.#request = request;
    this.#noteAnswer = undefined;
    this.#noteReferences();
    if (request.type === "write") return this.#prepareWrite(request.operation);
    if (request.type === "report" || (request.type === "done" && !wasReported)) this.#close(request);
    if (request.type === "done") this.#request = { type: "done", ending: this.#withRest(request.ending) };
  }

  #planned(planned: Plan): void {
    const { hooks, metrics } = this.#options;
    hooks.onPlan?.(this.#state.input.key, this.resource.plural, planned);
    for (const outcome of planned.outcomes) hooks.onOutcome?.(outcome, this.#state.input.key, this.resource.plural);
    countPlan(metrics, this.resource, planned);
  }

  /** A plan that rests on a cache alone may never be carried out, and its references never be needed. */
  #noteReferences(): void {
    const { id, tracked, shared } = this.#options;
    const { phase, planned, input } = this.#state;
    const failed = this.#request.type === "done" && this.#request.ending.result === "failed";
    const unsure = phase === "confirming-source" || phase === "confirming-copy" || phase === "confirming-services";
    if (unsure || failed || this.#noted === planned) return;
    this.#noted = planned;
    shared.references?.planned(id, tracked.rules, input, planned);
  }

  #prepareWrite(planned: Operation): void {
    const operation = this.#options.hooks.beforeWrite?.(planned) ?? planned;
    if (operation === "refuse") return finish(this.answer({ type: "refused" }));
    this.#request = { type: "write", operation };
    // Announced, so that its answer counts before the caches have it.
    const latest = this.#options.tracked[operation.side];
    const stored = operation.action === "delete" ? undefined : latest.writing(keyOf(operation.object));
    const before = operation.action === "delete" ? latest.get(operation.key) : undefined;
    this.#noteAnswer = (response) => {
      stored?.(response.type === "object" ? response.object : undefined);
      if (response.type === "absent" && before !== undefined) latest.removed(before);
      this.#noteWrite(operation, response);
    };
  }

  #noteWrite(operation: Operation, response: Response): void {
    if (isCopying(operation)) this.#noteNamespace(operation, response);
    if (response.type === "failed") return;
    const { id, shared, logger, metrics } = this.#options;
    const { side, action, reason } = operation;
    const result = response.type === "object" ? "written" : response.type === "absent" ? "deleted" : response.type;
    metrics.count("endpoint_sync_writes_total", { cluster: side, action, result });
    logger.debug("Applied", { id, action, side, reason, result });
    if (result !== "written" && result !== "deleted") return;
    const { tenant, vanished } = this.#state.input;
    const made = response.type === "object" && side === "tenant" ? response.object : undefined;
    if (made === undefined) shared.writeLimiter.wrote(id, sourceVersion(this.#state.written.tenant));
    else shared.writeLimiter.flowed(id, sourceVersion(made));
    if (isRestoration(operation)) shared.guard.restored(id, sourceVersion(tenant));
    if (isCopying(operation) && vanished === true) shared.guard.recreated(id, sourceVersion(tenant));
  }

  /** A right may be missing because the namespace that gave it is. */
  #noteNamespace(operation: Operation, response: Response): void {
    const { id, shared } = this.#options;
    const namespace = this.#state.planned.hostKey?.namespace;
    if (namespace === undefined || operation.action === "delete") return;
    const isMissing = response.type === "refused" && response.note?.code === "HOST_NAMESPACE_MISSING";
    const isForbidden = response.type === "failed" && isEngineError(response.error, "API_FORBIDDEN");
    if (isMissing || isForbidden) this.#waitMs = { ms: shared.missingNamespaces.waits(id, namespace) };
    if (response.type === "object") shared.missingNamespaces.isThere(namespace);
  }

  /** A slowed object is processed again when it may have rested, and one that waits for its namespace soon. */
  #withRest(ending: Ending): Ending {
    const { id, shared } = this.#options;
    if (this.#waitMs === undefined) shared.missingNamespaces.leaves(id);
    if (ending.result !== "settled") return ending;
    if (this.#waitMs?.ms !== undefined) return { ...ending, requeueAfterMs: this.#waitMs.ms };
    if (this.#state.notes.some(({ code }) => code === "WRITES_SLOWED")) shared.writeLimiter.held(id);
    if (ending.requeueAfterMs !== undefined) return ending;
    const restMs = shared.writeLimiter.rests(id);
    return restMs === undefined ? ending : { ...ending, requeueAfterMs: restMs };
  }

  /** Writes down how the reconcile ended. */
  #close(request: Request): void {
    const { id, shared } = this.#options;
    const { ending, refused } = this.#state;
    const { result } = request.type === "done" ? request.ending : (ending ?? refused?.ending ?? SETTLED);
    if (result === "outdated") this.#noteContradiction();
    if (request.type === "done" && request.ending.result === "failed") this.#recordRefusal(request.ending.error);
    // Its references were recorded with the plan, and must be recorded again if everything returns to the earlier state.
    if (result !== "settled") return shared.records.unsettle(id);
    shared.outdated.delete(id);
    // A copy that the brake holds is reported although its object is deleted.
    if (this.#state.input.tenant !== undefined || this.#state.notes.length > 0) return this.#record();
    // The cache still has an object that is gone from its cluster. The cluster was asked because there was a copy, and will be again.
    if (this.#options.start.input.tenant !== undefined) shared.records.unsettle(id);
    else this.#forget();
  }

  /** A cache that lags catches up within moments. One that still says otherwise than its cluster has missed something. */
  #noteContradiction(): void {
    const { id, tracked, shared, logger, metrics } = this.#options;
    const times = (shared.outdated.get(id) ?? 0) + 1;
    shared.outdated.set(id, times);
    if (times < CONTRADICTIONS_MIN) return;
    const { key } = this.#state.input;
    const hostKey = this.#state.planned.hostKey;
    metrics.count("endpoint_sync_contradictions_total", { resource: qualifiedPlural(this.resource) });
    if (times === CONTRADICTIONS_TOLD) logger.warn("A cache contradicts its cluster", { id, times });
    tracked.tenant.doubt(key);
    if (hostKey !== undefined) tracked.host.doubt(hostKey);
  }

  /** A missing permission is no passing fault: users who ask why there is no copy should see it. */
  #recordRefusal(error: unknown): void {
    if (!isEngineError(error, "API_FORBIDDEN") || this.#state.input.tenant === undefined) return;
    const { id, shared } = this.#options;
    const { written, planned, notes } = this.#state;
    const refused = { ...planned, state: "refused" } as const;
    const told = [...notes, { code: error.code, message: error.message }];
    const facts = { resource: this.resource.plural, input: written, planned: refused, notes: told };
    shared.records.record(id, { ...facts, complete: false, failed: true });
  }

  #forget(): void {
    const { id, shared, tracked } = this.#options;
    shared.records.forget(id);
    shared.guard.forget(id);
    shared.router.release(tracked.rules, this.#state.input.key);
  }

  #record(): void {
    const { id, shared, metrics } = this.#options;
    const { written, planned, notes, complete } = this.#state;
    countNotes(metrics, this.resource, notes);
    const lagMs = shared.records.record(id, { resource: this.resource.plural, input: written, planned, notes, complete });
    if (lagMs !== undefined) metrics.observe("endpoint_sync_lag_seconds", lagMs / 1000, { resource: qualifiedPlural(this.resource) });
  }
}
