/**
 * The kinds that create Pods in a Kubernetes cluster. Here, their objects can only be stored and scaled.
 *
 * @module
 */
import { jsonEqual } from "../../base/json.ts";
import type { ResourceType } from "../../kube/object/resource.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { invalid, type FieldError } from "../../apiserver/types/field-error.ts";
import type { ResourceDefinition } from "../../apiserver/types/resource-definition.ts";
import { DEPLOYMENT_COLUMNS, STATEFUL_SET_COLUMNS } from "./columns/workloads.ts";
import { BINARY_DEPLOYMENT } from "./opaque/binary.ts";
import { isOtherSpec, opaqueKind, withoutStatus } from "./opaque/opaque-kind.ts";
import { integerAt, memberAt } from "./opaque/read.ts";
import { SCALE } from "./scale.ts";

/** Deployments: nothing creates Pods for them here. */
export const DEPLOYMENTS: ResourceType = { apiVersion: "apps/v1", kind: "Deployment", plural: "deployments", namespaced: true };
/** StatefulSets: nothing creates Pods or volume claims for them here. */
export const STATEFUL_SETS: ResourceType = { apiVersion: "apps/v1", kind: "StatefulSet", plural: "statefulsets", namespaced: true };

/** The problems of `spec.replicas`, which a scale shows and changes. */
function replicasErrors(workload: KubeObject): FieldError[] {
  const given = memberAt(workload, "spec", "replicas");
  if (given === undefined) return [];
  const replicas = integerAt(workload, "spec", "replicas");
  if (replicas === undefined) return [invalid("spec.replicas", given, "must be a whole number of 32 bits")];
  return replicas >= 0 ? [] : [invalid("spec.replicas", replicas, "must be greater than or equal to 0")];
}

const SCALED = { prepare: withoutStatus, validate: replicasErrors };

/** `apps/v1` Deployments. A change of annotations also increments the generation. Source: the strategy of Deployments. */
export const deployments: ResourceDefinition = opaqueKind({
  type: DEPLOYMENTS,
  singular: "deployment",
  shortNames: ["deploy"],
  categories: ["all"],
  description: "Identical Pods, and how they are replaced. Here, nothing creates them.",
  spec: "Desired state of the Pods.",
  status: "Observed state.",
  binary: BINARY_DEPLOYMENT,
  columns: DEPLOYMENT_COLUMNS,
  views: { scale: SCALE },
  strategy: {
    ...SCALED,
    newGeneration: (object, old) => isOtherSpec(object, old) || !jsonEqual(object.metadata.annotations, old.metadata.annotations),
  },
});

/** `apps/v1` StatefulSets. */
export const statefulSets: ResourceDefinition = opaqueKind({
  type: STATEFUL_SETS,
  singular: "statefulset",
  shortNames: ["sts"],
  categories: ["all"],
  description: "Pods that each keep their name and their volumes. Here, nothing creates them.",
  spec: "Desired state of the Pods.",
  status: "Observed state.",
  columns: STATEFUL_SET_COLUMNS,
  views: { scale: SCALE },
  strategy: {
    ...SCALED,
    prepare: (object, old) => withUpdateStrategy(withoutStatus(object, old)),
    newGeneration: (object, old) => isOtherSpec(withUpdateStrategy(object), old),
  },
});

/** Sets the only default of StatefulSets: `kubectl rollout status` rejects a StatefulSet without it. */
function withUpdateStrategy(set: KubeObject): KubeObject {
  if (memberAt(set, "spec", "updateStrategy") !== undefined) return set;
  return { ...set, spec: { ...(set["spec"] as object), updateStrategy: { type: "RollingUpdate" } } };
}
