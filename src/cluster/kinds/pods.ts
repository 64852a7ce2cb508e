import type { ResourceType } from "../../kube/object/resource.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import type { ResourceDefinition } from "../../apiserver/types/resource-definition.ts";
import { POD_COLUMNS } from "./columns/machines.ts";
import { isOtherSpec, opaqueKind } from "./opaque/opaque-kind.ts";
import { integerAt, textAt, memberAt } from "./opaque/read.ts";

/** Pods: nothing schedules or runs them here. */
export const PODS: ResourceType = { apiVersion: "v1", kind: "Pod", plural: "pods", namespaced: true };

/** Default grace period of a Pod, in seconds. */
const GRACE_SECONDS_DEFAULT = 30;

/** `v1` Pods. Field selectors use the Kubernetes defaults for fields that a Pod does not set. */
export const pods: ResourceDefinition = opaqueKind({
  type: PODS,
  singular: "pod",
  shortNames: ["po"],
  categories: ["all"],
  description: "Containers that run together. This cluster does not run them, but Endpoints can refer to them.",
  spec: "Containers, and how they run.",
  status: "Observed state.",
  selectableFields: {
    "spec.nodeName": (pod) => textAt(pod, "spec", "nodeName") ?? "",
    "spec.restartPolicy": (pod) => textAt(pod, "spec", "restartPolicy") ?? "Always",
    "spec.schedulerName": (pod) => textAt(pod, "spec", "schedulerName") ?? "default-scheduler",
    "spec.serviceAccountName": accountOfPod,
    "spec.hostNetwork": (pod) => String(memberAt(pod, "spec", "hostNetwork") === true),
    "status.phase": (pod) => textAt(pod, "status", "phase") ?? "",
    "status.podIP": (pod) => textAt(pod, "status", "podIP") ?? "",
    "status.nominatedNodeName": (pod) => textAt(pod, "status", "nominatedNodeName") ?? "",
  },
  columns: POD_COLUMNS,
  strategy: {
    returnsDeleted: true,
    newGeneration: isOtherSpec,
    prepare: (pod, old) => (old === undefined ? { ...pod, status: { phase: "Pending" } } : pod),
    gracePeriod,
  },
});

/** The ServiceAccount of a Pod, from the current or the older field; the namespace's default ServiceAccount for Pods that name none. */
export function accountOfPod(pod: KubeObject): string {
  return textAt(pod, "spec", "serviceAccountName") ?? textAt(pod, "spec", "serviceAccount") ?? "default";
}

/** The grace period in seconds; 0 for a Pod without a node and for one that has ended. Source: the strategy of Pods. */
function gracePeriod(pod: KubeObject, requested: number | undefined): number {
  const phase = textAt(pod, "status", "phase");
  if (textAt(pod, "spec", "nodeName") === undefined || phase === "Succeeded" || phase === "Failed") return 0;
  return requested ?? integerAt(pod, "spec", "terminationGracePeriodSeconds") ?? GRACE_SECONDS_DEFAULT;
}
