/**
 * One reconcile of the slices that are made of a copy of Endpoints: what is new and what changes is written first. Before anything changes
 * or goes, the copy is read live: only a cache has said what it says, or that it is not there, and another cache tells of the slices.
 *
 * @module
 */
import type { Logger } from "../../../base/logger.ts";
import type { Metrics } from "../../../base/metrics.ts";
import { keyOf } from "../../../kube/object/key.ts";
import type { ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS } from "../../../kube/object/resource.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import type { Ending, Request, Response } from "../../reconcile/machine.ts";
import type { Note, Operation } from "../../reconcile/plan-types.ts";
import type { ReconcileRun, SyncHooks } from "../run/reconcile.ts";
import type { Expectations } from "../state/expectations.ts";

/** What is to be written, in order. */
export interface MadeWrites {
  readonly operations: readonly Operation[];
  /** The copy of Endpoints as it was taken for. */
  readonly confirms: { readonly key: ObjectKey; readonly copy: KubeObject | undefined } | undefined;
}

/** What people hear once all is written. */
export interface BackendsReport {
  readonly object: KubeObject;
  readonly notes: readonly Note[];
}

/** What a reconcile works with. */
export interface BackendsReconcileOptions {
  readonly id: string;
  readonly writes: MadeWrites;
  readonly report?: BackendsReport | undefined;
  /** The newest that is known of slices on the host. */
  readonly target: Expectations;
  readonly outdatedTimes: number;
  readonly hooks: SyncHooks;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Tells whether what a live read has found is the copy that was planned from. */
  isStill(found: KubeObject | undefined): boolean;
  /** Hears of a slice that is stored now, or gone. */
  wrote(key: ObjectKey, stored: boolean): void;
  /** Hears what the host's API server says to a slice that it refuses. */
  refused(key: ObjectKey, note: Note | undefined): void;
  /** Hears that the world is not as it was planned from: this slice, or the copy. */
  outdated(key: ObjectKey): void;
  /** Hears that all was written. Returns after how many milliseconds to look again, if ever. */
  settled(writes: number): number | undefined;
}

/** The same as for other objects, in milliseconds. */
const OUTDATED_RETRY_MS = 50;
const OUTDATED_RETRY_MAX_MS = 10_000;
const REFUSED_RETRY_MS = 60_000;

/** Begins a reconcile. */
export function createBackendsReconcile(options: BackendsReconcileOptions): ReconcileRun {
  return new RunningBackends(options);
}

class RunningBackends implements ReconcileRun {
  readonly resource = ENDPOINT_SLICES;
  readonly #options: BackendsReconcileOptions;
  #index = 0;
  #written = 0;
  #confirmed = false;
  #next: (response: Response) => void = () => {};
  request!: Request;

  constructor(options: BackendsReconcileOptions) {
    this.#options = options;
    this.#operate();
  }

  *answer(response: Response): Generator<undefined, void> {
    this.#next(response);
  }

  #operate(): void {
    const { writes, settled, report } = this.#options;
    const operation = writes.operations[this.#index];
    if (operation === undefined) return this.#report(report, settled(this.#written));
    if (operation.action !== "create" && !this.#confirmed && writes.confirms !== undefined) return this.#confirm(writes.confirms.key);
    this.#write(operation);
  }

  #confirm(key: ObjectKey): void {
    this.request = { type: "get", side: "host", key, resource: ENDPOINTS };
    this.#next = (response) => {
      if (response.type === "failed") return this.#end({ result: "failed", error: response.error });
      this.#confirmed = this.#options.isStill(response.type === "object" ? response.object : undefined);
      if (this.#confirmed) this.#operate();
      else this.#outdated();
    };
  }

  #write(planned: Operation): void {
    const operation = this.#options.hooks.beforeWrite?.(planned) ?? planned;
    if (operation === "refuse") return this.#done(REFUSED_RETRY_MS);
    this.request = { type: "write", operation };
    const tell = this.#announce(operation);
    this.#next = (response) => {
      tell(response);
      this.#answered(operation, response);
    };
  }

  #announce(operation: Operation): (response: Response) => void {
    const { target } = this.#options;
    if (operation.action !== "delete") {
      const note = target.writing(keyOf(operation.object));
      return (response) => note(response.type === "object" ? response.object : undefined);
    }
    const before = target.get(operation.key);
    return (response) => void (response.type === "absent" && before !== undefined && target.removed(before));
  }

  #answered(operation: Operation, response: Response): void {
    const { id, logger, metrics, wrote } = this.#options;
    const { side, action, reason } = operation;
    if (response.type === "failed") return this.#end({ result: "failed", error: response.error });
    const result = response.type === "object" ? "written" : response.type === "absent" ? "deleted" : response.type;
    metrics.count("endpoint_sync_writes_total", { cluster: side, action, result });
    logger.debug("Applied", { id, action, side, reason, result });
    if (response.type === "outdated") return this.#outdated();
    const key = operation.action === "delete" ? operation.key : keyOf(operation.object);
    if (response.type === "refused") {
      this.#options.refused(key, response.note);
      return this.#done(REFUSED_RETRY_MS);
    }
    wrote(key, response.type === "object");
    this.#written += 1;
    this.#index += 1;
    this.#operate();
  }

  #report(report: BackendsReport | undefined, requeueAfterMs: number | undefined): void {
    if (report === undefined) return this.#done(requeueAfterMs);
    this.request = { type: "report", ...report };
    this.#next = () => this.#done(requeueAfterMs);
  }

  #outdated(): void {
    const operation = this.#options.writes.operations[this.#index]!;
    this.#options.outdated(operation.action === "delete" ? operation.key : keyOf(operation.object));
    const requeueAfterMs = Math.min(OUTDATED_RETRY_MS * 2 ** this.#options.outdatedTimes, OUTDATED_RETRY_MAX_MS);
    this.#end({ result: "outdated", requeueAfterMs });
  }

  #done(requeueAfterMs: number | undefined): void {
    this.#end({ result: "settled", ...(requeueAfterMs !== undefined && { requeueAfterMs }) });
  }

  #end(ending: Ending): void {
    this.request = { type: "done", ending };
  }
}
