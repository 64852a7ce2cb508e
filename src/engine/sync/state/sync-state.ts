import type { ObjectSource } from "../../../kube/object/object-source.ts";
import { createExpectations } from "./expectations.ts";
import type { Expectations } from "./expectations.ts";

/** Knowledge of a syncer that the clusters do not show (yet). It outlives a change of the configuration. */
export interface SyncState {
  /** The newest that is known of one cache's objects; the same for the same cache every time. */
  latest(source: ObjectSource): Expectations;
  close(): void;
}

/** Creates an empty state. */
export function createSyncState(): SyncState {
  const known = new Map<ObjectSource, Expectations>();
  return {
    latest(source) {
      const latest = known.get(source) ?? createExpectations(source);
      known.set(source, latest);
      return latest;
    },
    close() {
      for (const latest of known.values()) latest.close();
    },
  };
}
