import { assert, isEngineError } from "../../../base/errors.ts";
import { finish } from "../../../base/finish.ts";
import type { Logger } from "../../../base/logger.ts";
import type { Metrics } from "../../../base/metrics.ts";
import type { ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS } from "../../../kube/object/resource.ts";
import type { EndpointSlice, KubeObject } from "../../../kube/object/types.ts";
import { createMachine, type Request, type Response } from "../../reconcile/machine.ts";
import { deletion } from "../../reconcile/plan-types.ts";
import type { ClusterAccess } from "../cluster/access.ts";
import { send } from "../run/apply.ts";
import { beginReconcile, type SyncHooks } from "../run/reconcile.ts";
import type { Expectations } from "../state/expectations.ts";
import { madeSlicesStrategy } from "./plan-made-slices.ts";

/** Made slices of one copy that readers no longer need. */
export interface MadeRemoval {
  /** Id of the reconcile in log lines. */
  readonly id: string;
  readonly slices: readonly EndpointSlice[];
  /** The copy from which they were made. */
  readonly key: ObjectKey;
  /** Reports whether the copy, read live, allows the removal; undefined if the copy does not matter. */
  readonly isStill: ((found: KubeObject | undefined) => boolean) | undefined;
  readonly reason: string;
}

/** What a removal needs besides the host. */
export interface RemoveOptions {
  readonly hooks: SyncHooks;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** The newest known state of slices on the host, if slices are synced. */
  readonly known?: Expectations | undefined;
}

/**
 * Result for the made slices of one copy: they are gone, they wait for a replacement or another check, they stay because permissions are
 * missing, or the embedder or the host refuses to remove them.
 */
export type Removed = "done" | "waits" | "kept" | "refused";

/**
 * Removes made slices in one reconcile, with the strategy that also removes them under `backends: auto`.
 *
 * @throws API_… when the host cannot answer.
 */
export async function removeMade(
  host: ClusterAccess,
  { hooks, logger, metrics, known }: RemoveOptions,
  { id, slices, key, isStill, reason }: MadeRemoval,
): Promise<Removed> {
  const operations = slices.map((slice) => deletion(slice, reason, "none"));
  const confirms = isStill && { key, copy: undefined };
  let removed = 0;
  const reconcile = finish(
    beginReconcile({
      ...{ id, resource: ENDPOINT_SLICES, hooks, logger, metrics },
      machine: createMachine(madeSlicesStrategy({ reader: undefined, isStill: (found) => isStill?.(found) !== false })),
      start: { input: { operations, notes: [], confirms, standIns: [], madeBefore: [] }, outdatedTimes: 0 },
      known: known === undefined ? {} : { host: known },
      observer: { answered: () => undefined, ended: (_ending, { index }) => void (removed = index) },
    }),
  );
  while (reconcile.request.type !== "done") finish(reconcile.answer(await answerOf(host, reconcile.request)));
  const { ending } = reconcile.request;
  if (ending.result === "outdated") return "waits";
  if (ending.result === "settled") return removed === operations.length ? "done" : "refused";
  if (isEngineError(ending.error, "API_FORBIDDEN")) return "kept";
  throw ending.error;
}

/** Sends one request. The copy is read as a list of one: its cache needs the permission for lists anyway, but not the one for reads. */
async function answerOf({ list, writer }: ClusterAccess, request: Request): Promise<Response> {
  if (request.type === "write") return send(request, ENDPOINT_SLICES, { tenant: writer, host: writer });
  assert(request.type === "get", "slices are removed without a report");
  const { namespace, name } = request.key;
  try {
    const [object] = (await list?.(ENDPOINTS, { namespace, fieldSelector: `metadata.name=${name}` })) ?? [];
    return object === undefined ? { type: "absent" } : { type: "object", object };
  } catch (error) {
    return { type: "failed", error };
  }
}
