/**
 * Policies for Pods: their network traffic, and how many of them must stay available.
 *
 * @module
 */
import type { ResourceType } from "../../kube/object/resource.ts";
import type { ResourceDefinition } from "../../apiserver/types/resource-definition.ts";
import { DISRUPTION_BUDGET_COLUMNS, NETWORK_POLICY_COLUMNS } from "./columns/workloads.ts";
import { BINARY_BUDGET } from "./opaque/binary.ts";
import { isOtherSpec, opaqueKind, withoutStatus } from "./opaque/opaque-kind.ts";

/** NetworkPolicies: nothing filters packets here. */
export const NETWORK_POLICIES: ResourceType = {
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  plural: "networkpolicies",
  namespaced: true,
};
/** PodDisruptionBudgets: nothing counts Pods for them here. */
export const DISRUPTION_BUDGETS: ResourceType = {
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  plural: "poddisruptionbudgets",
  namespaced: true,
};

/** `networking.k8s.io/v1` NetworkPolicies. */
export const networkPolicies: ResourceDefinition = opaqueKind({
  type: NETWORK_POLICIES,
  singular: "networkpolicy",
  shortNames: ["netpol"],
  description: "Traffic that Pods may send and receive. Here, nothing enforces the policy.",
  spec: "Traffic that the Pods may send and receive.",
  columns: NETWORK_POLICY_COLUMNS,
  strategy: { newGeneration: isOtherSpec },
});

/** `policy/v1` PodDisruptionBudgets. */
export const disruptionBudgets: ResourceDefinition = opaqueKind({
  type: DISRUPTION_BUDGETS,
  singular: "poddisruptionbudget",
  shortNames: ["pdb"],
  description: "A limit on how many Pods may be disrupted at once.",
  spec: "Number of Pods that may be disrupted at once.",
  status: "Disruptions that are allowed now.",
  // The only selector that `kubectl apply` sends as a whole, without removed entries.
  lists: { selector: { as: "whole" } },
  binary: BINARY_BUDGET,
  columns: DISRUPTION_BUDGET_COLUMNS,
  strategy: { newGeneration: isOtherSpec, prepare: withoutStatus },
});
