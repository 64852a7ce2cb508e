import type { ResourceType } from "../../kube/object/resource.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { fieldAt } from "../../apiserver/types/fields/field-set.ts";
import { fieldStep } from "../../apiserver/types/fields/step.ts";
import { AGE_COLUMN, NAME_COLUMN, NONE, textColumn } from "../../apiserver/types/columns.ts";
import { dnsSubdomain } from "../../apiserver/types/objects/names.ts";
import type { ResourceDefinition, View } from "../../apiserver/types/resource-definition.ts";
import { kindShape } from "../../kube/object/kind-shape.ts";
import { always, int32, named, text } from "../../schema/builders.ts";
import { invalid } from "../../apiserver/types/field-error.ts";
import { selectorText, statusCount, wantedReplicas } from "./columns/workloads.ts";
import { memberAt } from "./opaque/read.ts";

const TYPE: ResourceType = { apiVersion: "autoscaling/v1", kind: "Scale", plural: "scales", namespaced: true };

const SPEC = named("ScaleSpec", "Desired number of replicas.", { replicas: [1, int32, "Number of replicas; 0 when omitted."] });

const STATUS = named("ScaleStatus", "Observed number of replicas.", {
  replicas: [1, always(int32), "Number of replicas."],
  selector: [2, text, "Label selector of the Pods, in the format of list requests."],
});

interface Scale extends KubeObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas?: number };
}

const DEFINITION: ResourceDefinition = {
  type: TYPE,
  singular: "scale",
  verbs: ["get", "patch", "update"],
  shape: kindShape(
    { spec: [2, always(SPEC), "Desired number."], status: [3, always(STATUS), "Observed number."] },
    "Number of replicas of an object.",
  ),
  columns: [
    NAME_COLUMN,
    textColumn("Desired", "Desired number of replicas.", ({ spec }: Scale) => String(spec?.replicas ?? 0)),
    textColumn("Available", "Actual number of replicas.", ({ status }: Scale) => String(status?.replicas ?? 0)),
    AGE_COLUMN,
  ],
  strategy: {
    nameRule: dnsSubdomain,
    validate: ({ spec: { replicas = 0 } = {} }: Scale) =>
      replicas >= 0 ? [] : [invalid("spec.replicas", replicas, "must be greater than or equal to 0")],
  },
};

/** `scale` of Deployments and StatefulSets: the number of replicas apart from the rest, as `kubectl scale` reads and writes it. */
export const SCALE: View = { definition: DEFINITION, show, shared: fieldAt([fieldStep("spec"), fieldStep("replicas")]), apply };

function show(stored: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = stored.metadata;
  const replicas = wantedReplicas(stored);
  const selector = selectorText(memberAt(stored, "spec", "selector"));
  return {
    apiVersion: TYPE.apiVersion,
    kind: TYPE.kind,
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp } as KubeObject["metadata"],
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: statusCount(stored, "replicas"), ...(selector !== NONE && { selector }) },
  };
}

function apply(scale: KubeObject, stored: KubeObject): KubeObject {
  const { replicas = 0 } = (scale as Scale).spec ?? {};
  return { ...stored, spec: { ...(stored["spec"] as object), replicas } };
}
