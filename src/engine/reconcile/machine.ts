/**
 * One reconcile as a step machine: a state and the answer to its request give the next state and the next request. All of it is
 * data. Nothing here waits, reads a clock or talks to a cluster, so that a reconcile can be stopped between any two steps, and
 * replayed from its answers.
 *
 * ```
 * begin ─► get the source, if the cache is behind the copy or the plan rests on the cached source ─► plan
 *       ─► get the Services, if the plan rests on cached Services ─► plan
 *       ─► each operation in order: get the source, if its state matters ─► create | update | delete
 *       ─► report ─► done
 * ```
 *
 * @module
 */
import { assert, isEngineError } from "../../base/errors.ts";
import { keyOf, sameKey } from "../../kube/object/key.ts";
import type { ObjectKey } from "../../kube/object/key.ts";
import { SERVICES } from "../../kube/object/resource.ts";
import type { ResourceType } from "../../kube/object/resource.ts";
import type { KubeObject, Service } from "../../kube/object/types.ts";
import { isStoredAsPlanned, isUnchanged } from "./copy/as-planned.ts";
import { planInPieces } from "./plan.ts";
import type { Note, Operation, Plan, PlanInput } from "./plan-types.ts";
import type { Rules } from "./rules/rules.ts";

/** Decides what to do about one key: `plan`, or a replacement of it. */
export type Planner = (rules: Rules, input: PlanInput) => Plan;

/** Input of a reconcile. */
export interface Start {
  readonly input: PlanInput;
  /** Source version at which host edits were undone too often: at this version none is undone any more. */
  readonly stoppedAt?: string | undefined;
  /** Milliseconds for which a copy that was deleted too often must not come back. Default 0. */
  readonly recreationWaitMs?: number;
  /** Milliseconds that a plan waits because its object is written too often: one for the copy only, or for the source too. Default 0. */
  readonly writeWaitMs?: number;
  readonly flowWaitMs?: number;
  readonly slowed?: SlowedTimes;
  /** Reconciles of this key in a row that met a changed world. */
  readonly outdatedTimes: number;
}

/** Request of a reconcile. */
export type Request =
  /** The object itself, not a cache's idea of it. Left out, `resource` is the kind that is reconciled. */
  | { readonly type: "get"; readonly side: "tenant" | "host"; readonly key: ObjectKey; readonly resource?: ResourceType }
  | { readonly type: "write"; readonly operation: Operation }
  /** Inform users, by Events on `object`. The answer changes nothing. */
  | { readonly type: "report"; readonly object: KubeObject; readonly notes: readonly Note[] }
  | { readonly type: "done"; readonly ending: Ending };

/** How a reconcile ended. */
export type Ending =
  /** The plan was carried out, or as much of it as can be now. */
  | { readonly result: "settled"; readonly requeueAfterMs?: number }
  /** The world is not as it was when the plan was made. */
  | { readonly result: "outdated"; readonly requeueAfterMs: number }
  /** A cluster could not answer; the driver of the reconcile decides when to try again. */
  | { readonly result: "failed"; readonly error: unknown };

/** The answer to a request. */
export type Response =
  /** The object found, or the one stored now. */
  | { readonly type: "object"; readonly object: KubeObject }
  /** There is no such object (any more). */
  | { readonly type: "absent" }
  /** The write did not happen, because the object is not as it was when the operation was planned. */
  | { readonly type: "outdated"; readonly reason: string }
  /** The write cannot succeed before something else changes; without a note, the reason need not be reported. */
  | { readonly type: "refused"; readonly note?: Note }
  /** There is no answer, so the request may or may not have been carried out. */
  | { readonly type: "failed"; readonly error: unknown };

