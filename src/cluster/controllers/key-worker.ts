/**
 * Runs the controllers of an embedded cluster on the syncer's controller runtime, but without timers: a key is retried immediately or with
 * its next event, so that the controllers also work in simulated time.
 *
 * @module
 */
import type { Chance } from "../../base/chance.ts";
import type { Clock } from "../../base/clock.ts";
import { isEngineError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { createController } from "../../kube/runtime/controller.ts";
import { createWorkQueue } from "../../kube/runtime/queue/work-queue.ts";

/** Processes keys one after the other, each once regardless of how often it was added in the meantime. */
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
  /** Reconciles the object of a key. A conflict with another writer is not a failure: the key is retried. */
  readonly reconcile: (key: string) => Promise<void>;
}

/** Consecutive conflicts with other writers after which a key is dropped until its next event. */
const CONFLICTS_MAX = 100;

/** The controllers use no timers and no random numbers. */
const NO_TIME: Clock = { now: () => 0, monotonic: () => 0, schedule: () => ({ cancel() {} }) };
const NO_CHANCE: Chance = { fraction: () => 0, uuid: () => "", bytes: (count) => new Uint8Array(count) };

/** Creates a controller with one worker. */
export function createKeyWorker({ name, logger, reconcile }: KeyWorkerOptions): KeyWorker {
  const conflicts = new Map<string, number>();
  const queue = createWorkQueue({ name, clock: NO_TIME });
  let stopped = false;
  const controller = createController({
    ...{ name, queue, workers: 1, clock: NO_TIME, chance: NO_CHANCE },
    async reconcile(key) {
      try {
        await reconcile(key);
        conflicts.delete(key);
      } catch (error) {
        const count = (conflicts.get(key) ?? 0) + 1;
        conflicts.set(key, count);
        if (isEngineError(error, "API_CONFLICT", "API_ALREADY_EXISTS") && count < CONFLICTS_MAX) return { requeueAfterMs: 0 };
        // A worker that was stopped in the middle may find the store closed.
        if (!stopped) logger.error("Cannot reconcile", { controller: name, key, error });
      }
      return undefined;
    },
  });
  controller.start();
  return {
    add(key) {
      // Keys that one event adds are processed after the event, each key once.
      if (queue.underway === 0) {
        queue.pause();
        void Promise.resolve().then(() => queue.resume());
      }
      queue.add(key);
    },
    settled: () => controller.settled(),
    stop() {
      stopped = true;
      void controller.stop();
    },
  };
}
