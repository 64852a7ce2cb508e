/**
 * One reconcile of a referenced object: its write, the checks before it, and the report.
 *
 * Nothing of what an API server says about such an object is passed on, not even in an error: it might quote a Secret.
 *
 * @module
 */
import { assert, EngineError, isEngineError } from "../../../base/errors.ts";
import type { Logger } from "../../../base/logger.ts";
import type { Metrics } from "../../../base/metrics.ts";
import { keyOf } from "../../../kube/object/key.ts";
import type { ObjectKey } from "../../../kube/object/key.ts";
import { NAMESPACES } from "../../../kube/object/resource.ts";
import type { ResourceType } from "../../../kube/object/resource.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { writesSlowed } from "../../reconcile/machine.ts";
import type { Ending, Request, Response } from "../../reconcile/machine.ts";
import type { Note, Operation } from "../../reconcile/plan-types.ts";
import { planReferenceCopy, sourceSide } from "../../reconcile/references/reference-copy.ts";
import type { ReferencePlan } from "../../reconcile/references/reference-copy.ts";
import type { ReferenceInput, ReferenceRules } from "../../reconcile/references/reference-rules.ts";
import { namesakes, wordOf } from "../../reconcile/references/reference-source.ts";
import type { Expectations } from "../state/expectations.ts";
import { countNotes, countPlan } from "../report/plan-metrics.ts";
import type { SyncHooks, ReconcileRun } from "../run/reconcile.ts";
import type { Restraint } from "../guards/write-limiter.ts";

/** A tenant object that referred to the planned one. */
export interface FormerUser {
  readonly resource: ResourceType;
  readonly key: ObjectKey;
  /** As the cache has it; undefined if it is deleted. */
  readonly object: KubeObject | undefined;
}

/** Dependencies of a reconcile. */
export interface ReferenceReconcileOptions {
  readonly id: string;
  readonly rules: ReferenceRules;
  readonly input: ReferenceInput;
  /** The newest that is known of the copy. */
  readonly target: Expectations;
  /** Tenant objects that refer to it, to tell. */
  readonly users: readonly KubeObject[];
  /** The object that referred to it last, if known. */
  readonly formerUser: FormerUser | undefined;
  readonly outdatedTimes: number;
  readonly hooks: SyncHooks;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Called for a write that changed the copy, with the stored object. */
  wrote(operation: Operation, stored: KubeObject | undefined): void;
  /** Tells whether an edit of the copy may still be undone. */
  mayRestore(): boolean;
  /** Milliseconds until a deleted copy may come back; 0 for at once. */
  recreationWaitMs(): number;
  /** How long a copy that is written too often must not be written, in milliseconds; 0 for not at all. */
  restraint(): Pick<Restraint, "writeWaitMs" | "slowed">;
  /** Called with the result; not called if the plan could not be carried out. Returns the delay of the next check in milliseconds, if any. */
  settled(plan: ReferencePlan, notes: readonly Note[]): number | undefined;
}

/** The same as for other objects, in milliseconds. */
const OUTDATED_RETRY_MS = 50;
const OUTDATED_RETRY_MAX_MS = 10_000;
const REFUSED_RETRY_MS = 60_000;
/** Maximum number of tenant objects that get an Event about an object that they refer to; the status has the rest. */
export const USERS_TOLD_MAX = 10;

const LOOP_SLOWED: Note = {
  code: "LOOP_STOPPED",
  message: "The copy keeps being deleted; it is recreated only rarely until its source changes",
};

/** Begins a reconcile. */
export function createReferenceReconcile(options: ReferenceReconcileOptions): ReconcileRun {
  return new RunningReferenceTurn(options);
}

/**
 * A reconcile that writes nothing: it tells `users` about `notes`, if there are any.
 *
 * @example
 * createNoticeReconcile({ resource: SECRETS, requeueAfterMs: 20 }).request.type; // "done"
 */
