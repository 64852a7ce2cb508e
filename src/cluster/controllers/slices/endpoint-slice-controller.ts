import type { Endpoints, KubeObject } from "../../../kube/object/types.ts";
import { isHeadless, serviceSpecOf } from "../../kinds/services.ts";
import type { ClusterController, ClusterControllerOptions } from "../controller.ts";
import { startSliceController, type DesiredSlices } from "./slice-controller.ts";
import { slicesOf } from "../../../kube/object/endpoints/slices-of-endpoints.ts";

const MANAGED_BY = "endpointslice-controller.k8s.io";
const HEADLESS_LABEL = "service.kubernetes.io/headless";

/** Most endpoints of one slice. Source: the controller manager's default. */
const ENDPOINTS_MAX = 100;

/**
 * Writes the EndpointSlices of Services with a selector. Their content comes from the Service's Endpoints, so the endpoints controller,
 * which derives these from Pods, must run too. Source: the EndpointSlice controller, as far as Endpoints contain the data.
 */
export function startEndpointSliceController(options: ClusterControllerOptions): Promise<ClusterController> {
  return startSliceController({ ...options, name: "endpoint slice", managedBy: MANAGED_BY, desired });
}

function desired(service: KubeObject | undefined, endpoints: Endpoints | undefined): DesiredSlices | undefined {
  if (service === undefined || endpoints === undefined) return undefined;
  const spec = serviceSpecOf(service);
  if (spec.selector === undefined || spec.type === "ExternalName") return undefined;
  const conditions = (ready: boolean) => ({ serving: ready, terminating: false });
  const contents = slicesOf(endpoints, { addressesMax: Infinity, endpointsMax: ENDPOINTS_MAX, conditions });
  const { [HEADLESS_LABEL]: _own, ...labels } = service.metadata.labels ?? {};
  return { owner: service, labels: { ...labels, ...(isHeadless(spec) && { [HEADLESS_LABEL]: "" }) }, annotations: {}, contents };
}
