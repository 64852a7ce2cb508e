import { jsonEqual } from "../../base/json.ts";
import type { ResourceType } from "../../kube/object/resource.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { forbidden, IMMUTABLE, invalid, notSupported } from "../../apiserver/types/field-error.ts";
import type { FieldError } from "../../apiserver/types/field-error.ts";
import { dnsSubdomain } from "../../apiserver/types/objects/names.ts";
import { replaceStatus } from "../../apiserver/types/resource-definition.ts";
import type { ResourceDefinition } from "../../apiserver/types/resource-definition.ts";
import {
  always,
  bool,
  int32,
  int64,
  intOrText,
  kindShape,
  list,
  mandatory,
  numbered,
  optional,
  text,
  time,
} from "../../apiserver/types/objects/shape.ts";
import { DEPLOYMENT_COLUMNS } from "./workload-columns.ts";
import { POD_TEMPLATE, SELECTOR, withWorkloadDefaults, workloadErrors } from "./pod-templates.ts";
import type { WorkloadSpec } from "./pod-templates.ts";
import { SCALE } from "./scale.ts";
import { typeOf } from "./type-of.ts";

/** Deployments: nothing makes Pods of them here. */
export const DEPLOYMENTS: ResourceType = { apiVersion: "apps/v1", kind: "Deployment", plural: "deployments", namespaced: true };

interface DeploymentSpec extends WorkloadSpec {
  readonly strategy?: {
    readonly type?: string;
    readonly rollingUpdate?: { readonly maxUnavailable?: number | string; readonly maxSurge?: number | string };
  };
  readonly progressDeadlineSeconds?: number;
}

interface Deployment extends KubeObject {
  readonly spec?: DeploymentSpec;
}

const ROLLING_UPDATE = typeOf({
  name: "RollingUpdateDeployment",
  description: "How far a rolling update may go from the number of replicas.",
  rows: {
    maxUnavailable: [1, optional(intOrText), "Replicas that may be missing, as a number or in percent; 25% when left out."],
    maxSurge: [2, optional(intOrText), "Replicas that may be there in addition; 25% when left out."],
  },
});

const STRATEGY = typeOf({
  name: "DeploymentStrategy",
  description: "How old Pods are replaced by new ones.",
  rows: {
    type: [1, text, "Recreate or RollingUpdate; RollingUpdate when left out."],
    rollingUpdate: [2, ROLLING_UPDATE, "Limits of a rolling update."],
  },
});

const SPEC = typeOf({
  name: "DeploymentSpec",
  description: "Which Pods there should be, and how many.",
  rows: {
    replicas: [1, optional(int32), "How many Pods; 1 when left out."],
    selector: [2, SELECTOR, "Labels of the Pods that count. It cannot be changed."],
    template: [3, mandatory(POD_TEMPLATE), "What the Pods are made from."],
    strategy: [4, always(STRATEGY), "How old Pods are replaced by new ones."],
    minReadySeconds: [5, int32, "How long a new Pod has to be ready before it counts as available."],
    revisionHistoryLimit: [6, optional(int32), "How many old revisions are kept; 10 when left out."],
    paused: [7, bool, "True leaves the Pods as they are, whatever the template says."],
    progressDeadlineSeconds: [9, optional(int32), "How long an update may stand still before it counts as failed; 600 when left out."],
  },
});

const CONDITION = typeOf({
  name: "DeploymentCondition",
  description: "One thing about a Deployment that is so or not.",
  rows: {
    type: [1, mandatory(text), "Which condition it is."],
    status: [2, mandatory(text), "True, False or Unknown."],
    lastUpdateTime: [6, optional(time), "When it was looked at last."],
    lastTransitionTime: [7, optional(time), "When the status changed last."],
    reason: [4, text, "Why, in one word for machines."],
    message: [5, text, "Why, for people."],
  },
});

const STATUS = typeOf({
  name: "DeploymentStatus",
  description: "How far it is.",
  rows: {
    observedGeneration: [1, int64, "Generation that the status is about."],
    replicas: [2, int32, "Pods that there are."],
    updatedReplicas: [3, int32, "Pods of the present template."],
    readyReplicas: [7, int32, "Pods that are ready."],
    availableReplicas: [4, int32, "Pods that have been ready for long enough."],
    unavailableReplicas: [5, int32, "Pods that are missing."],
    terminatingReplicas: [9, optional(int32), "Pods that are ending."],
    conditions: [6, list(CONDITION, { as: "map", keys: ["type"] }), "What is so or not."],
    collisionCount: [8, optional(int32), "How often a name was taken."],
  },
});

