import type { Chance } from "../../../src/base/chance.ts";
import type { Logger } from "../../../src/base/logger.ts";
import { createMetrics } from "../../../src/base/metrics.ts";
import { createController, type ControllerOptions, type Reconcile } from "../../../src/kube/runtime/controller.ts";
import { createWorkQueue } from "../../../src/kube/runtime/queue/work-queue.ts";
import { createFakeClock } from "../../support/fake-clock.ts";

const chance: Chance = { fraction: () => 0, uuid: () => "", bytes: (length) => new Uint8Array(length) };

/** A controller with a clock that stands still, and what it has logged. */
export function createWorld(reconcile: Reconcile, options: Partial<ControllerOptions> = {}) {
  const clock = createFakeClock();
  const metrics = createMetrics();
  const lines: { level: string; message: string; fields: Record<string, unknown> }[] = [];
  const line =
    (level: string) =>
    (message: string, fields = {}) =>
      void lines.push({ level, message, fields });
  const logger: Logger = { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
  const queue = createWorkQueue({ name: "endpoints", clock });
  const controller = createController({ name: "endpoints", queue, reconcile, clock, chance, logger, metrics, ...options });
  return { clock, metrics, lines, queue, controller };
}
