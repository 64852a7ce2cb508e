import type { ResourceType } from "../../../kube/object/resource.ts";
import { createNoticeReconcile } from "./reconcile.ts";
import type { ReconcileRun } from "./reconcile.ts";

/** Reconciles of one lane exclude each other. */
export interface Lanes {
  /** Enqueues an id, or lets it wait while another one has its lane. */
  enqueue(id: string): void;
  /**
   * Begins the reconcile of an id if its lane is free, and takes the lane until it ends. Otherwise nothing is done, and the id is enqueued
   * when the lane is free.
   */
  run(id: string, resource: ResourceType, begun: Generator<undefined, ReconcileRun>): Generator<undefined, ReconcileRun>;
}

/** Where the ids go, and which of them have a lane. */
export interface LanesOptions {
  enqueue(id: string): void;
  /** Ids without a lane run at any time. */
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
  /** Lanes that are taken: by which id, and which ids wait. */
  const taken = new Map<string, { readonly by: string; waiting: readonly string[] }>();

  /** Reports whether the id waits for another one. */
  function waits(id: string, lane: string): boolean {
    const holder = taken.get(lane);
    if (holder === undefined || holder.by === id) return false;
    if (!holder.waiting.includes(id)) holder.waiting = [...holder.waiting, id];
    return true;
  }

  function leave(lane: string): void {
    const waiting = taken.get(lane)?.waiting ?? [];
    taken.delete(lane);
    for (const id of waiting) enqueue(id);
  }

  /** Leaves the lane as soon as the reconcile is over, or has failed. */
  function* within<Result>(lane: string, work: Generator<undefined, Result>, isOver: (result: Result) => boolean) {
    let leaves = true;
    try {
      const result = yield* work;
      leaves = isOver(result);
      return result;
    } finally {
      if (leaves) leave(lane);
    }
  }

  return {
    enqueue(id) {
      const lane = laneOf(id);
      if (lane === undefined || !waits(id, lane)) enqueue(id);
    },
    *run(id, resource, begun) {
      const lane = laneOf(id);
      if (lane === undefined) return yield* begun;
      if (waits(id, lane)) return { ...createNoticeReconcile({ resource }), waits: true };
      // One that was abandoned keeps its lane until it is tried again.
      taken.set(lane, { by: id, waiting: taken.get(lane)?.waiting ?? [] });
      const run = yield* within(lane, begun, ({ request }) => request.type === "done");
      if (run.request.type === "done") return run;
      return {
        resource: run.resource,
        get request() {
          return run.request;
        },
        answer: (response) => within(lane, run.answer(response), () => run.request.type === "done"),
      };
    },
  };
}
