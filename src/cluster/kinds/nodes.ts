import type { ResourceType } from "../../kube/object/resource.ts";
import type { KubeObject, StringMap } from "../../kube/object/types.ts";
import { duplicate, forbidden, invalid, notSupported, required } from "../../apiserver/types/field-error.ts";
import type { FieldError } from "../../apiserver/types/field-error.ts";
import { dnsSubdomain, labelValue, qualifiedName } from "../../apiserver/types/objects/names.ts";
import { replaceStatus } from "../../apiserver/types/resource-definition.ts";
import type { ResourceDefinition } from "../../apiserver/types/resource-definition.ts";
import { always, kindShape, numbered } from "../../apiserver/types/objects/shape.ts";
import { NODE_COLUMNS } from "./columns/machines.ts";
import { NODE_SPEC, NODE_STATUS } from "./node-spec.ts";

/** Nodes, as names that Pods and addresses may point at. */
export const NODES: ResourceType = { apiVersion: "v1", kind: "Node", plural: "nodes", namespaced: false };

/** A Node, as far as defaults and rules look at it. */
interface Node extends KubeObject {
  readonly spec?: {
    readonly podCIDR?: string;
    readonly podCIDRs?: readonly string[];
    readonly providerID?: string;
    readonly unschedulable?: boolean;
    readonly taints?: readonly Taint[];
  };
  readonly status?: { readonly capacity?: StringMap; readonly allocatable?: StringMap };
}

interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/** `v1` Nodes. */
export const nodes: ResourceDefinition = {
  type: NODES,
  singular: "node",
  shortNames: ["no"],
  shape: numbered(
    kindShape(
      { spec: always(NODE_SPEC), status: always(NODE_STATUS) },
      {
        description: "A machine on which Pods run. Here only a name that Pods and addresses point at.",
        fields: { spec: "What is asked of it.", status: "What it reports of itself." },
      },
    ),
    { metadata: 1, spec: 2, status: 3 },
  ),
  selectableFields: { "spec.unschedulable": (object) => String((object as Node).spec?.unschedulable === true) },
  columns: NODE_COLUMNS,
  strategy: {
    nameRule: dnsSubdomain,
    subresources: { status: replaceStatus },
    prepare: (object) => withDefaults(object as Node),
    validate: (object, old) => [...taintErrors(object as Node), ...(old ? updateErrors(object as Node, old as Node) : [])],
  },
};

/** Source: the defaults of Nodes, and the conversion of their address ranges, of which old clients know one only. */
function withDefaults(node: Node): Node {
  const { spec = {}, status = {} } = node;
  const { podCIDR = "", podCIDRs = [] } = spec;
  const ranges = podCIDR === "" ? podCIDRs : podCIDRs[0] === podCIDR ? podCIDRs : [podCIDR];
  return {
    ...node,
    spec: { ...spec, ...(ranges.length > 0 && { podCIDR: ranges[0]!, podCIDRs: ranges }) },
    status: { ...status, ...(status.capacity && { allocatable: status.allocatable ?? status.capacity }) },
  };
}

function taintErrors({ spec: { taints = [] } = {} }: Node): FieldError[] {
  const seen = new Set<string>();
  return taints.flatMap((taint, index) => {
    const field = `spec.taints[${index}]`;
    const identity = `${taint.key}:${taint.effect}`;
    const repeated = seen.has(identity) ? [duplicate(field, taint)] : [];
    seen.add(identity);
    return [...oneTaintErrors(taint, field), ...repeated];
  });
}

function oneTaintErrors({ key, value = "", effect }: Taint, field: string): FieldError[] {
  return [
    ...qualifiedName(key).map((detail) => invalid(`${field}.key`, key, detail)),
    ...labelValue(value).map((detail) => invalid(`${field}.value`, value, detail)),
    ...(effect === "" ? [required(`${field}.effect`)] : EFFECTS.includes(effect) ? [] : [notSupported(`${field}.effect`, effect, EFFECTS)]),
  ];
}

/** What a node has been given stays. Source: `ValidateNodeUpdate`. */
function updateErrors({ spec = {} }: Node, { spec: before = {} }: Node): FieldError[] {
  const given = (["podCIDRs", "providerID"] as const).filter((field) => (before[field] ?? "").length > 0);
  const changed = given.filter((field) => String(spec[field] ?? "") !== String(before[field]));
  return changed.map((field) =>
    forbidden(`spec.${field}`, `node updates may not change ${field === "podCIDRs" ? "podCIDR" : field} except from "" to valid`),
  );
}
