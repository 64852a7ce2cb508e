import type { Clock } from "../../../base/clock.ts";
import type { ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS } from "../../../kube/object/resource.ts";
import type { Ending, ReconcileState } from "../../reconcile/machine.ts";
import { parseSyncId, syncId } from "../state/sync-id.ts";

/**
 * Lets a new copy of Endpoints wait until every slice of its Service has been reconciled once: only then is it known whether the copy needs
 * the label that disables the host's mirror, so that it is written once instead of twice.
 */
export interface AwaitedSlices {
  /**
   * Returns the maximum time, in milliseconds, for which a new copy waits for these slices without copies; undefined if it does not wait.
   * Slices that were reconciled in vain are not waited for, because readers need the mirror to see their endpoints.
   */
  waitMs(service: ObjectKey, uncopied: readonly ObjectKey[]): number | undefined;
  /** Records how a reconcile ended, and enqueues the Endpoints that wait for it. */
  ended(id: string, ending: Ending, state: ReconcileState): void;
}

/** Dependencies of the waits. */
export interface AwaitedSlicesOptions {
  readonly clock: Clock;
  serviceOf(slice: ObjectKey): ObjectKey | undefined;
  enqueue(id: string): void;
}

/** Time in which no slice was reconciled for the first time, in milliseconds, after which copies of Endpoints no longer wait. */
const WAIT_MS = 3_000;

/** Creates the waits; nothing has been reconciled. */
export function createAwaitedSlices({ clock, serviceOf, enqueue }: AwaitedSlicesOptions): AwaitedSlices {
  /** Ids of slices that were reconciled, whatever the result. */
  const tried = new Set<string>();
  /** Per id of Endpoints: the time since which they wait. */
  const waiting = new Map<string, number>();
  let triedAt = -Infinity;

  function sliceEnded(id: string, key: ObjectKey, isOver: boolean): void {
    if (isOver) {
      tried.delete(id);
      return;
    }
    if (!tried.has(id)) triedAt = clock.monotonic();
    tried.add(id);
    const service = serviceOf(key);
    const endpoints = service && syncId(ENDPOINTS.plural, service);
    if (endpoints !== undefined && waiting.has(endpoints)) enqueue(endpoints);
  }

  return {
    waitMs(service, uncopied) {
      if (uncopied.every((slice) => tried.has(syncId(ENDPOINT_SLICES.plural, slice)))) return undefined;
      const id = syncId(ENDPOINTS.plural, service);
      const now = clock.monotonic();
      const since = waiting.get(id) ?? now;
      waiting.set(id, since);
      const leftMs = Math.max(since, triedAt) + WAIT_MS - now;
      return leftMs > 0 ? leftMs : undefined;
    },
    ended(id, ending, { input, notes, planned }) {
      const { plural, key } = parseSyncId(id);
      // Endpoints and slices wait for the same Service, and both continue when it exists.
      const isOver = input.tenant === undefined || notes.some(({ code }) => code === "HOST_SERVICE_MISSING");
      if (plural === ENDPOINT_SLICES.plural) sliceEnded(id, key, isOver);
      else if (plural === ENDPOINTS.plural && (isOver || (ending.result === "settled" && planned.state !== "waiting"))) waiting.delete(id);
    },
  };
}
