import { isEngineError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";

/** Works off keys one after the other, each once however often it was added meanwhile. */
export interface KeyWorker {
  add(key: string): void;
  /** Resolves when nothing is left to do. */
  settled(): Promise<void>;
  stop(): void;
}

/** Options of a worker. */
export interface KeyWorkerOptions {
  readonly name: string;
  readonly logger: Logger;
  /** Brings what the key names into its wanted state. Another writer in between is not a failure: the key is retried. */
  readonly reconcile: (key: string) => Promise<void>;
}

/** Conflicts with other writers that one key may meet in a row before it is given up until its next event. */
const CONFLICTS_MAX = 100;

/**
 * A worker without timers: it runs as soon as there is something to do, so it also works in simulated time.
 */
export function createKeyWorker({ name, logger, reconcile }: KeyWorkerOptions): KeyWorker {
  const waiting = new Set<string>();
  const conflicts = new Map<string, number>();
  let running: Promise<void> | undefined;
  let stopped = false;

  const attempt = async (key: string) => {
    try {
      await reconcile(key);
      conflicts.delete(key);
    } catch (error) {
      const count = (conflicts.get(key) ?? 0) + 1;
      conflicts.set(key, count);
      const again = isEngineError(error, "API_CONFLICT", "API_ALREADY_EXISTS") && count < CONFLICTS_MAX;
      if (again) waiting.add(key);
      // A worker that was stopped in the middle may find the store closed.
      else if (!stopped) logger.error("Cannot reconcile", { controller: name, key, error });
    }
  };
  const run = async () => {
    while (waiting.size > 0 && !stopped) {
      const [key] = waiting;
      waiting.delete(key!);
      await attempt(key!);
    }
    running = undefined;
  };
  return {
    add(key) {
      if (stopped) return;
      waiting.add(key);
      // The first step is not taken inside the event that brought the key.
      running ??= Promise.resolve().then(run);
    },
    async settled() {
      while (running !== undefined) await running;
    },
    stop() {
      stopped = true;
      waiting.clear();
    },
  };
}
