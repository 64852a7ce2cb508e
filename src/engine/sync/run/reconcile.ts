import { finish } from "../../../base/finish.ts";
import type { Logger } from "../../../base/logger.ts";
import type { Metrics, MetricLabels } from "../../../base/metrics.ts";
import { keyOf, type ObjectKey } from "../../../kube/object/key.ts";
import { qualifiedPlural, type ResourceType } from "../../../kube/object/resource.ts";
import { withPartsOf } from "../../../kube/runtime/informer/object-cache.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import type { Outcome } from "../../patch/types.ts";
import {
  READERS_MAX,
  type Ending,
  type Machine,
  type ReconcileState,
  type Request,
  type Response,
  type Start,
  type Step,
  type PlannedSteps,
} from "../../reconcile/machine.ts";
import type { Note, Operation, Plan, PlanState } from "../../reconcile/plan-types.ts";
import { remembered } from "../../reconcile/rules/remembered.ts";
import type { Rules } from "../../reconcile/rules/rules.ts";
import type { ReportedEvent } from "../report/events.ts";
import type { Expectations } from "../state/expectations.ts";

/** Hooks with which an embedder can observe, change or stop the sync. */
export interface SyncHooks {
  /** Receives every write before it happens, and returns it, a replacement, or "refuse" to skip it until the object changes again. */
  beforeWrite?(operation: Operation): Operation | "refuse";
  /** Receives every plan. */
  onPlan?(key: ObjectKey, resource: string, plan: Plan): void;
  /** Receives the outcome of each patch of a plan. `key` is the tenant key of the object, `resource` the plural of its kind. */
  onOutcome?(outcome: Outcome, key: ObjectKey, resource: string): void;
  /** Receives Events instead of the cluster. Errors are logged. */
  recordEvent?(event: ReportedEvent): void | Promise<void>;
  /**
   * With `services: "external"`, reports whether the host Service at this host key may get copies of backends. If false, the Service
   * counts as missing; if true, it counts regardless of its markers. Default: true if its markers, or those of another syncer, name this
   * virtual cluster and the tenant Service, or if its annotation `stands-for` with the marker prefix names the tenant Service.
   */
  ownsHostService?(hostKey: ObjectKey): boolean;
}

/** One synced kind, with its newest known objects on both sides. */
export interface Tracked {
  readonly rules: Rules;
  readonly tenant: Expectations;
  readonly host: Expectations;
}

/** One reconcile in progress. */
export interface ReconcileRun {
  readonly resource: ResourceType;
  /** The pending request; `done` if it is over. */
  readonly request: Request;
  /** Another reconcile excludes this one: it is over, and its id is enqueued when it may begin. */
  readonly waits?: true;
  /** Takes the answer to {@link request}, and determines the next request. Yields where other work may proceed. */
  answer(response: Response): Generator<undefined, void>;
}

/** Observes the plans, writes and end of a reconcile. */
export interface ReconcileObserver<Input, Planned extends PlannedSteps> {
  /** Called with every plan. */
  planned?(state: ReconcileState<Input, Planned>): void;
  /** Called with a plan that no longer depends on a cache alone, before its first operation. */
  trusted?(state: ReconcileState<Input, Planned>): void;
  /** Called with the answer to a write. */
  answered(operation: Operation, response: Response, state: ReconcileState<Input, Planned>): void;
  /** Called with the ending, before it is reported. Returns the delay before the next reconcile, in milliseconds, if not the ending's. */
  ended(ending: Ending, state: ReconcileState<Input, Planned>): number | undefined;
}

/** Dependencies of a reconcile. */
export interface ReconcileOptions<Input, Planned extends PlannedSteps> {
  readonly id: string;
  readonly resource: ResourceType;
  readonly machine: Machine<Input, Planned>;
  readonly start: Start<Input>;
  /** The newest known state of the objects that are written. */
  readonly known: { readonly tenant?: Expectations; readonly host?: Expectations };
  readonly observer: ReconcileObserver<Input, Planned>;
  readonly hooks: SyncHooks;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/**
 * Begins a reconcile: runs the step machine and observes its requests and responses. Every write is passed to the embedder, recorded in the
 * known state of its object, counted and logged. Yields when the machine yields.
 */
export function* beginReconcile<Input, Planned extends PlannedSteps>(
  options: ReconcileOptions<Input, Planned>,
): Generator<undefined, ReconcileRun> {
  return new RunningReconcile(options, yield* options.machine.begin(options.start));
}

class RunningReconcile<Input, Planned extends PlannedSteps> implements ReconcileRun {
  readonly resource: ResourceType;
  readonly #options: ReconcileOptions<Input, Planned>;
  #state!: ReconcileState<Input, Planned>;
  request!: Request;
  /** Records the answer to a write before the machine sees it. */
  #noteAnswer: ((response: Response) => void) | undefined;
  #planned: Planned | undefined;
  #trusted: Planned | undefined;
  #ending: Ending | undefined;