/** `apps/v1` Deployments. */
export const deployments: ResourceDefinition = {
  type: DEPLOYMENTS,
  singular: "deployment",
  shortNames: ["deploy"],
  categories: ["all"],
  shape: numbered(
    kindShape(
      { spec: always(SPEC), status: always(STATUS) },
      {
        description: "Pods that are all alike, and how they are replaced. Here nothing makes them.",
        fields: { spec: "Which Pods there should be.", status: "How far it is." },
      },
    ),
    { metadata: 1, spec: 2, status: 3 },
  ),
  columns: DEPLOYMENT_COLUMNS,
  views: { scale: SCALE },
  strategy: {
    nameRule: dnsSubdomain,
    subresources: { status: replaceStatus },
    newGeneration: (object, old) =>
      !jsonEqual([withDefaults(object as Deployment, old)["spec"], object.metadata.annotations], [old["spec"], old.metadata.annotations]),
    prepare: (object, old) => withDefaults(object as Deployment, old),
    validate: (object, old) => errorsOf(object as Deployment, old as Deployment | undefined),
  },
};

const DEADLINE_DEFAULT = 600;

function withDefaults(deployment: Deployment, old: KubeObject | undefined): KubeObject {
  const spec = withWorkloadDefaults<DeploymentSpec>(deployment.spec ?? {});
  const { type = "RollingUpdate", rollingUpdate } = spec.strategy ?? {};
  const limits = { maxUnavailable: "25%", maxSurge: "25%", ...rollingUpdate };
  const strategy = type === "RollingUpdate" ? { type, rollingUpdate: limits } : { ...spec.strategy, type };
  const { progressDeadlineSeconds = DEADLINE_DEFAULT } = spec;
  return { ...deployment, spec: { ...spec, strategy, progressDeadlineSeconds }, ...(old === undefined && { status: {} }) };
}

function errorsOf({ spec = {} }: Deployment, old: Deployment | undefined): FieldError[] {
  const { minReadySeconds = 0, progressDeadlineSeconds = DEADLINE_DEFAULT } = spec;
  const moved = old !== undefined && !jsonEqual(old.spec?.selector, spec.selector);
  return [
    ...workloadErrors(spec, "deployment"),
    ...strategyErrors(spec),
    ...(progressDeadlineSeconds > minReadySeconds
      ? []
      : [invalid("spec.progressDeadlineSeconds", progressDeadlineSeconds, "must be greater than minReadySeconds")]),
    ...(moved ? [invalid("spec.selector", spec.selector, IMMUTABLE)] : []),
  ];
}

function strategyErrors({ strategy: { type = "", rollingUpdate } = {} }: DeploymentSpec): FieldError[] {
  const field = "spec.strategy.rollingUpdate";
  if (type === "Recreate")
    return rollingUpdate === undefined ? [] : [forbidden(field, "may not be specified when strategy `type` is 'Recreate'")];
  if (type !== "RollingUpdate") return [notSupported("spec.strategy.type", type, ["Recreate", "RollingUpdate"])];
  const { maxUnavailable = "", maxSurge = "" } = rollingUpdate ?? {};
  const errors = Object.entries({ maxUnavailable, maxSurge }).flatMap(([name, value]) => amountErrors(value, `${field}.${name}`));
  const stuck = errors.length === 0 && Number.parseInt(String(maxUnavailable)) === 0 && Number.parseInt(String(maxSurge)) === 0;
  return stuck ? [invalid(`${field}.maxUnavailable`, maxUnavailable, "may not be 0 when `maxSurge` is 0")] : errors;
}

/** A number of Pods, or a part of them in percent. */
export function amountErrors(value: number | string, field: string): FieldError[] {
  if (typeof value === "number") return value >= 0 ? [] : [invalid(field, value, "must be greater than or equal to 0")];
  if (!/^[0-9]+%$/.test(value)) return [invalid(field, value, "a valid percent string must be a numeric string followed by an ending '%'")];
  return Number.parseInt(value) <= 100 ? [] : [invalid(field, value, "must not be greater than 100%")];
}
