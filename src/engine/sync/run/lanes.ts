import type { ResourceType } from "../../../kube/object/resource.ts";
import { createNoticeReconcile } from "./reconcile.ts";
import type { ReconcileRun } from "./reconcile.ts";

/** A reconcile that is to begin. */
export interface LaneEntry {
  readonly id: string;
  readonly lane: string;
  readonly resource: ResourceType;
}

/** Reconciles of one lane exclude each other. */
export interface Lanes {
  /**
   * Begins the reconcile if its lane is free, and takes the lane until it ends. Otherwise nothing is done, and the id is enqueued as soon as
   * the lane is free.
   */
  run(entry: LaneEntry, begun: Generator<undefined, ReconcileRun>): Generator<undefined, ReconcileRun>;
}

/**
 * Lanes, all of them free.
 *
 * @param enqueue - called with the id of each reconcile that has waited.
 * @example
 * const lanes = createLanes((id) => queue.add(id));
 * lanes.run({ id: "endpoints|shop/db", lane: "shop/db", resource: ENDPOINTS }, core.begin("endpoints|shop/db"));
 */
export function createLanes(enqueue: (id: string) => void): Lanes {
  /** Lanes that are taken, with the ids that wait for each. */
  const taken = new Map<string, Set<string>>();

  function leave(lane: string): void {
    const waiting = taken.get(lane) ?? [];
    taken.delete(lane);
    for (const id of waiting) enqueue(id);
  }

  /** Leaves the lane as soon as the reconcile is over, or has failed. */
  function* within<Result>(lane: string, work: Generator<undefined, Result>, isOver: (result: Result) => boolean) {
    let isOverNow = true;
    try {
      const result = yield* work;
      isOverNow = isOver(result);
      return result;
    } finally {
      if (isOverNow) leave(lane);
    }
  }

  return {
    *run({ id, lane, resource }, begun) {
      const waiting = taken.get(lane);
      if (waiting !== undefined) {
        waiting.add(id);
        return { ...createNoticeReconcile({ resource }), waits: true };
      }
      taken.set(lane, new Set());
      const run = yield* within(lane, begun, ({ request }) => request.type === "done");
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
