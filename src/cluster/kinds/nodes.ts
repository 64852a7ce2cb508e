import type { ResourceType } from "../../kube/object/resource.ts";
import type { ResourceDefinition } from "../../apiserver/types/resource-definition.ts";
import { NODE_COLUMNS } from "./columns/machines.ts";
import { opaqueKind } from "./opaque/opaque-kind.ts";
import { memberAt } from "./opaque/read.ts";

/** Nodes, as names that Pods and addresses can refer to. */
export const NODES: ResourceType = { apiVersion: "v1", kind: "Node", plural: "nodes", namespaced: false };

/** `v1` Nodes. A node is created with its status. */
export const nodes: ResourceDefinition = opaqueKind({
  type: NODES,
  singular: "node",
  shortNames: ["no"],
  description: "A machine that runs Pods. Here, only a name that Pods and addresses refer to.",
  spec: "Desired state.",
  status: "Observed state, as the node reports it.",
  selectableFields: { "spec.unschedulable": (node) => String(memberAt(node, "spec", "unschedulable") === true) },
  columns: NODE_COLUMNS,
});