/** Where a reconcile is. */
export interface ReconcileState {
  readonly phase: "confirming-source" | "confirming-copy" | "confirming-services" | "confirming-removal" | "writing" | "reporting" | "done";
  readonly start: Start;
  /** Input of the plan. */
  readonly input: PlanInput;
  /** Clusters whose Service was read live, for the input. */
  readonly servicesRead: readonly ("host" | "tenant")[];
  readonly planned: Plan;
  /** The last write was answered with the object as it was before: the cluster has not stored it. */
  readonly unstored?: boolean;
  /** The tenant cluster's refusal of a write of host edits, which the plan therefore leaves pending. */
  readonly refused?: { readonly notes: readonly Note[]; readonly ending: Ending | undefined };
  /** The operation that is under way. */
  readonly index: number;
  /** The input as the operations so far have changed it. */
  readonly written: PlanInput;
  /** Notes so far: the plan's notes, and those of refused operations. */
  readonly notes: readonly Note[];
  /** A plan of {@link written} would have no operations. */
  readonly complete: boolean;
  /** The ending after the report, if it does not follow from the operations. */
  readonly ending?: Ending;
}

/** A state with its pending request. */
export interface Step {
  readonly state: ReconcileState;
  readonly request: Request;
}

/** A write that met a changed world is planned again after this time, in milliseconds: by then the cache has usually caught up. */
const OUTDATED_RETRY_MS = 50;
/** The time doubles with every such write in a row, up to this: a cache that stays behind must not cost calls without end. */
const OUTDATED_RETRY_MAX_MS = 10_000;
/** Notes of what may end without a change that any cache would tell. */
const LOOKED_AT_AGAIN: ReadonlySet<Note["code"]> = new Set(["HOST_NAMESPACE_MISSING", "API_INVALID", "DELETE_BRAKE"]);
/** Delay before an obstacle is checked again, in milliseconds, in case it vanishes unseen. */
const UNSEEN_RETRY_MS = 60_000;
/** Delay before a write that was not stored is repeated, in milliseconds; the write limiter slows further repetitions. */
const UNSTORED_RETRY_MS = 1_000;

/** The two functions of the machine. Both stop wherever something else may have its turn: see {@link finish}. */
export interface Machine {
  /** The first step of a reconcile. */
  begin(rules: Rules, start: Start): Generator<undefined, Step>;
  /** The step after `state`, whose request was answered. Must not be called for a reconcile that is done. */
  next(rules: Rules, state: ReconcileState, response: Response): Generator<undefined, Step>;
}

/**
 * The step machine over a planner.
 *
 * @example
 * const machine = createMachine();
 * let { state, request } = finish(machine.begin(rules, { input, outdatedTimes: 0 }));
 * while (request.type !== "done") ({ state, request } = finish(machine.next(rules, state, await send(request))));
 */
