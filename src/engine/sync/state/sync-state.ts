import type { ObjectSource } from "../../../kube/object/object-source.ts";
import { createExpectations, type Expectations } from "./expectations.ts";

/** State of a syncer that the clusters do not show yet. It is kept when the configuration changes. */
export interface SyncState {
  /** Returns the newest known state of one cache's objects: always the same instance for the same cache. */
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
