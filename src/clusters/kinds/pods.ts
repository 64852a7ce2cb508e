import { isRecord, jsonEqual } from "../../base/json.ts";
import type { ResourceType } from "../../object/resource.ts";
import type { KubeObject } from "../../object/types.ts";
import { forbidden, required } from "../../server/field-error.ts";
import type { FieldError } from "../../server/field-error.ts";
import { dnsSubdomain } from "../../server/names.ts";
import { replaceStatus } from "../../server/resource-definition.ts";
import type { ResourceDefinition } from "../../server/resource-definition.ts";
import { any, kindShape, optional } from "../../server/shape.ts";
import { POD_COLUMNS } from "../columns/machines.ts";

/** Pods, as far as Endpoints need them: nothing schedules or runs them. */
export const PODS: ResourceType = { apiVersion: "v1", kind: "Pod", plural: "pods", namespaced: true };

/** A container's ports, as far as Services name them. */
export interface ContainerPort {
  readonly name?: string;
  readonly containerPort: number;
  readonly protocol?: string;
}

/** A Pod, as far as Endpoints need it. */
export interface Pod extends KubeObject {
  readonly spec?: {
    readonly nodeName?: string;
    readonly hostname?: string;
    readonly subdomain?: string;
    readonly terminationGracePeriodSeconds?: number;
    readonly containers?: readonly { readonly ports?: readonly ContainerPort[] }[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly podIP?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

/** `v1` Pods. */
export const pods: ResourceDefinition = {
  type: PODS,
  singular: "pod",
  shortNames: ["po"],
  categories: ["all"],
  shape: kindShape(
    { spec: optional(any), status: optional(any) },
    { description: "Containers that run together. Here nothing runs them: they stand for what Endpoints point at." },
  ),
  selectableFields: {
    "spec.nodeName": (object) => (object as Pod).spec?.nodeName ?? "",
    "status.phase": (object) => (object as Pod).status?.phase ?? "",
    "status.podIP": (object) => (object as Pod).status?.podIP ?? "",
  },
  columns: POD_COLUMNS,
  strategy: {
    nameRule: dnsSubdomain,
    subresources: { status: replaceStatus },
    returnsDeleted: true,
    newGeneration: (object, old) => !jsonEqual(object["spec"], old["spec"]),
    prepare: (object, old) => (old === undefined ? { ...object, status: { phase: "Pending" } } : object),
    validate,
    gracePeriod,
  },
};

/** Seconds that a Pod may take to end unless it says otherwise. */
const GRACE_SECONDS_DEFAULT = 30;

/** A Pod on no node, or one that has ended, has nothing to wait for. Source: the strategy of Pods. */
function gracePeriod(object: KubeObject, requested: number | undefined): number {
  const { spec = {}, status = {} } = object as Pod;
  const ended = status.phase === "Succeeded" || status.phase === "Failed";
  if ((spec.nodeName ?? "") === "" || ended) return 0;
  return requested ?? spec.terminationGracePeriodSeconds ?? GRACE_SECONDS_DEFAULT;
}

function validate(object: KubeObject, old: KubeObject | undefined): FieldError[] {
  const { containers } = isRecord(object["spec"]) ? object["spec"] : {};
  if (!Array.isArray(containers) || containers.length === 0) return [required("spec.containers")];
  if (old === undefined || jsonEqual(withoutImages(object), withoutImages(old))) return [];
  const why =
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";
  return [forbidden("spec", why)];
}

function withoutImages(object: KubeObject): unknown {
  const spec = object["spec"] as { containers: readonly object[] };
  return { ...spec, containers: spec.containers.map((container) => ({ ...container, image: undefined })) };
}