  constructor(options: ReconcileOptions<Input, Planned>, step: Step<Input, Planned>) {
    this.#options = options;
    this.resource = options.resource;
    this.#take(step);
  }

  *answer(answered: Response): Generator<undefined, void> {
    let response = answered;
    const { operation } = this.request as Partial<Extract<Request, { type: "write" }>>;
    // Parts that were stored as sent keep the identity of the sent parts, so that results remembered for these stay valid.
    if (response.type === "object" && operation !== undefined && operation.action !== "delete")
      response = { type: "object", object: withPartsOf(operation.object, response.object) };
    this.#noteAnswer?.(response);
    this.#take(yield* this.#options.machine.next(this.#state, response));
  }

  #take({ state, request }: Step<Input, Planned>): void {
    const { observer } = this.#options;
    this.#state = state;
    this.request = request;
    this.#noteAnswer = undefined;
    const { phase, planned, ending } = state;
    if (this.#planned !== planned) observer.planned?.(state);
    this.#planned = planned;
    // A plan whose live reads failed may never be carried out.
    const isTrusted = phase !== "asking" && !(phase === "done" && ending?.result === "failed");
    if (isTrusted && this.#trusted !== planned) observer.trusted?.(state);
    if (isTrusted) this.#trusted = planned;
    if (request.type === "write") return this.#prepareWrite(request.operation);
    if (ending !== undefined) this.#ending ??= withDelay(ending, observer.ended(ending, state));
    if (request.type === "done") this.request = { type: "done", ending: this.#ending! };
  }

  #prepareWrite(planned: Operation): void {
    const { id, hooks, known, observer, logger, metrics } = this.#options;
    const operation = hooks.beforeWrite?.(planned) ?? planned;
    if (operation === "refuse") return finish(this.answer({ type: "refused" }));
    this.request = { type: "write", operation };
    // The write is announced, so that its answer counts before the caches show the write.
    const latest = known[operation.side];
    const stored = operation.action === "delete" ? undefined : latest?.writing(keyOf(operation.object));
    const before = operation.action === "delete" ? latest?.get(operation.key) : undefined;
    this.#noteAnswer = (response) => {
      stored?.(response.type === "object" ? response.object : undefined);
      if (response.type === "absent" && before !== undefined) latest?.removed(before);
      const { side, action, reason } = operation;
      if (response.type !== "failed") {
        const result = response.type === "object" ? "written" : response.type === "absent" ? "deleted" : response.type;
        metrics.count("endpoint_sync_writes_total", writeLabels(side, action, result));
        logger.debug("Applied", { id, action, side, reason, result });
      }
      observer.answered(operation, response, this.#state);
    };
  }
}

/** Labels that contain only the kind. */
export const resourceLabels = remembered((resource: ResourceType): MetricLabels => ({ resource: qualifiedPlural(resource) }));

/** Labels of writes by their values. Cached, like those of plans. */
const labelsOfWrites = new Map<string, MetricLabels>();

function writeLabels(cluster: string, action: string, result: string): MetricLabels {
  const id = `${cluster} ${action} ${result}`;
  let labels = labelsOfWrites.get(id);
  if (labels === undefined) labelsOfWrites.set(id, (labels = { cluster, action, result }));
  return labels;
}

function withDelay(ending: Ending, requeueAfterMs: number | undefined): Ending {
  return ending.result === "settled" && requeueAfterMs !== undefined ? { ...ending, requeueAfterMs } : ending;
}

/**
 * Shows a plan to the embedder, and counts it. The number of label values is limited: states, outcomes, patch numbers, and the kinds that
 * the configuration names.
 */
export function showPlan(
  { hooks, metrics }: { readonly hooks: SyncHooks; readonly metrics: Metrics },
  resource: ResourceType,
  key: ObjectKey,
  plan: Plan,
): void {
  hooks.onPlan?.(key, resource.plural, plan);
  const name = qualifiedPlural(resource);
  const { state, outcomes } = plan;
  let labels = labelsByType.get(resource);
  if (labels === undefined) labelsByType.set(resource, (labels = {}));
  metrics.count("endpoint_sync_plans_total", (labels[state] ??= { resource: name, state }));
  let fuel = 0;
  for (const done of outcomes) {
    const { patch, outcome } = done;
    hooks.onOutcome?.(done, key, resource.plural);
    metrics.count("endpoint_sync_patch_outcomes_total", { resource: name, patch: patchLabel(patch), outcome });
    fuel += done.fuel;
  }
  if (fuel > 0) metrics.count("endpoint_sync_fuel_total", { resource: name }, fuel);
}

/**
 * Creates a reconcile that writes nothing: it reports `notes` on the objects in `users`.
 *
 * @example
 * createNoticeReconcile({ resource: SECRETS, requeueAfterMs: 20 }).request.type; // "done"
 */
export function createNoticeReconcile({ resource, users = [], notes = [], requeueAfterMs }: NoticeOptions): ReconcileRun {
  if (users.length === 0 && requeueAfterMs === undefined) return nothingToDo(resource);
  const reports = users.slice(0, READERS_MAX).map((object): Request => ({ type: "report", object, notes }));
  const ending = withDelay({ result: "settled" }, requeueAfterMs);
  const requests: readonly Request[] = [...reports, { type: "done", ending }];
  let index = 0;
  return {
    resource,
    get request() {
      return requests[index]!;
    },
    *answer() {
      index += 1;
    },
  };
}

/** The result of most reconciles. */
const nothingToDo = remembered((resource: ResourceType): ReconcileRun => ({
  resource,
  request: { type: "done", ending: { result: "settled" } },
  *answer() {},
}));

interface NoticeOptions {
  readonly resource: ResourceType;
  readonly users?: readonly KubeObject[];
  readonly notes?: readonly Note[];
  readonly requeueAfterMs?: number | undefined;
}

/** Cached, because there is a plan for every change. */
const labelsByType = new WeakMap<ResourceType, Partial<Record<PlanState, MetricLabels>>>();

/**
 * Counts the notes on a fully processed object, including refusals of an API server.
 *
 * @example
 * const metrics = createMetrics();
 * countNotes(metrics, ENDPOINTS, [{ code: "EXCLUDED", message: "The object has the pause annotation" }]);
 * metrics.value("endpoint_sync_notes_total", { resource: "endpoints", code: "EXCLUDED" }); // 1
 */
export function countNotes(metrics: Metrics, type: ResourceType, notes: readonly Note[]): void {
  const resource = qualifiedPlural(type);
  for (const { code } of notes) metrics.count("endpoint_sync_notes_total", { resource, code });
  const refused = notes.filter(({ code }) => code === "ADDRESS_REFUSED").length;
  if (refused > 0) metrics.count("endpoint_sync_refused_addresses_total", { resource }, refused);
}

/** Codes that alerts query. */
const ALERTED: readonly Note["code"][] = ["API_INVALID", "LOOP_STOPPED"];

/**
 * Starts the series that alerts query at 0, because Prometheus sees no increase in a series whose first value is 1.
 *
 * @example
 * beginSeries(metrics, ENDPOINTS, 1);
 * metrics.text().includes('outcome="error",patch="0",resource="endpoints"'); // true
 */
export function beginSeries(metrics: Metrics, type: ResourceType, patches: number): void {
  const resource = qualifiedPlural(type);
  for (const code of ALERTED) metrics.count("endpoint_sync_notes_total", { resource, code }, 0);
  metrics.count("endpoint_sync_refused_addresses_total", { resource }, 0);
  for (let patch = 0; patch < patches && patch <= PATCHES_MAX; patch += 1)
    metrics.count("endpoint_sync_patch_outcomes_total", { resource, patch: patchLabel(patch), outcome: "error" }, 0);
}

/** Number of patches of a list that have their own series; the others share one. */
const PATCHES_MAX = 100;

function patchLabel(patch: number): string {
  return patch < PATCHES_MAX ? String(patch) : "more";
}
