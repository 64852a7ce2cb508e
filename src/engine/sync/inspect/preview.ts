/**
 * Previews the syncer's next actions by carrying them out: the same core and the same planner run on in-memory copies of both clusters
 * until nothing is left to do.
 *
 * @module
 */
import type { Clock } from "../../../base/clock.ts";
import { silentLogger } from "../../../base/logger.ts";
import { noMetrics } from "../../../base/metrics.ts";
import { formatKey } from "../../../kube/object/key.ts";
import { EVENTS, type ResourceType } from "../../../kube/object/resource.ts";
import { plan } from "../../reconcile/plan.ts";
import { writtenKey, type Operation, type Plan, type PlanInput } from "../../reconcile/plan-types.ts";
import type { Rules } from "../../reconcile/rules/rules.ts";
import type { Writer } from "../cluster/access.ts";
import { HAND_BACK } from "../backends/hand-back.ts";
import type { ClusterView } from "./cluster-view.ts";
import type { DeleteConfirmation } from "../guards/delete-brake.ts";
import type { EngineParts } from "../reconciler.ts";
import type { SyncRecord } from "../state/status-records.ts";
import { BACKENDS, parseSyncId, syncId } from "../state/sync-id.ts";
import { createSyncLoop, type SyncLoop } from "../syncer.ts";

/** Options of a preview; all but the clusters are those of the syncer. */
export interface PreviewOptions extends Omit<EngineParts, "loopGuard"> {
  readonly tenant: ClusterView;
  readonly host: ClusterView;
  readonly deletesConfirmed?: DeleteConfirmation;
  /** Ids that are processed even if neither cluster has such an object. */
  readonly ids?: readonly string[];
  readonly clock: Clock;
}

/** The first plan for one object. */
export interface FirstLook {
  readonly rules: Rules;
  readonly input: PlanInput;
  readonly plan: Plan;
}

/** One write that took place in memory. */
export interface PlannedWrite {
  /** Id of the tenant object or referenced object for which it is written. */
  readonly id: string;
  readonly resource: ResourceType;
  readonly operation: Operation;
}

/** A tenant object for which there is always something left to do. */
export interface Unsettled {
  readonly id: string;
  /** The write that would come next. */
  readonly operation: Operation;
}

/** Result of a preview. */
export interface Preview {
  /** In order. */
  readonly writes: readonly PlannedWrite[];
  /** By id. Referenced objects have none. */
  readonly looks: ReadonlyMap<string, FirstLook>;
  /** Status of every object in the end. */
  readonly records: readonly SyncRecord[];
  /** Empty when nothing is left to do after the writes. */
  readonly unsettled: readonly Unsettled[];
}

/** Maximum number of writes per object: copying, syncing an edit back and recreating take four. An object with more never settles. */
const WRITES_PER_OBJECT_MAX = 8;

/**
 * Simulates the syncer's next run to its end. After that, both views show the clusters as they would be after the run.
 *
 * @throws API_… when a referenced object cannot be read.
 * @example
 * const { writes, unsettled } = await preview({ tenant, host, rules, deleteBrake: DEFAULT_DELETE_BRAKE_LIMITS, clock: systemClock });
 */
export async function preview(options: PreviewOptions): Promise<Preview> {
  const run = new PreviewRun(options);
  try {
    return await run.play();
  } finally {
    run.close();
  }
}

class PreviewRun {
  readonly #options: PreviewOptions;
  readonly #queue = new Set<string>();
  /** Processed again once anything has changed. */
  readonly #later = new Set<string>();
  readonly #looks = new Map<string, FirstLook>();
  readonly #writes: PlannedWrite[] = [];
  readonly #counts = new Map<string, number>();
  readonly #unsettled = new Map<string, Operation>();
  readonly #loop: SyncLoop;
  /** The object in progress. */
  #id = "";
  #operation: Operation | undefined;
  /** Number of writes at the end of the last round. */
  #written = 0;