export function createMachine(planner?: Planner): Machine {
  /** Makes sure that the plan rests on the present state, not on a stale cache; then carries it out. */
  function* decide(rules: Rules, known: Known, input: PlanInput): Generator<undefined, Step> {
    const plan = planner === undefined ? yield* planInPieces(rules, input) : planner(rules, input);
    const state = planned(known, input, plan);
    // The cache is older than the copy. Either it lags, or the cluster went back in time: only the cluster knows.
    if (state.planned.state === "stale" || restsOnSource(state)) return ask({ ...state, phase: "confirming-source" }, "tenant", input.key);
    // The copy is older than the edits of it that the tenant has. The same is true of it.
    if (plan.restsOnCopy === true && input.copyConfirmed === undefined)
      return ask({ ...state, phase: "confirming-copy" }, "host", plan.hostKey!);
    return askService(rules, state) ?? operate(state);
  }

  /** The host's copy is kept up to date whatever a tenant cluster says of edits: they wait, and it ends as if nothing else were to do. */
  function* withoutEdits(rules: Rules, state: ReconcileState, response: Response): Generator<undefined, Step> {
    const notes = response.type === "refused" && response.note !== undefined ? [response.note] : [];
    const ending = response.type === "failed" ? ({ result: "failed", error: response.error } as const) : undefined;
    return yield* decide(rules, { ...state, refused: { notes, ending } }, { ...state.input, editsWait: true });
  }

  return {
    begin: (rules, start) => decide(rules, { start, servicesRead: [] }, start.input),
    *next(rules, state, response) {
      switch (state.phase) {
        case "confirming-source": {
          if (response.type === "failed" && !mayBelieveCache(state, response.error)) return fail(state, response.error);
          const tenant = response.type === "failed" ? state.input.tenant : response.type === "object" ? response.object : undefined;
          return yield* decide(rules, state, { ...state.input, ...heldBackends(state.input, tenant), tenant, sourceConfirmed: true });
        }
        case "confirming-copy": {
          // No role need grant it: then the copy stays until the cache shows another one.
          if (response.type === "failed" && !isEngineError(response.error, "API_FORBIDDEN")) return fail(state, response.error);
          const host = response.type === "object" ? response.object : undefined;
          const known = response.type === "failed" ? { copyConfirmed: false } : { host, copyConfirmed: true };
          return yield* decide(rules, state, { ...state.input, ...known });
        }
        case "confirming-services": {
          if (response.type === "failed") return fail(state, response.error);
          const service = response.type === "object" ? (response.object as Service) : undefined;
          const input = state.servicesRead.at(-1) === "host" ? { hostService: service } : { tenantService: service };
          return yield* decide(rules, state, { ...state.input, ...input });
        }
        case "confirming-removal":
          return removalAnswered(state, response);
        case "writing":
          if (isRefusedFlow(state, response)) return yield* withoutEdits(rules, state, response);
          return writeAnswered(rules, state, response);
        case "reporting":
          return end(state, state.ending ?? state.refused?.ending ?? settled(state));
        case "done":
          assert(false, "a reconcile that is done has no next step");
      }
    },
  };
}

/** Who tells readers was decided from the cached object: until the cache has the other one, its copy does not go by that. */
function heldBackends({ backends, tenant: cached }: PlanInput, tenant: KubeObject | undefined): Pick<PlanInput, "backends"> {
  const isAnother = tenant !== undefined && tenant.metadata.resourceVersion !== cached?.metadata.resourceVersion;
  return backends !== undefined && isAnother ? { backends: { ...backends, mayGo: false } } : {};
}

/** State before there is a plan. */
type Known = Pick<ReconcileState, "start" | "servicesRead" | "refused">;

function planned({ start, servicesRead, refused }: Known, input: PlanInput, plan: Plan): ReconcileState {
  return {
    phase: "writing",
    start,
    servicesRead,
    ...(refused && { refused }),
    input,
    planned: plan,
    index: 0,
    written: input,
    notes: [...(refused?.notes ?? []), ...plan.notes],
    complete: refused === undefined && plan.operations.length === 0,
  };
}

/** Tells that host edits did not reach the tenant, so that what else there is to do must not wait for them. */
function isRefusedFlow({ planned, index, input }: ReconcileState, response: Response): boolean {
  const operation = planned.operations[index]!;
  const isFlow = operation.side === "tenant" && operation.action === "update" && input.editsWait !== true;
  return isFlow && (response.type === "failed" || (response.type === "refused" && response.note !== undefined));
}

/** Tells that the plan rests on the source, and that only a cache has reported it so far. */
function restsOnSource({ planned, input }: ReconcileState): boolean {
  return planned.restsOnSource === true && planned.operations.length > 0 && input.sourceConfirmed !== true;
}

/**
 * A deleted copy comes back while its source cannot be asked: no other syncer removes it meanwhile, since that would
 * need an answer too. A cache that is behind the copy is never believed.
 */
function mayBelieveCache({ planned }: ReconcileState, error: unknown): boolean {
  return planned.state !== "stale" && isEngineError(error, "API_UNAVAILABLE");
}

