/**
 * Labels that link EndpointSlices to their Services and their writers.
 *
 * @module
 */
import { ENDPOINT_SLICES } from "../../kube/object/resource.ts";
import { keyOf, sameKey, type ObjectKey } from "../../kube/object/key.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { ourMarkers, type VClusterIdentity } from "../translate/identity.ts";
import type { SliceCount } from "../reconcile/rules/rules.ts";

/** Label of a slice with the name of its Service; a slice without it belongs to no Service. */
export const SERVICE_NAME = "kubernetes.io/service-name";
/** Label of a slice that names the controller that manages it; no other controller changes the slice. */
export const SLICE_MANAGER = "endpointslice.kubernetes.io/managed-by";
/** Label of Endpoints. The value "true" prevents the cluster's mirroring controller from making slices from them. */
export const SKIP_MIRROR = "endpointslice.kubernetes.io/skip-mirror";

/** The manager of slices that a cluster mirrors from Endpoints. */
export const MIRROR = "endpointslicemirroring-controller.k8s.io";

/** Controllers of Kubernetes that write slices and undo what others change in them. */
const CONTROLLERS: readonly string[] = ["endpointslice-controller.k8s.io", MIRROR];

/**
 * The manager of our own slices: no controller of Kubernetes recognizes it, so none of them changes the copies.
 *
 * @example
 * sliceManager("sync.platform/"); // "endpoint-sync.sync.platform"
 */
export function sliceManager(markerPrefix: string): string {
  return `endpoint-sync.${markerPrefix.slice(0, -1)}`;
}

/** The controller of the tenant cluster that writes a slice; undefined when another writer wrote it. */
export function controllerOf({ metadata: { labels = {} } }: KubeObject): string | undefined {
  return CONTROLLERS.find((name) => labels[SLICE_MANAGER] === name);
}

/** The Service that a slice belongs to. */
export function serviceOfSlice({ metadata }: KubeObject): ObjectKey | undefined {
  const { namespace = "", labels = {} } = metadata;
  const name = Object.hasOwn(labels, SERVICE_NAME) ? labels[SERVICE_NAME] : undefined;
  return name ? { namespace, name } : undefined;
}

/** A tenant slice, and the object at its host key. */
export interface SlicePair {
  readonly tenant: KubeObject;
  readonly host: KubeObject | undefined;
}

/** Counts the slices of one Service. `hostService` is the host key of that Service. */
export function countSlices(identity: VClusterIdentity, hostService: ObjectKey, pairs: readonly SlicePair[]): SliceCount {
  const copied = pairs.filter((pair) => isCopied(identity, hostService, pair));
  return { total: pairs.length, copied: copied.length };
}

/**
 * Reports whether a tenant slice has a copy. Does not count a copy of an earlier slice with the same name, a copy that is being deleted, or
 * a copy that still belongs to another Service.
 */
function isCopied(identity: VClusterIdentity, hostService: ObjectKey, { tenant, host }: SlicePair): boolean {
  if (host === undefined || host.metadata.deletionTimestamp) return false;
  const source = ourMarkers(identity, host, ENDPOINT_SLICES);
  if (source === undefined) return false;
  const service = serviceOfSlice(host);
  return (
    sameKey(source, keyOf(tenant)) && source.uid === (tenant.metadata.uid ?? "") && service !== undefined && sameKey(service, hostService)
  );
}

/**
 * Reports whether the copies of slices replace what the host would mirror from `host`, the copy of Endpoints. They do as soon as every
 * slice of the Service has a copy. From then on, a slice that is added later does not restore the mirror; only the removal of the last copy
 * does. So backends never disappear, and appear twice only until the slices are complete.
 */
export function replacesMirror(slices: SliceCount | undefined, host: KubeObject | undefined): boolean {
  if (slices === undefined || slices.copied === 0) return false;
  return slices.copied >= slices.total || host?.metadata.labels?.[SKIP_MIRROR] === "true";
}
