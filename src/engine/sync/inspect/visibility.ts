/**
 * Inspects what readers on the host see of the tenant's backends, twice with a pause.
 *
 * @module
 */
import { delay, type Clock } from "../../../base/clock.ts";
import { isEngineError, type EngineError } from "../../../base/errors.ts";
import type { ListScope } from "../../../kube/object/cluster-client.ts";
import type { ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from "../../../kube/object/resource.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import type { Rules } from "../../reconcile/rules/rules.ts";
import type { ClusterReads } from "./cluster-reads.ts";
import { invisibleBackends, type AutoHolds, type InvisibleBackends, type ComparedCluster, type Withheld } from "./invisible-backends.ts";

/** One cluster: its known Services and Endpoints, and its slices, from lists or from a cache. */
export interface ReadCluster extends Pick<ComparedCluster, "get"> {
  readonly reads: Pick<ClusterReads, "list">;
  /** The slices to list. Default all. */
  readonly scope?: ListScope;
}

/** Sources of the inspection. */
export interface VisibilitySources {
  readonly rules: readonly Rules[];
  /** Tenant keys of Services; those that do not exist are left out. */
  readonly services: readonly ObjectKey[];
  readonly tenant: ReadCluster;
  readonly host: ReadCluster;
  readonly clock: Clock;
  /** See {@link AutoHolds}. Default: `backends: auto` does not apply. */
  readonly auto?: AutoHolds | undefined;
  readonly withheld?: Withheld | undefined;
  /** Patches of Endpoints are configured. Default: the rules have some. */
  readonly patched?: boolean | undefined;
  /** Backends count as invisible only if they are missing twice, this many milliseconds apart: mirrors need a moment. Default 2,000. */
  readonly settlingMs?: number;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
}

/** Findings, and sources that could not be read. */
export interface Visibility {
  readonly invisible: readonly InvisibleBackends[];
  /** Slices in the last list of the host; undefined if a list was not needed, or not allowed. */
  readonly slices?: readonly KubeObject[] | undefined;
  /** Clusters whose slices cannot be listed. Without those of the host, nothing is known. */
  readonly hidden: readonly { readonly side: "tenant" | "host"; readonly error: EngineError }[];
}

/**
 * Returns what an inspection knows of missing copies, without a running syncer: not why they are missing. Another syncer makes the host
 * Services that this one does not sync.
 */
export function withoutReason(rules: readonly Rules[]): Withheld {
  const isSynced = rules.some(({ kind }) => kind.resource === SERVICES);
  return (resource) => (resource !== SERVICES || isSynced ? "unknown" : undefined);
}

/**
 * Compares what the tenant's readers see with what readers on the host see. Reads EndpointSlices, and nothing else.
 *
 * @throws API_… when a cluster cannot respond. A cluster that refuses is `hidden`.
 */
export async function readInvisible({
  rules,
  services,
  tenant,
  host,
  clock,
  auto,
  withheld,
  patched,
  settlingMs = 2_000,
  signal,
}: VisibilitySources): Promise<Visibility> {
  const copies = rules.some(({ kind: { resource }, enabled }) => enabled && (resource === ENDPOINTS || resource === ENDPOINT_SLICES));
  const present = services.filter((key) => tenant.get(SERVICES, key) !== undefined);
  if (!copies || present.length === 0) return { invisible: [], hidden: [] };
  const [ofTenant, ofHost] = await Promise.all([slicesOf(tenant), slicesOf(host)]);
  const sides = [{ side: "tenant", ...ofTenant } as const, { side: "host", ...ofHost } as const];
  const hidden = sides.flatMap(({ side, error }) => (error === undefined ? [] : [{ side, error }]));
  if (ofHost.items === undefined) return { invisible: [], hidden };
  const look = (keys: readonly ObjectKey[], slices: readonly KubeObject[]) =>
    invisibleBackends({
      ...{ rules, services: keys, auto, withheld, patched },
      tenant: { ...tenant, slices: ofTenant.items },
      host: { ...host, slices },
    });
  const first = look(present, ofHost.items);
  if (first.length === 0) return { invisible: [], hidden, slices: ofHost.items };
  await delay(clock, settlingMs, signal);
  const again = await slicesOf(host);
  const keys = first.map((one) => one.tenant);
  const slices = again.items ?? ofHost.items;
  return { invisible: again.items === undefined ? first : look(keys, slices), hidden, slices };
}

async function slicesOf({ reads, scope = {} }: ReadCluster): Promise<{ items?: readonly KubeObject[]; error?: EngineError }> {
  try {
    return { items: await reads.list(ENDPOINT_SLICES, scope) };
  } catch (error) {
    if (isEngineError(error, "API_FORBIDDEN", "API_NOT_FOUND")) return { error };
    throw error;
  }
}