/** Reads the next Service on which the plan rests and that only a cache has reported so far; undefined when there is none. */
function askService({ kind, translator }: Rules, state: ReconcileState): Step | undefined {
  const { planned, input, servicesRead } = state;
  const side = planned.restsOnServices?.find((candidate) => !servicesRead.includes(candidate));
  if (side === undefined || planned.operations.length === 0 || input.tenant === undefined) return undefined;
  const service = kind.serviceOf(input.key, input.tenant);
  const key = side === "tenant" ? service : service && translator.toHost(service, SERVICES);
  if (key === undefined) return undefined;
  const asking = { ...state, phase: "confirming-services", servicesRead: [...servicesRead, side] } as const;
  return { state: asking, request: { type: "get", side, key, resource: SERVICES } };
}

function ask(state: ReconcileState, side: "tenant" | "host", key: ObjectKey): Step {
  return { state, request: { type: "get", side, key } };
}

/** Begins the operation of `state.index`, or ends when there is none. */
function operate(state: ReconcileState): Step {
  const operation = state.planned.operations[state.index];
  if (operation === undefined) return report(state);
  if (isRestoration(operation) && state.start.stoppedAt === sourceVersion(state.input.tenant)) return report(withNote(state, LOOP_STOPPED));
  if (isHeldBack(state)) return report(withNote(state, LOOP_SLOWED));
  if (slowedMs(state) > 0) return report(withNote(state, writesSlowed(state.start.slowed)));
  if (operation.action === "delete" && operation.confirm !== "none")
    return ask({ ...state, phase: "confirming-removal" }, "tenant", state.input.key);
  return write(state, operation);
}

const LOOP_STOPPED: Note = {
  code: "LOOP_STOPPED",
  message: "Host edits keep coming back; the object is left alone until it changes in the tenant cluster",
};

const LOOP_SLOWED: Note = {
  code: "LOOP_STOPPED",
  message: "The copy keeps being deleted; it is recreated only rarely until the object changes in the tenant cluster",
};

/** Since when writes are slowed, and until when the next one waits at the longest, in milliseconds since 1970. */
export interface SlowedTimes {
  readonly sinceMs: number;
  readonly untilMs: number;
}

const OFTEN = "The object is written again and again though it does not change in its own cluster";

/** Note of a plan that waits because its object is written too often. */
export function writesSlowed(times: SlowedTimes | undefined): Note {
  const told = times === undefined ? "" : `: slowed since ${toSecond(times.sinceMs)}, next write by ${toSecond(times.untilMs)}`;
  return { code: "WRITES_SLOWED", message: `${OFTEN}; it is written less and less often until that stops${told}` };
}

function toSecond(ms: number): string {
  return new Date(Math.ceil(ms / 1000) * 1000).toISOString().replace(".000", "");
}

function write(state: ReconcileState, operation: Operation): Step {
  return { state: { ...state, phase: "writing" }, request: { type: "write", operation } };
}

/** A stale cache must not remove what its cluster wants to keep. */
function removalAnswered(state: ReconcileState, response: Response): Step {
  if (response.type === "failed") return fail(state, response.error);
  const operation = state.planned.operations[state.index]!;
  assert(operation.action === "delete", "only a delete asks for its source");
  const live = response.type === "object" ? response.object : undefined;
  const wanted = operation.confirm === "absent" ? undefined : state.input.tenant;
  return sourceVersion(live) === sourceVersion(wanted) ? write(state, operation) : outdated(state);
}

function writeAnswered(rules: Rules, state: ReconcileState, response: Response): Step {
  const operation = state.planned.operations[state.index]!;
  switch (response.type) {
    case "failed":
      return fail(state, response.error);
    case "outdated":
      return outdated(state);
    case "refused":
      // The next operation may rely on it: an old copy is deleted only when the new one exists.
      return report(response.note === undefined ? state : withNote(state, response.note));
    case "object":
    case "absent": {
      if (response.type === "object" && isUnchanged(operation, response.object)) return report({ ...state, unstored: true });
      const complete =
        state.refused === undefined && response.type === "object" && isStoredAsPlanned(rules, state.planned, response.object);
      const { host } = state.written;
      const isHostGone =
        response.type === "absent" && operation.action === "delete" && host !== undefined && sameKey(operation.key, keyOf(host));
      const changed = response.type === "object" ? { [operation.side]: response.object } : isHostGone ? { host: undefined } : {};
      return operate({ ...state, index: state.index + 1, written: { ...state.written, ...changed }, complete });
    }
  }
}

