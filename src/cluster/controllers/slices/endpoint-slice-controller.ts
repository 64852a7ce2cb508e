import type { KubeObject } from "../../../kube/object/types.ts";
import { isHeadless, serviceSpecOf } from "../../kinds/services.ts";
import type { ClusterController, ClusterControllerOptions } from "../controller.ts";
import type { Registry } from "../../../apiserver/verbs/registry.ts";
import { repackSubsets } from "../../../kube/object/endpoints/subsets.ts";
import { subsetsOf } from "../endpoints/endpoints-of-pods.ts";
import { followSelectedPods, selectedPods } from "../endpoints/selected-pods.ts";
import { startSliceController, type DesiredSlices } from "./slice-controller.ts";
import { slicesOf } from "../../../kube/object/endpoints/slices-of-endpoints.ts";

const MANAGED_BY = "endpointslice-controller.k8s.io";
const HEADLESS_LABEL = "service.kubernetes.io/headless";

/** Most endpoints of one slice. Source: the controller manager's default. */
const ENDPOINTS_MAX = 100;

/**
 * Writes the EndpointSlices of Services with a selector, from their Pods. Source: the EndpointSlice controller, as far as Endpoints could
 * contain the data.
 */
export function startEndpointSliceController(options: ClusterControllerOptions): Promise<ClusterController> {
  return startSliceController({ ...options, name: "endpoint slice", managedBy: MANAGED_BY, desired, followSources: followSelectedPods });
}

async function desired(service: KubeObject, registry: Registry): Promise<DesiredSlices | undefined> {
  const spec = serviceSpecOf(service);
  if (spec.selector === undefined || spec.type === "ExternalName") return undefined;
  const conditions = (ready: boolean) => ({ serving: ready, terminating: false });
  const subsets = repackSubsets(subsetsOf(service, await selectedPods(registry, service)));
  const contents = slicesOf({ subsets }, { addressesMax: Infinity, endpointsMax: ENDPOINTS_MAX, conditions });
  const { [HEADLESS_LABEL]: _own, ...labels } = service.metadata.labels ?? {};
  return { owner: service, labels: { ...labels, ...(isHeadless(spec) && { [HEADLESS_LABEL]: "" }) }, annotations: {}, contents };
}
