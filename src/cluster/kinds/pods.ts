import { jsonEqual } from "../../base/json.ts";
import type { ResourceType } from "../../kube/object/resource.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import type { FieldError } from "../../apiserver/types/field-error.ts";
import { dnsSubdomain } from "../../apiserver/types/objects/names.ts";
import { replaceStatus } from "../../apiserver/types/resource-definition.ts";
import type { ResourceDefinition } from "../../apiserver/types/resource-definition.ts";
import { always, kindShape, numbered } from "../../apiserver/types/objects/shape.ts";
import { POD_COLUMNS } from "./columns/machines.ts";
import { GRACE_SECONDS_DEFAULT, withPodDefaults } from "./pod-defaults.ts";
import { podCreationErrors, podSpecErrors, podUpdateErrors } from "./pod-rules.ts";
import { POD_SPEC } from "./pod-spec.ts";
import { POD_STATUS } from "./pod-status.ts";
import type { Pod } from "./pod-types.ts";

/** Pods: nothing schedules or runs them here. */
export const PODS: ResourceType = { apiVersion: "v1", kind: "Pod", plural: "pods", namespaced: true };

/** `v1` Pods. */
export const pods: ResourceDefinition = {
  type: PODS,
  singular: "pod",
  shortNames: ["po"],
  categories: ["all"],
  shape: numbered(
    kindShape(
      { spec: always(POD_SPEC), status: always(POD_STATUS) },
      {
        description: "Containers that run together. Here nothing runs them: they stand for what Endpoints point at.",
        fields: { spec: "What runs, and how.", status: "How it is." },
      },
    ),
    { metadata: 1, spec: 2, status: 3 },
  ),
  selectableFields: {
    "spec.nodeName": (object) => (object as Pod).spec?.nodeName ?? "",
    "spec.restartPolicy": (object) => (object as Pod).spec?.restartPolicy ?? "",
    "spec.schedulerName": (object) => (object as Pod).spec?.schedulerName ?? "",
    "spec.serviceAccountName": (object) => (object as Pod).spec?.serviceAccountName ?? "",
    "spec.hostNetwork": (object) => String((object as Pod).spec?.hostNetwork === true),
    "status.phase": (object) => (object as Pod).status?.phase ?? "",
    "status.podIP": (object) => (object as Pod).status?.podIP ?? "",
    "status.nominatedNodeName": (object) => (object as Pod).status?.nominatedNodeName ?? "",
  },
  columns: POD_COLUMNS,
  strategy: {
    nameRule: dnsSubdomain,
    subresources: { status: replaceStatus },
    returnsDeleted: true,
    newGeneration: (object, old) => !jsonEqual(withPodDefaults(object as Pod, old as Pod).spec, old["spec"]),
    prepare: (object, old) => withPodDefaults(object as Pod, old as Pod | undefined),
    validate: (object, old) => podErrors(object as Pod, old as Pod | undefined),
    gracePeriod,
  },
};

function podErrors({ spec = {} }: Pod, old: Pod | undefined): FieldError[] {
  if (old === undefined) return [...podSpecErrors(spec), ...podCreationErrors(spec)];
  // What an earlier version of this server stored may lack defaults.
  const { spec: before = {} } = withPodDefaults(old, old);
  return jsonEqual(spec, before) ? [] : [...podSpecErrors(spec), ...podUpdateErrors(spec, before)];
}

/** A Pod on no node, or one that has ended, has nothing to wait for. Source: the strategy of Pods. */
function gracePeriod(object: KubeObject, requested: number | undefined): number {
  const { spec = {}, status = {} } = object as Pod;
  const ended = status.phase === "Succeeded" || status.phase === "Failed";
  if ((spec.nodeName ?? "") === "" || ended) return 0;
  return requested ?? spec.terminationGracePeriodSeconds ?? GRACE_SECONDS_DEFAULT;
}
