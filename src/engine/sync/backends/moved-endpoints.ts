/**
 * Endpoints that move from one slice of the tenant to another of the same Service. Each slice has its own copy. The copy that loses
 * endpoints must wait for the copy that gains them; otherwise, readers on the host would briefly miss endpoints that the tenant shows all
 * the time.
 *
 * @module
 */
import { viewOfSlices } from "../../../kube/object/endpoints/reader-view.ts";
import type { EndpointSlice } from "../../../kube/object/types.ts";
import { remembered } from "../../reconcile/rules/remembered.ts";

/** A slice of the tenant, and its copy as the host shows it. */
export interface CopiedSlice {
  readonly tenant: EndpointSlice | undefined;
  readonly host: EndpointSlice | undefined;
}

/**
 * Reports whether the copy of a slice would lose endpoints that have moved to other slices of the Service in the tenant, but are not in the
 * copies of those slices yet. `others` is called only if endpoints would be lost. Endpoints are compared by what readers use: address, port
 * and readiness.
 *
 * @example
 * awaitsOthers({ tenant: emptied, host: full }, function* () { yield { tenant: grown, host: undefined }; }); // true
 */
export function awaitsOthers(slice: CopiedSlice, others: () => Iterable<CopiedSlice>): boolean {
  const lost = newcomers({ tenant: slice.host, host: slice.tenant });
  if (lost.length === 0) return false;
  const moved = new Set(lost);
  for (const other of others()) if (newcomers(other).some((id) => moved.has(id))) return true;
  return false;
}

/** Returns the ready endpoints that `tenant` shows and `host` does not. */
function newcomers({ tenant, host }: CopiedSlice): readonly string[] {
  if (tenant === undefined || tenant.metadata.deletionTimestamp) return NONE;
  if (host === undefined) return [...readyIn(tenant)];
  const known = lastNewcomers.get(tenant);
  if (known?.beside === host) return known.ids;
  const seen = readyIn(host);
  const ids = [...readyIn(tenant)].filter((id) => !seen.has(id));
  lastNewcomers.set(tenant, { beside: host, ids });
  return ids;
}

const NONE: readonly string[] = [];

/** Last results. They are needed for every other slice of a Service, and most slices have not changed since. */
const lastNewcomers = new WeakMap<EndpointSlice, { readonly beside: EndpointSlice; readonly ids: readonly string[] }>();

const readyIn = remembered(
  (slice: EndpointSlice): ReadonlySet<string> => new Set([...viewOfSlices([slice])].flatMap(([id, { ready }]) => (ready ? [id] : []))),
);
