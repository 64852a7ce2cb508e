/**
 * The objects that readers on the host see in place of a removed one. Decisions are made from caches, and each cache lags behind its
 * cluster independently: one may contain a slice that another client has deleted, another may lack a Service that has readers. Therefore,
 * all objects that replace others according to a decision are read live before an object that readers rely on is removed.
 *
 * @module
 */
import { keyOf, type ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES, type ResourceType } from "../../../kube/object/resource.ts";
import type { EndpointSlice, KubeObject } from "../../../kube/object/types.ts";
import { SERVICE_NAME, SKIP_MIRROR } from "../../kinds/slice-labels.ts";
import type { StandIn } from "../../reconcile/rules/rules.ts";
import type { PlannedObject } from "../run/gather.ts";
import type { CollectedBackends } from "./collect-backends.ts";
import { sourceOfLeft, type BackendSource } from "./decide-backends.ts";

/**
 * Reports whether a slice has addresses of a removed one. The others do not replace it, and a Service can have any number of them. If patches
 * change addresses, each may.
 */
function sharesWith(removed: EndpointSlice | undefined, { isComparable }: CollectedBackends): (slice: EndpointSlice) => boolean {
  if (removed === undefined || !isComparable) return () => true;
  const gone = new Set(removed.endpoints?.flatMap(({ addresses }) => addresses));
  return ({ endpoints }) => endpoints?.some(({ addresses }) => addresses?.some((address) => gone.has(address))) === true;
}

/** The objects from which readers get the backends according to the decision, or only those of a removed slice. */
function standInsOf(collected: CollectedBackends, source: BackendSource, removed?: EndpointSlice): readonly StandIn[] {
  const { copy, copies, desired, made, mirrored, others, seen, hostService } = collected;
  const shares = sharesWith(removed, collected);
  switch (source) {
    case "copies":
      return copies.filter(shares).map((slice) => standIn(slice, true));
    case "others":
      return others.filter(shares).map((slice) => standIn(slice));
    case "made": {
      const wanted = new Set(desired().map(({ metadata }) => metadata.name));
      return made.filter((slice) => wanted.has(slice.metadata.name) && shares(slice)).map((slice) => standIn(slice));
    }
    case "mirror":
      // Without a Service, a mirror makes no slices, and none are needed.
      if (seen.mirror === "none" && seen.copy?.filled === true)
        return hostService === undefined ? [] : [{ resource: SERVICES, key: hostService, object: undefined }];
      // A mirror that is disabled at this moment deletes its slices.
      return [
        ...(copy === undefined ? [] : [{ resource: ENDPOINTS, key: keyOf(copy), object: copy }]),
        ...mirrored.filter(shares).map((slice) => standIn(slice)),
      ];
    case "none":
      return [];
  }
}

/**
 * The stand-ins for a planned object that is removed or that disables the host's mirror: Endpoints replace the copy of a slice, and slices
 * replace the copy of Endpoints.
 */
export function standInsFor({ host, tenant }: PlannedObject, collected: CollectedBackends, source: BackendSource): readonly StandIn[] {
  const isSlice = host?.kind === "EndpointSlice";
  const removed = isSlice ? (host as EndpointSlice) : undefined;
  const { service, endpoints, copy, hostKey, hostService, isTaken, seen } = collected;
  if (isSlice && seen.endpoints?.paused === true) {
    // A cache that lacks the copy may lag.
    if (copy === undefined) return isTaken || hostKey === undefined ? [] : [{ resource: ENDPOINTS, key: hostKey, object: undefined }];
    return standInsOf(collected, sourceOfLeft(seen) ?? "none", removed);
  }
  // Endpoints replace slices, also those that are gone, but a cache that lacks them may lag.
  if (isSlice && seen.endpoints === undefined) return [{ side: "tenant", resource: ENDPOINTS, key: service, object: undefined }];
  // Endpoints are not copied if they would have no readers, but a cache that lacks the Service may lag.
  if (isSlice && !seen.served && hostService !== undefined) return [{ resource: SERVICES, key: hostService, object: undefined }];
  if (isSlice && (source === "copies" || seen.endpoints?.wanted !== true)) return [];
  // The Endpoints may have gained what a slice that is gone has shown, and a cache may lag.
  const replacing =
    isSlice && tenant === undefined ? [{ side: "tenant", resource: ENDPOINTS, key: service, object: endpoints } as const] : [];
  if (isSlice) return [...replacing, ...standInsOf(collected, source, removed)];
  return tenant === undefined || host?.metadata.labels?.[SKIP_MIRROR] !== "true" ? standInsOf(collected, source) : [];
}

/**
 * The stand-ins for slices that were made from a copy of Endpoints. Those of a copy that is gone are deleted without a replacement. If the
 * copy is there and only the tenant's Endpoints are missing, a list may have omitted them.
 */
export function standInsForMade(collected: CollectedBackends, source: BackendSource): readonly StandIn[] {
  const { service, copy, isTaken, seen } = collected;
  if (copy === undefined) return isTaken ? standInsOf(collected, source) : [];
  const endpoints: readonly StandIn[] =
    seen.endpoints === undefined ? [{ side: "tenant", resource: ENDPOINTS, key: service, object: undefined }] : [];
  return [...endpoints, ...standInsOf(collected, source)];
}

/**
 * The stand-ins for the copy of a slice that is gone, and of whose tenant Service no cache has anything: at a start, caches may lag. The host
 * Service must have no readers, and no Endpoints of its name may replace the slice for them.
 */
export function standInsForUnknown(
  hostService: ObjectKey,
  service: KubeObject | undefined,
  endpoints: KubeObject | undefined,
): readonly StandIn[] {
  const absent = (resource: ResourceType) => ({ resource, key: hostService, object: undefined });
  return [...(service === undefined ? [absent(SERVICES)] : []), ...(endpoints === undefined ? [absent(ENDPOINTS)] : [])];
}

function standIn(slice: EndpointSlice, mayChange = false): StandIn {
  return { resource: ENDPOINT_SLICES, key: keyOf(slice), object: slice as KubeObject, label: SERVICE_NAME, mayChange };
}
