/**
 * Endpoints that move from one slice of the tenant to another of the same Service, or remain in its Endpoints. Each object has its own copy.
 * The copy that loses endpoints must wait for the copy that gains them, or for the slices of the copy of Endpoints; otherwise, readers on the
 * host would briefly miss endpoints that the tenant shows all the time.
 *
 * @module
 */
import { viewOfEndpoints, viewOfSlices, type ReaderView } from "../../../kube/object/endpoints/reader-view.ts";
import { sameKey, type ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINT_SLICES } from "../../../kube/object/resource.ts";
import type { EndpointSlice } from "../../../kube/object/types.ts";
import { controllerOf } from "../../kinds/slice-labels.ts";
import { decideCopy } from "../../reconcile/predicate/should-copy.ts";
import { remembered } from "../../reconcile/rules/remembered.ts";
import { aroundOf, type CollectedBackends, type KnownBackends } from "./collect-backends.ts";
import { isSource, type BackendsDecision, type BackendSource } from "./decide-backends.ts";

/** A slice of the tenant, and its copy as the host shows it. */
export interface CopiedSlice {
  readonly tenant: EndpointSlice | undefined;
  readonly host: EndpointSlice | undefined;
}

/**
 * Reports whether the copy of a slice would lose endpoints that have moved to other slices of the Service in the tenant, but are not in the
 * copies of those slices yet, or that are `unseen` in slices of the copy of Endpoints. Both functions are called only if endpoints would be
 * lost. Endpoints are compared by what readers use: address, port and readiness.
 *
 * @example
 * awaitsOthers({ tenant: emptied, host: full }, function* () { yield { tenant: grown, host: undefined }; }, () => []); // true
 */
export function awaitsOthers(slice: CopiedSlice, others: () => Iterable<CopiedSlice>, unseen: () => readonly string[]): boolean {
  const lost = newcomers({ tenant: slice.host, host: slice.tenant });
  if (lost.length === 0) return false;
  const moved = new Set(lost);
  for (const other of others()) if (newcomers(other).some((id) => moved.has(id))) return true;
  return unseen().some((id) => moved.has(id));
}

/**
 * Returns the ready endpoints in the copy of Endpoints, or in the Endpoints themselves, that readers should get from its slices, but can see
 * at most in one copied slice.
 */
export function unseenOfEndpoints(
  { inEndpoints, isComparable, copy, copies, made, mirrored, others, seen }: CollectedBackends,
  source: BackendSource,
  slice?: string,
): readonly string[] {
  if (!seen.served || source === "copies") return NONE;
  const beside = copies.filter(({ metadata }) => metadata.name !== slice);
  const shown = viewOfSlices([...made, ...mirrored, ...(source === "others" ? others : []), ...beside]);
  const wanted = isComparable && seen.endpoints?.wanted === true ? inEndpoints() : NOTHING;
  return [...(copy === undefined ? NOTHING : viewOfEndpoints(copy)), ...wanted].flatMap(([id, { ready }]) =>
    ready && shown.get(id)?.ready !== true ? [id] : [],
  );
}

/**
 * Reports whether the copy of a slice that is gone need not wait for the copy of Endpoints, because readers miss nothing without it: other
 * slices show what the Endpoints have of it.
 */
export function isNeedless(collected: CollectedBackends, source: BackendSource, copy: EndpointSlice): boolean {
  if (source === "copies" || collected.seen.endpoints?.wanted !== true || !collected.isComparable) return false;
  const unseen = new Set(unseenOfEndpoints(collected, source));
  return ![...readyIn(copy)].some((id) => unseen.has(id));
}

/** Yields the other slices of the Service that are copied, with their copies as the host shows them. */
export function* copiesBeside(
  { slices: { rules, tenant }, tenantSlices, services, shown }: KnownBackends,
  decision: BackendsDecision,
  key: ObjectKey,
): Generator<CopiedSlice> {
  const around = aroundOf(services);
  for (const other of tenantSlices) {
    const slice = sameKey(other, key) ? undefined : (tenant.get(other) as EndpointSlice | undefined);
    const place = slice && rules.translator.toHost(other, ENDPOINT_SLICES);
    if (slice === undefined || place === undefined) continue;
    if (!isSource(decision, controllerOf(slice))) continue;
    if (decideCopy(rules, other, slice, around).action !== "copy") continue;
    yield { tenant: slice, host: shown(place) as EndpointSlice | undefined };
  }
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
const NOTHING: ReaderView = new Map();

/** Last results. They are needed for every other slice of a Service, and most slices have not changed since. */
const lastNewcomers = new WeakMap<EndpointSlice, { readonly beside: EndpointSlice; readonly ids: readonly string[] }>();

const readyIn = remembered(
  (slice: EndpointSlice): ReadonlySet<string> => new Set([...viewOfSlices([slice])].flatMap(([id, { ready }]) => (ready ? [id] : []))),
);
