import type { ResourceType } from "../../../kube/object/resource.ts";
import type { Request, Response } from "../../reconcile/machine.ts";
import { createNoticeReconcile, type ReconcileRun } from "./reconcile.ts";

/** Lanes for reconciles: at most one reconcile per lane runs at a time. */
export interface Lanes {
  /** Enqueues an id, or lets it wait while another id has its lane. */
  enqueue(id: string): void;
  /**
   * Begins the reconcile of an id if its lane is free, and takes the lane until the reconcile ends. Otherwise, does nothing, and enqueues
   * the id when the lane is free.
   */
  run(id: string, resource: ResourceType, begun: Generator<undefined, ReconcileRun>): Generator<undefined, ReconcileRun>;
  /** Like `run`, for an id without a lane of its own, whose writes need this lane. */
  runIn(lane: string, id: string, resource: ResourceType, begun: Generator<undefined, ReconcileRun>): Generator<undefined, ReconcileRun>;
}

/** Options of {@link createLanes}: where to enqueue ids, and which lane each id has. */
export interface LanesOptions {
  enqueue(id: string): void;
  /** Returns the lane of an id; ids without a lane run at any time. */
  laneOf(id: string): string | undefined;
}

/**
 * Creates the lanes, all of them free.
 *
 * @example
 * const lanes = createLanes({ enqueue: (id) => queue.add(id), laneOf: (id) => id.split("|")[1] });
 * lanes.run("endpoints|shop/db", ENDPOINTS, core.begin("endpoints|shop/db"));
 */
export function createLanes({ enqueue, laneOf }: LanesOptions): Lanes {
  /** Per taken lane: the id that has it. */
  const taken = new Map<string, string>();
  /** Per id: the lane that it did not get when it last began. It does not even begin again until that lane is free. */
  const needed = new Map<string, string>();
  /** Per id: the lane that it has. An abandoned reconcile that no longer needs its lane leaves it when it begins again. */
  const heldBy = new Map<string, string>();
  /** Per lane: the ids that wait for it. */
  const waiting = new Map<string, Set<string>>();

  /** Reports whether the id waits for another one. */
  function waits(id: string, lane: string): boolean {
    const holder = taken.get(lane);
    if (holder === undefined || holder === id) return false;
    waiting.set(lane, (waiting.get(lane) ?? new Set()).add(id));
    return true;
  }

  function leave(lane: string): void {
    // A reconcile that has its lane twice, because it waited for it and needs it, leaves it once.
    if (!taken.has(lane)) return;
    heldBy.delete(taken.get(lane) ?? "");
    taken.delete(lane);
    const ids = waiting.get(lane);
    if (ids === undefined) return;
    waiting.delete(lane);
    // The ids of this lane go before those that only need it: there can be any number of these, and one after the other begins.
    const [own, others] = [[...ids].filter((id) => laneOf(id) === lane), [...ids].filter((id) => laneOf(id) !== lane)];
    const [next, ...rest] = others;
    if (rest.length > 0) waiting.set(lane, new Set(rest));
    for (const id of next === undefined ? own : [...own, next]) enqueue(id);
  }

  /** Runs a reconcile in its lane, and leaves the lane when the reconcile ends or fails. */
  function* runIn(lane: string, id: string, resource: ResourceType, begun: Generator<undefined, ReconcileRun>) {
    if (waits(id, lane)) {
      needed.set(id, lane);
      return { ...createNoticeReconcile({ resource }), waits: true } as const;
    }
    needed.delete(id);
    waiting.get(lane)?.delete(id);
    // An abandoned reconcile keeps its lane until it is retried.
    taken.set(lane, id);
    heldBy.set(id, lane);
    let leaves = true;
    try {
      const run = yield* begun;
      leaves = run.request.type === "done";
      return leaves ? run : new RunInLane(run, () => leave(lane));
    } finally {
      if (leaves) leave(lane);
    }
  }

  return {
    runIn,
    enqueue(id) {
      const lane = laneOf(id);
      if (lane === undefined || !waits(id, lane)) enqueue(id);
    },
    run(id, resource, begun) {
      const lane = laneOf(id) ?? needed.get(id);
      const abandoned = heldBy.get(id);
      if (abandoned !== undefined && abandoned !== lane) leave(abandoned);
      return lane === undefined ? begun : runIn(lane, id, resource, begun);
    },
  };
}

/** A reconcile that leaves its lane at its end. */
class RunInLane implements ReconcileRun {
  readonly resource: ResourceType;
  readonly #run: ReconcileRun;
  readonly #leave: () => void;

  constructor(run: ReconcileRun, leave: () => void) {
    this.resource = run.resource;
    this.#run = run;
    this.#leave = leave;
  }

  get request(): Request {
    return this.#run.request;
  }

  *answer(response: Response): Generator<undefined, void> {
    let leaves = true;
    try {
      yield* this.#run.answer(response);
      leaves = this.request.type === "done";
    } finally {
      if (leaves) this.#leave();
    }
  }
}