  constructor(options: PreviewOptions) {
    this.#options = options;
    const { ids = [], ...parts } = options;
    this.#loop = createSyncLoop({
      ...parts,
      tenant: this.#noting(options.tenant),
      host: this.#noting(options.host),
      // A pair of expressions that oscillates must be shown, not stopped.
      loopGuard: { restorations: Infinity, minutes: 1, writes: Infinity },
      planner: (rules, input) => this.#plan(rules, input),
      hooks: { beforeWrite: (operation) => this.#beforeWrite(operation) },
      // The slices of a mirror are unknown here, and made slices are handed back only after the mirror has made its own.
      enqueue: (id) => void (id !== HAND_BACK && this.#queue.add(id)),
      logger: silentLogger,
      metrics: noMetrics,
    });
    for (const id of ids) this.#queue.add(id);
  }

  async play(): Promise<Preview> {
    do await this.#workOff();
    while (await this.#mayGoOn());
    const unsettled = [...this.#unsettled].map(([id, operation]) => ({ id, operation }));
    return { writes: this.#writes, looks: this.#looks, records: this.#loop.records(), unsettled };
  }

  close(): void {
    this.#loop.close();
  }

  async #workOff(): Promise<void> {
    // Entries added during the loop are visited by it.
    for (const id of this.#queue) {
      this.#queue.delete(id);
      this.#id = id;
      const { requeueAfterMs } = await this.#loop.reconcile(id);
      if (requeueAfterMs !== undefined) this.#later.add(id);
    }
  }

  /** Reports whether another round is needed: something has been read or written since the last one, so that pending work may continue. */
  async #mayGoOn(): Promise<boolean> {
    const { tenant, host } = this.#options;
    const wasReading = (await Promise.all([tenant.loaded(), host.loaded()])).includes(true);
    const hasWritten = this.#writes.length > this.#written;
    this.#written = this.#writes.length;
    if (wasReading || hasWritten) for (const id of this.#later) this.#queue.add(id);
    this.#later.clear();
    return this.#queue.size > 0;
  }

  #plan(rules: Rules, input: PlanInput): Plan {
    const planned = plan(rules, input);
    const id = syncId(rules.kind.resource.plural, input.key);
    // A stale plan is followed by a plan after a live read of the source.
    const first = this.#looks.get(id);
    if (first === undefined || first.plan.state === "stale") this.#looks.set(id, { rules, input, plan: planned });
    return planned;
  }

  #beforeWrite(operation: Operation): Operation | "refuse" {
    const count = this.#counts.get(placeOf(this.#id, operation)) ?? 0;
    this.#operation = operation;
    if (count < WRITES_PER_OBJECT_MAX) return operation;
    this.#unsettled.set(this.#id, operation);
    return "refuse";
  }

  #noting(view: ClusterView): ClusterView {
    const noted =
      <Arguments extends readonly unknown[], Result>(write: (resource: ResourceType, ...rest: Arguments) => Promise<Result>) =>
      async (resource: ResourceType, ...rest: Arguments): Promise<Result> => {
        const result = await write(resource, ...rest);
        // An Event is written without being planned.
        if (resource !== EVENTS) this.#noteWrite(resource, this.#operation!);
        return result;
      };
    const { get, create, update, delete: remove } = view.writer;
    return {
      source: (resource) => view.source(resource),
      follow: (resource, key) => view.follow!(resource, key),
      list: (resource, scope) => view.list!(resource, scope),
      before: (resource, key) => view.before(resource, key),
      now: (resource, key) => view.now(resource, key),
      madeUp: (version) => view.madeUp(version),
      loaded: () => view.loaded(),
      writer: { get, create: noted(create), update: noted(update), delete: noted(remove) } satisfies Writer,
    };
  }

  #noteWrite(resource: ResourceType, operation: Operation): void {
    this.#writes.push({ id: this.#id, resource, operation });
    const place = placeOf(this.#id, operation);
    this.#counts.set(place, (this.#counts.get(place) ?? 0) + 1);
  }
}

/** Returns the name under which writes are counted. Many slices can be made for one Service, so each has its own name. */
function placeOf(id: string, operation: Operation): string {
  if (parseSyncId(id).plural !== BACKENDS) return id;
  return `${id} ${formatKey(writtenKey(operation))}`;
}