export function createNoticeReconcile({ resource, users = [], notes = [], requeueAfterMs }: NoticeOptions): ReconcileRun {
  const reports = users.slice(0, USERS_TOLD_MAX).map((object): Request => ({ type: "report", object, notes }));
  const ending: Ending = { result: "settled", ...(requeueAfterMs !== undefined && { requeueAfterMs }) };
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

interface NoticeOptions {
  readonly resource: ResourceType;
  readonly users?: readonly KubeObject[];
  readonly notes?: readonly Note[];
  readonly requeueAfterMs?: number;
}

class RunningReferenceTurn implements ReconcileRun {
  readonly #options: ReferenceReconcileOptions;
  #plan: ReferencePlan | undefined;
  #index = 0;
  #notes: readonly Note[] = [];
  #refused = false;
  #heldBackMs = 0;
  /** The request that the next answer belongs to. */
  #next: (response: Response) => void = () => {};
  #told = 0;
  request!: Request;
  resource: ResourceType;

  constructor(options: ReferenceReconcileOptions) {
    this.#options = options;
    this.resource = options.input.kind.resource;
    this.#consider(options.input);
  }

  *answer(response: Response): Generator<undefined, void> {
    if (response.type === "failed" && !this.#isHidden(response.error) && !this.#mayBelieveCache(response.error))
      return this.#end({ result: "failed", error: withoutWords(response.error) });
    this.#next(response);
  }

  /** Without the right to look at namespaces, each of them may exist. */
  #isHidden(error: unknown): boolean {
    return this.request.type === "get" && this.request.resource === NAMESPACES && isEngineError(error, "API_FORBIDDEN");
  }

  /** As for other objects: a deleted copy comes back while its source cannot be asked. */
  #mayBelieveCache(error: unknown): boolean {
    return this.request.type === "get" && this.#plan?.cacheSuffices === true && isEngineError(error, "API_UNAVAILABLE");
  }

  /** Few names are ambiguous; for these the tenant cluster is asked which of the namespaces exist. */
  #consider(input: ReferenceInput): void {
    const { rules } = this.#options;
    const { kind, source, unusedMs } = input;
    const isImport = kind.direction === "toTenant" && source !== undefined && unusedMs === undefined;
    const others = isImport && wordOf(rules, input, source) === undefined ? namesakes(rules, input) : [];
    this.#askNamespaces(others, input);
  }

  #askNamespaces([name, ...rest]: readonly string[], input: ReferenceInput): void {
    if (name === undefined) return this.#begin({ ...input, namesakeExists: false });
    this.#ask({ side: "tenant", key: { namespace: "", name }, resource: NAMESPACES }, (response) =>
      response.type === "absent" ? this.#askNamespaces(rest, input) : this.#begin({ ...input, namesakeExists: true }),
    );
  }

  #begin(input: ReferenceInput): void {
    const { rules, hooks, metrics } = this.#options;
    const planned = (this.#plan = planReferenceCopy(rules, input));
    this.#notes = planned.notes;
    hooks.onPlan?.(input.key, this.resource.plural, planned);
    countPlan(metrics, this.resource, planned);
    if (planned.state === "stale") return this.#confirmSource(input);
    this.#operate();
  }

  /** The cache is older than the copy: either it lags, or the cluster went back in time. Only the cluster knows. */
  #confirmSource(input: ReferenceInput): void {
    this.#ask(sourceOf(input), (response) =>
      this.#begin({
        ...input,
        source: response.type === "object" ? response.object : response.type === "failed" ? input.source : undefined,
        sourceConfirmed: true,
      }),
    );
  }

  #ask(about: Omit<Extract<Request, { type: "get" }>, "type">, next: (response: Response) => void): void {
    this.request = { type: "get", ...about };
    this.#next = next;
  }

  get #planned(): ReferencePlan {
    assert(this.#plan !== undefined, "a reconcile that goes on has a plan");
    return this.#plan;
  }

  #operate(): void {
    const operation = this.#planned.operations[this.#index];
    if (operation === undefined) return this.#report();
    if (operation.action === "update" && operation.restores && !this.#options.mayRestore()) return this.#stopLoop();
    if (isRecreation(this.#options.input, operation)) this.#heldBackMs = this.#options.recreationWaitMs();
    if (this.#heldBackMs > 0) return this.#holdBack(LOOP_SLOWED);
    const { writeWaitMs, slowed } = this.#options.restraint();
    if (this.#index === 0) this.#heldBackMs = writeWaitMs;
    if (this.#heldBackMs > 0) return this.#holdBack(writesSlowed(slowed));
    if (operation.action === "delete" && operation.confirm === "absent") return this.#confirmAbsent(operation);
    if (operation.action === "delete" && this.#planned.confirmUnused) return this.#confirmUnused(operation);
    this.#write(operation);
  }

  #stopLoop(): void {
    this.#note({ code: "LOOP_STOPPED", message: "Edits of the copy keep coming back; it is left alone until its source changes" });
    this.#report();
  }

  #holdBack(note: Note): void {
    this.#note(note);
    this.#report();
  }

  #confirmAbsent(operation: Operation): void {
    this.#ask(sourceOf(this.#options.input), (response) => (response.type === "absent" ? this.#write(operation) : this.#outdated()));
  }

  /** The object that referred to it last must not have changed unnoticed. */
  #confirmUnused(operation: Operation): void {
    const { formerUser } = this.#options;
    if (formerUser === undefined) return this.#write(operation);
    this.resource = formerUser.resource;
    this.#ask({ side: "tenant", key: formerUser.key }, (response) => {
      this.resource = this.#options.input.kind.resource;
      const found = response.type === "object" ? response.object.metadata : undefined;
      const known = formerUser.object?.metadata;
      if (found?.uid === known?.uid && found?.resourceVersion === known?.resourceVersion) this.#write(operation);
      else this.#outdated();
    });
  }

  #write(planned: Operation): void {
    const operation = this.#options.hooks.beforeWrite?.(planned) ?? planned;
    if (operation === "refuse") return this.#report();
    this.request = { type: "write", operation };
    const tell = this.#announce(operation);
    this.#next = (response) => {
      tell(response);
      this.#written(operation, response);
    };
  }

  #announce(operation: Operation): (response: Response) => void {
    const { target, input } = this.#options;
    if (operation.side === sourceSide(input)) return () => {};
    if (operation.action !== "delete") {
      const noteStored = target.writing(keyOf(operation.object));
      return (response) => noteStored(response.type === "object" ? response.object : undefined);
    }
    const before = target.get(operation.key);
    return (response) => void (response.type === "absent" && before !== undefined && target.removed(before));
  }

  #written(operation: Operation, response: Response): void {
    const { id, logger, metrics, wrote } = this.#options;
    const { side, action, reason } = operation;
    const result = response.type === "object" ? "written" : response.type === "absent" ? "deleted" : response.type;
    metrics.count("endpoint_sync_writes_total", { cluster: side, action, result });
    logger.debug("Applied", { id, action, side, reason, result });
    if (response.type === "outdated") return this.#outdated();
    if (response.type === "refused") {
      this.#refused = true;
      this.#note(refusal(this.#options.input, operation, response.note));
      return this.#report();
    }
    wrote(operation, response.type === "object" ? response.object : undefined);
    this.#index += 1;
    this.#operate();
  }

  #note(note: Note): void {
    this.#notes = [...this.#notes, note];
  }

  /** Reports to the objects that refer to it, one after the other. */
  #report(): void {
    const user = this.#options.users[this.#told];
    if (user === undefined || this.#notes.length === 0 || this.#told >= USERS_TOLD_MAX) return this.#settle();
    this.#told += 1;
    this.request = { type: "report", object: user, notes: this.#notes };
    this.#next = () => this.#report();
  }

  #settle(): void {
    countNotes(this.#options.metrics, this.resource, this.#notes);
    const restMs = this.#options.settled(this.#planned, this.#notes);
    const requeueAfterMs = this.#heldBackMs > 0 ? this.#heldBackMs : this.#refused ? REFUSED_RETRY_MS : (this.#planned.againInMs ?? restMs);
    this.#end({ result: "settled", ...(requeueAfterMs !== undefined && { requeueAfterMs }) });
  }

  #outdated(): void {
    const requeueAfterMs = Math.min(OUTDATED_RETRY_MS * 2 ** this.#options.outdatedTimes, OUTDATED_RETRY_MAX_MS);
    this.#end({ result: "outdated", requeueAfterMs });
  }

  #end(ending: Ending): void {
    this.request = { type: "done", ending };
  }
}

