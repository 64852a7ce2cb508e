/**
 * One reconcile as a step machine: a state and the answer to its request give the next state and the next request. All of it is
 * data. Nothing here waits, reads a clock or talks to a cluster, so that a reconcile can be stopped between any two steps, and
 * replayed from its answers.
 *
 * ```
 * begin ─► plan ─► each live read that the plan rests on ─► plan again with its answer
 *       ─► each operation in order: each live read that it needs ─► create | update | delete
 *       ─► report ─► done
 * ```
 *
 * Synced objects, referenced objects, and slices that are made from copies differ in their plans, their live reads and their reports: each
 * has its own {@link ReconcileStrategy}.
 *
 * @module
 */
import { assert } from "../../base/errors.ts";
import type { ObjectKey } from "../../kube/object/key.ts";
import type { ResourceType } from "../../kube/object/resource.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { isRestoration, sourceVersion, type Note, type Operation, type Plan, type PlanInput } from "./plan-types.ts";

/** Input of a reconcile. */
export interface Start<Input = PlanInput> {
  readonly input: Input;
  /** Source version at which host edits were undone too often: at this version, no more of them are undone. */
  readonly stoppedAt?: string | undefined;
  /** Milliseconds for which a copy that was deleted too often must not be recreated. Default 0. */
  readonly recreationWaitMs?: number;
  /** Milliseconds that a plan waits if its object is written too often: one that writes only the copy, or also the source. Default 0. */
  readonly writeWaitMs?: number;
  readonly flowWaitMs?: number;
  readonly slowed?: SlowedTimes;
  /** Number of consecutive reconciles of this key whose plan was outdated. */
  readonly outdatedTimes: number;
}

