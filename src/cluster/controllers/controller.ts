import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Registry } from "../../apiserver/verbs/registry.ts";
import type { Store, StoreWatch } from "../../apiserver/store/store.ts";
import type { KeyWorker } from "./key-worker.ts";

/** A controller that runs until it is stopped. */
export interface ClusterController {
  /** Resolves when it has caught up with everything stored so far. */
  settled(): Promise<void>;
  stop(): void;
}

/** Dependencies of a controller. */
export interface ClusterControllerOptions {
  readonly registry: Registry;
  readonly store: Store;
  readonly logger: Logger;
  readonly clock: Clock;
}

/** Combines a worker and the watches that feed it into a controller. The watches are stopped first, so that the worker gets no more keys. */
export function createClusterController(worker: KeyWorker, watches: readonly StoreWatch[]): ClusterController {
  return {
    settled: worker.settled,
    stop() {
      for (const watch of watches) watch.stop();
      worker.stop();
    },
  };
}