/** Tells whether an operation brings back a copy that another client has deleted. */
export function isRecreation({ known }: Pick<ReferenceInput, "known">, { action }: Operation): boolean {
  return action === "create" && known !== undefined;
}

function sourceOf(input: ReferenceInput): { side: "tenant" | "host"; key: ObjectKey } {
  const side = sourceSide(input);
  return { side, key: side === "tenant" ? input.key : input.hostKey };
}

/** Note about a refused write: it shows the code, and nothing of the API server's message. */
function refusal({ kind, key }: ReferenceInput, { side }: Operation, note: Note | undefined): Note {
  if (note?.code !== "HOST_NAMESPACE_MISSING") {
    return {
      code: note?.code ?? "API_INVALID",
      message: `The ${side}'s API server refuses the copy of a ${kind.resource.kind} as invalid`,
    };
  }
  if (side === "host") return note;
  return { code: "REFERENCE_MISSING", message: `Namespace "${key.namespace}" does not exist in the tenant cluster` };
}

/**
 * The same failure without the words of the API server.
 *
 * @example
 * withoutWords(new EngineError("API_FORBIDDEN", "… data: aHVudGVyMg==")).message; // "Cannot copy a referenced object: API_FORBIDDEN"
 */
export function withoutWords(error: unknown): unknown {
  if (!isEngineError(error)) return new EngineError("INTERNAL", "Cannot copy a referenced object: an unexpected failure");
  const { retryAfterSeconds } = error.details;
  const details = typeof retryAfterSeconds === "number" ? { retryAfterSeconds } : {};
  return new EngineError(error.code, `Cannot copy a referenced object: ${error.code}`, { details });
}
