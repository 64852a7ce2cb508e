import { EngineError } from "../../base/errors.ts";
import type { ClusterClient } from "../object/cluster-client.ts";

/** Calls that a gate controls. */
export type GatedCalls = Pick<ClusterClient, "get" | "create" | "update" | "delete">;

/**
 * Wraps a client so that writes are refused while `open` returns false. Reads pass. A write that began earlier continues;
 * its resourceVersion fences it.
 *
 * Each write checks right before it begins, so that a process that was paused does not write based on outdated
 * state.
 *
 * @example
 * const writer = gateWrites(client, () => election.leading);
 * await writer.update(ENDPOINTS, object); // throws LEADERSHIP_LOST while another process leads
 */
export function gateWrites(calls: GatedCalls, open: () => boolean): GatedCalls {
  /** Rejects instead of throwing: these calls return promises. */
  const whenOpen = <Result>(write: () => Promise<Result>): Promise<Result> => (open() ? write() : Promise.reject(notLeading()));
  return {
    get: (resource, key) => calls.get(resource, key),
    create: (resource, object) => whenOpen(() => calls.create(resource, object)),
    update: (resource, object) => whenOpen(() => calls.update(resource, object)),
    delete: (resource, key, preconditions) => whenOpen(() => calls.delete(resource, key, preconditions)),
  };
}

/**
 * The failure of a write that must not begin.
 *
 * @example
 * notLeading().code; // "LEADERSHIP_LOST"
 */
function notLeading(): EngineError {
  return new EngineError("LEADERSHIP_LOST", "Cannot write: this process is not the leader");
}
