import type { ObjectSource } from "../../../kube/object/object-source.ts";
import { createLatest } from "./latest.ts";
import type { Latest } from "./latest.ts";

/** What a syncer knows that the clusters do not say (yet). It outlives a change of the configuration. */
export interface SyncMemory {
  /** The newest that is known of one cache's objects; the same for the same cache every time. */
  latest(source: ObjectSource): Latest;
  close(): void;
}

/** An empty memory. */
export function createSyncMemory(): SyncMemory {
  const known = new Map<ObjectSource, Latest>();
  return {
    latest(source) {
      const latest = known.get(source) ?? createLatest(source);
      known.set(source, latest);
      return latest;
    },
    close() {
      for (const latest of known.values()) latest.close();
    },
  };
}
