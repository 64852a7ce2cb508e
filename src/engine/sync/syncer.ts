/**
 * The syncer, step by step: sources report changed keys, and a reconcile gathers the state of both sides, plans, and carries out the plan.
 * `core.ts` does all of this except waiting, which happens here.
 *
 * @module
 */
import type { KubeObject } from "../../kube/object/types.ts";
import type { ReconcileResult } from "../../kube/runtime/controller.ts";
import type { Response } from "../reconcile/machine.ts";
import type { Operation } from "../reconcile/plan-types.ts";
import type { ClusterAccess } from "./cluster/access.ts";
import { LATE_WRITES_MS, send } from "./run/apply.ts";
import { HAND_BACK } from "./backends/hand-back.ts";
import { createSyncCore, type SyncCore, type SyncCoreOptions, type RunContext } from "./core.ts";
import { createEventRecorder } from "./report/events.ts";
import { FIND_COPIES, findCopies } from "./references/find-copies.ts";
import { createPieces } from "./pieces.ts";

/** Maximum number of missing host namespaces that are remembered as logged: users of a tenant can create any number of namespaces. */
const MISSING_MAX = 10_000;

/** First and longest delay before a search for copies is repeated because a cache is not complete, in milliseconds; it doubles each time. */
const [CACHE_RETRY_MS, CACHE_RETRY_MAX_MS] = [1_000, 60_000];

/** Options of a sync loop. */
export interface SyncLoopOptions extends SyncCoreOptions {
  readonly tenant: ClusterAccess;
  readonly host: ClusterAccess;
}

/** The syncer without its queue: the owner of the queue calls {@link reconcile} for each id that was enqueued. */
export interface SyncLoop extends Pick<SyncCore, "synced" | "records" | "contradicted" | "standBy" | "close"> {
  /**
   * Brings one object to its desired state, based only on the current state. `id` must be one that `enqueue` received. Log lines go to
   * `context.logger`, if given; pass a logger that adds the id of the reconcile to every line.
   *
   * @throws API_… when a cluster cannot answer now; the caller decides when to try again.
   */
  reconcile(id: string, context?: RunContext): Promise<ReconcileResult>;
}

/** Wires the caches to `enqueue` and waits for {@link SyncLoop.reconcile} to be called. Opens nothing and starts nothing. */
export function createSyncLoop(options: SyncLoopOptions): SyncLoop {
  const { tenant, host, clock, logger, metrics, hooks } = options;
  const recorder = (side: "tenant" | "host") =>
    createEventRecorder({
      writer: options[side].writer,
      clock,
      ...{ logger, metrics },
      ...(hooks?.recordEvent && { instead: (event) => hooks.recordEvent?.(event) }),
    });
  const hostEvents = recorder("host");
  const core = createSyncCore({ ...options, braked: (note) => void hostEvents.record(virtualCluster(options), [note]) });
  const events = recorder("tenant");
  const writers = { tenant: tenant.writer, host: host.writer };
  const pieces = createPieces({ clock, logger, metrics });
  const missingNamespaces = new Set<string>();
  const { references } = options;
  /** Another process may have made copies of referenced objects since the last reconcile: they are searched for once its writes are over. */
  let [hasStoodBy, searchFrom] = [false, -Infinity];
  /** The kinds of referenced objects whose copies are still to be searched for, and the number of searches that found a cache incomplete. */
  let [searched, searches] = [references?.kinds ?? [], 0];
  if (references !== undefined) options.enqueue(FIND_COPIES);
  if (core.handBack !== undefined) options.enqueue(HAND_BACK);

  /** Logs a missing host namespace: Events are in the tenant cluster, but the people who can create host namespaces read the log. */
  function noteNamespace(operation: Operation, response: Response): void {
    if (operation.action !== "create") return;
    const { namespace = "" } = operation.object.metadata;
    if (response.type === "object" && missingNamespaces.delete(namespace)) logger.info("The host namespace exists now", { namespace });
    if (response.type !== "refused" || response.note?.code !== "HOST_NAMESPACE_MISSING" || missingNamespaces.has(namespace)) return;
    missingNamespaces.add(namespace);
    if (missingNamespaces.size > MISSING_MAX) missingNamespaces.delete(missingNamespaces.values().next().value!);
    logger.warn("Copies are waiting for a host namespace that does not exist", { namespace });
  }

  return {
    async reconcile(id, context = {}) {
      if (id === FIND_COPIES && hasStoodBy) {
        hasStoodBy = false;
        searchFrom = clock.monotonic() + LATE_WRITES_MS;
      }
      if (id === FIND_COPIES && clock.monotonic() < searchFrom) return { requeueAfterMs: searchFrom - clock.monotonic() };
      if (id === FIND_COPIES && references !== undefined) {
        searched = await findCopies({
          rules: references,
          kinds: searched,
          tenant,
          host,
          logger: context.logger ?? logger,
          found: (kind, copy) => core.found?.(kind, copy),
        });
        return searched.length === 0 ? {} : { requeueAfterMs: Math.min(CACHE_RETRY_MS * 2 ** searches++, CACHE_RETRY_MAX_MS) };
      }
      if (id === HAND_BACK) return (await core.handBack?.(host)) ?? {};
      const of = { id, charge: context.charge };
      const reconcile = await pieces.runAll(of, core.begin(id, context));
      if (reconcile.waits === true) return { waits: true };
      while (reconcile.request.type !== "done") {
        const request = reconcile.request;
        let response: Response = { type: "absent" };
        // The reconcile continues while the Event is written, because its result does not matter.
        if (request.type === "report") void events.record(request.object, request.notes, context);
        else response = await send(request, reconcile.resource, writers);
        if (request.type === "write" && request.operation.side === "host") noteNamespace(request.operation, response);
        await pieces.runAll(of, reconcile.answer(response));
      }
      const { ending } = reconcile.request;
      if (ending.result === "failed") throw ending.error;
      return ending.requeueAfterMs === undefined ? {} : { requeueAfterMs: ending.requeueAfterMs };
    },
    get synced() {
      return core.synced;
    },
    records: () => core.records(),
    contradicted: () => core.contradicted(),
    standBy() {
      core.standBy();
      if (core.handBack !== undefined) options.enqueue(HAND_BACK);
      if (references === undefined) return;
      hasStoodBy = true;
      [searched, searches] = [references.kinds, 0];
      options.enqueue(FIND_COPIES);
    },
    close: () => core.close(),
  };
}

/** The virtual cluster's own Service on the host, to which Events for host operators refer. */
function virtualCluster({ rules }: SyncLoopOptions): KubeObject {
  const { name, namespace } = rules[0]!.translator.vcluster;
  return { apiVersion: "v1", kind: "Service", metadata: { namespace, name } };
}
