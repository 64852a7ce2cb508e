import type { ResourceType } from "../../object/resource.ts";
import { dnsSubdomain } from "../../server/names.ts";
import { replaceStatus } from "../../server/resource-definition.ts";
import type { ResourceDefinition } from "../../server/resource-definition.ts";
import { any, kindShape, optional } from "../../server/shape.ts";
import { NODE_COLUMNS } from "../columns/machines.ts";

/** Nodes, as names that Pods and addresses may point at. */
export const NODES: ResourceType = { apiVersion: "v1", kind: "Node", plural: "nodes", namespaced: false };

/** `v1` Nodes. */
export const nodes: ResourceDefinition = {
  type: NODES,
  singular: "node",
  shortNames: ["no"],
  shape: kindShape(
    { spec: optional(any), status: optional(any) },
    { description: "A machine on which Pods run. Here only a name that Pods and addresses point at." },
  ),
  columns: NODE_COLUMNS,
  strategy: { nameRule: dnsSubdomain, subresources: { status: replaceStatus } },
};