/** The time since which writes are slowed, and the latest time of the next write, in milliseconds since 1970. */
export interface SlowedTimes {
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** A live read: of the object itself, not of its state in a cache. If `resource` is omitted, it is the kind that is reconciled. */
export interface LiveRead {
  readonly side: "tenant" | "host";
  readonly key: ObjectKey;
  readonly resource?: ResourceType;
}

/** A live read on which a plan depends. The name identifies the meaning of the answer. */
export interface PlanRead extends LiveRead {
  readonly name: string;
}

/** Request of a reconcile. */
export type Request =
  | ({ readonly type: "get" } & LiveRead)
  | { readonly type: "write"; readonly operation: Operation }
  /** Informs users, with Events on `object`. The answer changes nothing. */
  | { readonly type: "report"; readonly object: KubeObject; readonly notes: readonly Note[] }
  | { readonly type: "done"; readonly ending: Ending };

/** How a reconcile ended. */
export type Ending =
  /** The plan was carried out, or as much of it as is possible now. */
  | { readonly result: "settled"; readonly requeueAfterMs?: number }
  /** An object has changed since the plan was made. */
  | { readonly result: "outdated"; readonly requeueAfterMs: number }
  /** A cluster could not answer; the driver of the reconcile decides when to try again. */
  | { readonly result: "failed"; readonly error: unknown };

/** The answer to a request. */
export type Response =
  /** The object found, or the one stored now. */
  | { readonly type: "object"; readonly object: KubeObject }
  /** The object does not exist, or no longer exists. */
  | { readonly type: "absent" }
  /** The write did not happen, because the object is not as it was when the operation was planned. */
  | { readonly type: "outdated"; readonly reason: string }
  /** The write cannot succeed before something else changes; without a note, the reason need not be reported. */
  | { readonly type: "refused"; readonly note?: Note }
  /** There is no answer, so the request may or may not have been carried out. */
  | { readonly type: "failed"; readonly error: unknown };

/** The part of a plan that is carried out. */
export type PlannedSteps = Pick<Plan, "operations" | "notes">;

/** State of a reconcile. */
export interface ReconcileState<Input = PlanInput, Planned extends PlannedSteps = Plan> {
  readonly phase: "asking" | "confirming" | "writing" | "reporting" | "done";
  readonly start: Start<Input>;
  /** Input of the plan. */
  readonly input: Input;
  /** Names of the live reads for the plan so far. The last one is pending in the phase "asking". */
  readonly asked: readonly string[];
  readonly planned: Planned;
  /** The refused operation without which the plan was made again. */
  readonly refused?: Refused;
  /** Index of the operation in progress. */
  readonly index: number;
  /** Number of live reads for that operation whose results were as planned. */
  readonly checked: number;
  /** The input as the operations so far have changed it. */
  readonly written: Input;
  /** Notes so far: the plan's notes, and those of refused operations. */
  readonly notes: readonly Note[];
  /** Number of objects whose users were informed. */
  readonly reported: number;
  /** Set as soon as nothing more is written. */
  readonly ending?: Ending;
}

/** Effect of a refused operation: its notes, and the ending if it is not the usual one. */
export interface Refused {
  readonly notes: readonly Note[];
  readonly ending: Ending | undefined;
}

/** Reason to end before the last operation: a note about it, and the delay before the next reconcile, in milliseconds. */
export interface Obstacle {
  readonly note?: Note | undefined;
  readonly requeueAfterMs?: number;
}

/** The part that differs between reconciles of different objects. Pure, as the machine is. */
export interface ReconcileStrategy<Input, Planned extends PlannedSteps> {
  /** Makes the plan. Yields where other work may proceed. */
  plan(input: Input): Generator<undefined, Planned>;
  /** Returns the next live read on which the plan depends; undefined if there are no more. */
  planRead?(state: ReconcileState<Input, Planned>): PlanRead | undefined;
  /** Returns the input with the response to the last such read; undefined if the reconcile fails because there is no response. */
  learn?(state: ReconcileState<Input, Planned>, response: Response): Input | undefined;
  /** Returns the next live read that an operation requires, and the check of its result; undefined if there are no more. */
  check?(
    state: ReconcileState<Input, Planned>,
    operation: Operation,
  ): { readonly read: LiveRead; readonly isAsPlanned: (found: KubeObject | undefined) => boolean } | undefined;
  /** Reaction to clients that keep undoing writes. If omitted, writes are never held back for them. */
  readonly fights?: {
    sourceOf(input: Input): KubeObject | undefined;
    /** Reports whether an operation brings back a copy that another client deleted. */
    recreates(input: Input, operation: Operation): boolean;
    readonly restorationStopped: string;
    readonly recreationSlowed: string;
  };
  /** Returns the input of another plan without the refused or failed operation; undefined if the reconcile ends with that operation. */
  without?(state: ReconcileState<Input, Planned>, response: Response): { readonly input: Input; readonly refused: Refused } | undefined;
  /** Returns the input as changed by a successful write, or the obstacle if the cluster has not stored the write. Default: the input. */
  written?(state: ReconcileState<Input, Planned>, response: Response): { readonly input: Input } | Obstacle;
  /** Returns the obstacle after a refused operation. Default: the note of the answer. */
  refusal?(state: ReconcileState<Input, Planned>, note: Note | undefined): Obstacle;
  /** Returns the objects on which the notes are reported. */
  readers(state: ReconcileState<Input, Planned>): readonly KubeObject[];
  /** Returns the delay before the next reconcile, in milliseconds, if nothing else determines it. */
  againInMs?(state: ReconcileState<Input, Planned>): number | undefined;
  /** Converts a failure before it is passed on. Default: the failure itself. */
  failure?(error: unknown): unknown;
}

/** A state with its pending request. */
export interface Step<Input = PlanInput, Planned extends PlannedSteps = Plan> {
  readonly state: ReconcileState<Input, Planned>;
  readonly request: Request;
}

/** The two functions of the machine. Both yield where other work may proceed. */
export interface Machine<Input = PlanInput, Planned extends PlannedSteps = Plan> {
  /** Returns the first step of a reconcile. */
  begin(start: Start<Input>): Generator<undefined, Step<Input, Planned>>;
  /** Returns the step after `state`, whose request was answered. Must not be called for a reconcile that is done. */
  next(state: ReconcileState<Input, Planned>, response: Response): Generator<undefined, Step<Input, Planned>>;
}

/** Delay before an outdated reconcile is repeated, in milliseconds: by then, the cache has usually caught up. */
const OUTDATED_RETRY_MS = 50;
/** Maximum of that delay, which doubles each time: a cache that stays behind must not cause endless calls. */
const OUTDATED_RETRY_MAX_MS = 10_000;
/**
 * Number of consecutive contradictions after which caches are listed again: outdated reconciles, about a third of a second, or writes that
 * undo those of another writer.
 */
export const CONTRADICTIONS_MIN = 4;
/** Number of consecutive outdated reconciles, with delays of 13 s in total, after which users are informed. */
export const CONTRADICTIONS_TOLD = 9;
/** Maximum number of objects that get an Event about one reconcile; the status has the rest. */
export const READERS_MAX = 10;
/** Delay before an obstacle is checked again, in milliseconds, because it may disappear without a change in a cache. */
export const UNSEEN_RETRY_MS = 60_000;
/**
 * Delay before a cluster is asked again that has just said that a cached object is gone, in milliseconds. Usually the event of the deletion
 * comes first. But the answer can be wrong, for example from a proxy, and then no event follows.
 */
export const GONE_RETRY_MS = 5_000;

const CACHE_CONTRADICTED: Note = {
  code: "CACHE_CONTRADICTED",
  message:
    "The lists of an API server lack objects that the server has; the copy is not up to date, and the lists are read again once a minute",
};

/**
 * Creates the step machine of a strategy.
 *
 * @example
 * const machine = createMachine(objectStrategy(rules));
 * let { state, request } = finish(machine.begin({ input, outdatedTimes: 0 }));
 * while (request.type !== "done") ({ state, request } = finish(machine.next(state, await send(request))));
 */
export function createMachine<Input, Planned extends PlannedSteps>(strategy: ReconcileStrategy<Input, Planned>): Machine<Input, Planned> {
  type State = ReconcileState<Input, Planned>;
  type Next = Step<Input, Planned>;

  /** Makes the plan. A plan that depends on a cache alone is made again with the answers of the cluster; then it is carried out. */
  function* decide({ start, asked, refused }: Pick<State, "start" | "asked" | "refused">, input: Input): Generator<undefined, Next> {
    const planned = yield* strategy.plan(input);
    const notes = [...(refused?.notes ?? []), ...planned.notes];
    const made: State = { phase: "writing", start, asked, input, planned, notes, written: input, index: 0, checked: 0, reported: 0 };
    const state = refused === undefined ? made : { ...made, refused };
    const planRead = strategy.planRead?.(state);
    if (planRead === undefined) return operate(state);
    const { name, ...read } = planRead;
    return { state: { ...state, phase: "asking", asked: [...asked, name] }, request: { type: "get", ...read } };
  }

  /**
   * Begins the operation at `state.index`. Ends if there is none, or if it must wait: another client keeps undoing it, or its object is
   * written too often. A restoration that another client keeps undoing is left out: the copy exists, so its orphans can be deleted.
   */
  function operate(state: State): Next {
    const operation = state.planned.operations[state.index];
    if (operation === undefined) return settle(state);
    const { fights } = strategy;
    if (fights === undefined) return confirm(state);
    const { stoppedAt, recreationWaitMs = 0, slowed } = state.start;
    if (isRestoration(operation) && stoppedAt === sourceVersion(fights.sourceOf(state.input))) {
      const notes: readonly Note[] = [...state.notes, { code: "LOOP_STOPPED", message: fights.restorationStopped }];
      return operate({ ...state, index: state.index + 1, notes });
    }
    if (recreationWaitMs > 0 && fights.recreates(state.input, operation))
      return settle(state, { note: { code: "LOOP_STOPPED", message: fights.recreationSlowed }, requeueAfterMs: recreationWaitMs });
    const waitMs = slowedMs(state);
    return waitMs > 0 ? settle(state, { note: writesSlowed(slowed), requeueAfterMs: waitMs }) : confirm(state);
  }

  /** Requests the next live read that the operation depends on, or carries it out. */
  function confirm(state: State): Next {
    const read = strategy.check?.(state, operationOf(state))?.read;
    if (read !== undefined) return { state: { ...state, phase: "confirming" }, request: { type: "get", ...read } };
    return { state: { ...state, phase: "writing" }, request: { type: "write", operation: operationOf(state) } };
  }

  /** Checks the result of a live read: a stale cache must not remove an object that its cluster keeps. */
  function confirmed(state: State, response: Response): Next {
    if (response.type === "failed") return fail(state, response.error);
    const check = strategy.check?.(state, operationOf(state));
    const found = response.type === "object" ? response.object : undefined;
    return check?.isAsPlanned(found) === true ? confirm({ ...state, checked: state.checked + 1 }) : outdated(state);
  }

  function written(state: State, response: Response): Next {
    switch (response.type) {
      case "failed":
        return fail(state, response.error);
      case "outdated":
        return outdated(state);
      case "refused":
        // The next operation may depend on this one: an old copy is deleted only when the new one exists.
        return settle(state, strategy.refusal?.(state, response.note) ?? { note: response.note });
      case "object":
      case "absent": {
        const stored = strategy.written?.(state, response) ?? { input: state.written };
        return "input" in stored ? operate({ ...state, index: state.index + 1, checked: 0, written: stored.input }) : settle(state, stored);
      }
    }
  }

  function settle(before: State, { note, requeueAfterMs }: Obstacle = {}): Next {
    const state = note === undefined ? before : { ...before, notes: [...before.notes, note] };
    const againInMs = requeueAfterMs ?? strategy.againInMs?.(state);
    const settled: Ending = { result: "settled", ...(againInMs !== undefined && { requeueAfterMs: againInMs }) };
    return report({ ...state, ending: state.refused?.ending ?? settled });
  }

  function outdated(state: State): Next {
    const { outdatedTimes } = state.start;
    const requeueAfterMs = Math.min(OUTDATED_RETRY_MS * 2 ** outdatedTimes, OUTDATED_RETRY_MAX_MS);
    const ending: Ending = { result: "outdated", requeueAfterMs };
    return report({ ...state, ending, notes: outdatedTimes + 1 === CONTRADICTIONS_TOLD ? [CACHE_CONTRADICTED] : [] });
  }

  /** Reports to the next reader, and ends after the last one. */
  function report(state: State): Next {
    const { notes, reported, ending } = state;
    const object = notes.length > 0 && reported < READERS_MAX ? strategy.readers(state)[reported] : undefined;
    if (object === undefined) return end(state, ending!);
    return { state: { ...state, phase: "reporting", reported: reported + 1 }, request: { type: "report", object, notes } };
  }

  const end = (state: State, ending: Ending): Next => ({ state: { ...state, phase: "done", ending }, request: { type: "done", ending } });
  const fail = (state: State, error: unknown): Next => end(state, { result: "failed", error: strategy.failure?.(error) ?? error });

  return {
    begin: (start) => decide({ start, asked: [] }, start.input),
    *next(state, response) {
      switch (state.phase) {
        case "asking": {
          const input = strategy.learn?.(state, response);
          if (input !== undefined) return yield* decide(state, input);
          assert(response.type === "failed", "a response is recorded, unless it is a failure");
          return fail(state, response.error);
        }
        case "confirming":
          return confirmed(state, response);
        case "writing": {
          const other = strategy.without?.(state, response);
          return other === undefined ? written(state, response) : yield* decide({ ...state, refused: other.refused }, other.input);
        }
        case "reporting":
          return report(state);
        case "done":
          assert(false, "a reconcile that is done has no next step");
      }
    },
  };
}

/** Returns the operation in progress. */
export function operationOf({ planned, index }: ReconcileState<unknown, PlannedSteps>): Operation {
  return planned.operations[index]!;
}

/** Returns how long the plan waits because its object is written too often, in milliseconds; 0 if nothing of it is left to do. */
export function slowedMs({
  start: { writeWaitMs = 0, flowWaitMs = 0 },
  planned: { operations },
  index,
}: ReconcileState<unknown, PlannedSteps>): number {
  if (index >= operations.length) return 0;
  return operations.some(({ side }) => side === "tenant") ? flowWaitMs : writeWaitMs;
}

const OFTEN = "The object is repeatedly written although it does not change in its own cluster";

function writesSlowed(times: SlowedTimes | undefined): Note {
  const detail = times === undefined ? "" : `: slowed since ${toSecond(times.sinceMs)}, next write by ${toSecond(times.untilMs)}`;
  return { code: "WRITES_SLOWED", message: `${OFTEN}; until this stops, it is written less and less often${detail}` };
}

function toSecond(ms: number): string {
  return new Date(Math.ceil(ms / 1000) * 1000).toISOString().replace(".000", "");
}