function withNote(state: ReconcileState, note: Note): ReconcileState {
  return { ...state, notes: [...state.notes, note] };
}

function report(state: ReconcileState): Step {
  const { notes, input } = state;
  if (input.tenant === undefined || notes.length === 0) return end(state, state.refused?.ending ?? settled(state));
  return { state: { ...state, phase: "reporting" }, request: { type: "report", object: input.tenant, notes } };
}

function settled(state: ReconcileState): Ending {
  if (isHeldBack(state)) return { result: "settled", requeueAfterMs: state.start.recreationWaitMs! };
  if (slowedMs(state) > 0) return { result: "settled", requeueAfterMs: slowedMs(state) };
  if (state.unstored === true) return { result: "settled", requeueAfterMs: UNSTORED_RETRY_MS };
  const refused = state.notes.some(({ code }) => LOOKED_AT_AGAIN.has(code));
  const { start, input, servicesRead } = state;
  // A cache reports no deletion of a Service that it has never had; a list may have left it out.
  const unseen = servicesRead.some((side) => serviceIn(start.input, side) === undefined && serviceIn(input, side) !== undefined);
  return { result: "settled", ...((refused || unseen) && { requeueAfterMs: UNSEEN_RETRY_MS }) };
}

function serviceIn({ hostService, tenantService }: PlanInput, side: "host" | "tenant"): Service | undefined {
  return side === "host" ? hostService : tenantService;
}

function outdated(state: ReconcileState): Step {
  const { outdatedTimes } = state.start;
  const requeueAfterMs = Math.min(OUTDATED_RETRY_MS * 2 ** outdatedTimes, OUTDATED_RETRY_MAX_MS);
  const ending: Ending = { result: "outdated", requeueAfterMs };
  if (outdatedTimes + 1 !== CONTRADICTIONS_TOLD || state.input.tenant === undefined) return end(state, ending);
  const notes = [CACHE_CONTRADICTED];
  return { state: { ...state, phase: "reporting", ending }, request: { type: "report", object: state.input.tenant, notes } };
}

/** After this many outdated reconciles in a row, about 20 s, users are informed. */
export const CONTRADICTIONS_TOLD = 9;

const CACHE_CONTRADICTED: Note = {
  code: "CACHE_CONTRADICTED",
  message: "The lists of an API server lack what it has; the copy is not up to date, and the lists are read again once a minute",
};

const fail = (state: ReconcileState, error: unknown): Step => end(state, { result: "failed", error });

function end(state: ReconcileState, ending: Ending): Step {
  return { state: { ...state, phase: "done" }, request: { type: "done", ending } };
}

/** Tells whether the next operation brings back a copy that was deleted too often. */
function isHeldBack({ start, planned, index }: ReconcileState): boolean {
  const operation = planned.operations[index];
  return operation !== undefined && isCopying(operation) && (start.recreationWaitMs ?? 0) > 0;
}

/** How long the plan waits because its object is written too often; a plan that has begun is finished. */
function slowedMs({ start: { writeWaitMs = 0, flowWaitMs = 0 }, planned: { operations }, index }: ReconcileState): number {
  if (index > 0 || operations.length === 0) return 0;
  return operations.some(({ side }) => side === "tenant") ? flowWaitMs : writeWaitMs;
}

/** Tells whether an operation creates the copy. */
export function isCopying({ action, side }: Operation): boolean {
  return action === "create" && side === "host";
}

/** Tells whether an operation only undoes an edit on the host. */
export function isRestoration(operation: Operation): boolean {
  return operation.action === "update" && operation.restores === true;
}

/** Identity of a state of the source, as text. */
export function sourceVersion(tenant: KubeObject | undefined): string {
  return `${tenant?.metadata.uid}/${tenant?.metadata.resourceVersion}`;
}
