import { jsonEqual } from "../../base/json.ts";
import type { ResourceType } from "../../kube/object/resource.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { forbidden, notSupported } from "../../apiserver/types/field-error.ts";
import type { FieldError } from "../../apiserver/types/field-error.ts";
import { dnsSubdomain } from "../../apiserver/types/objects/names.ts";
import { replaceStatus } from "../../apiserver/types/resource-definition.ts";
import type { ResourceDefinition } from "../../apiserver/types/resource-definition.ts";
import {
  always,
  int32,
  int64,
  intOrText,
  kindShape,
  list,
  mandatory,
  numbered,
  OBJECT_META,
  optional,
  text,
  time,
} from "../../apiserver/types/objects/shape.ts";
import { STATEFUL_SET_COLUMNS } from "./workload-columns.ts";
import { countErrors, POD_TEMPLATE, SELECTOR, withWorkloadDefaults, workloadErrors } from "./pod-templates.ts";
import type { WorkloadSpec } from "./pod-templates.ts";
import { CLAIM_SPEC } from "./pod-volumes.ts";
import { SCALE } from "./scale.ts";
import { typeOf } from "./type-of.ts";

/** StatefulSets: nothing makes Pods or claims of them here. */
export const STATEFUL_SETS: ResourceType = { apiVersion: "apps/v1", kind: "StatefulSet", plural: "statefulsets", namespaced: true };

interface Claim {
  readonly metadata?: object;
  readonly spec?: { readonly volumeMode?: string };
}

interface StatefulSetSpec extends WorkloadSpec {
  readonly volumeClaimTemplates?: readonly Claim[];
  readonly serviceName?: string;
  readonly podManagementPolicy?: string;
  readonly updateStrategy?: { readonly type?: string; readonly rollingUpdate?: { readonly partition?: number } };
  readonly persistentVolumeClaimRetentionPolicy?: { readonly whenDeleted?: string; readonly whenScaled?: string };
  readonly ordinals?: object;
}

interface StatefulSet extends KubeObject {
  readonly spec?: StatefulSetSpec;
}

const UPDATE_STRATEGY = typeOf({
  name: "StatefulSetUpdateStrategy",
  description: "How old Pods are replaced by new ones.",
  rows: {
    type: [1, text, "RollingUpdate or OnDelete; RollingUpdate when left out."],
    rollingUpdate: [
      2,
      typeOf({
        name: "RollingUpdateStatefulSetStrategy",
        description: "Limits of a rolling update.",
        rows: {
          partition: [1, optional(int32), "Pods with a lower number stay as they are."],
          maxUnavailable: [2, optional(intOrText), "Pods that may be missing, as a number or in percent."],
        },
      }),
      "Limits of a rolling update.",
    ],
  },
});

const RETENTION = typeOf({
  name: "StatefulSetPersistentVolumeClaimRetentionPolicy",
  description: "What becomes of claims that are no longer used.",
  rows: {
    whenDeleted: [1, text, "Retain or Delete, when the set is deleted; Retain when left out."],
    whenScaled: [2, text, "Retain or Delete, when there are to be fewer replicas; Retain when left out."],
  },
});

const CLAIM_STATUS = typeOf({
  name: "PersistentVolumeClaimStatus",
  description: "What became of a claim.",
  rows: { phase: [1, text, "Pending, Bound or Lost."] },
});

const CLAIM_TEMPLATE = typeOf({
  name: "PersistentVolumeClaim",
  description: "A claim on a volume.",
  rows: {
    apiVersion: [0, text, "Version of the schema in which the claim is written."],
    kind: [0, text, "PersistentVolumeClaim."],
    metadata: [1, always(OBJECT_META), "Name, labels and annotations of the claim."],
    spec: [2, always(CLAIM_SPEC), "What is asked of the volume."],
    status: [3, always(CLAIM_STATUS), "What became of the claim."],
  },
});

const SPEC = typeOf({
  name: "StatefulSetSpec",
  description: "Which Pods there should be, each with a name and volumes of its own.",
  rows: {
    replicas: [1, optional(int32), "How many Pods; 1 when left out."],
    selector: [2, SELECTOR, "Labels of the Pods that count. It cannot be changed."],
    template: [3, mandatory(POD_TEMPLATE), "What the Pods are made from."],
    volumeClaimTemplates: [4, list(CLAIM_TEMPLATE), "Claims that each Pod has. They cannot be changed."],
    serviceName: [5, always(text), "Service that gives the Pods their names. It cannot be changed."],
    podManagementPolicy: [6, text, "OrderedReady or Parallel: whether one Pod waits for the other; OrderedReady when left out."],
    updateStrategy: [7, always(UPDATE_STRATEGY), "How old Pods are replaced by new ones."],
    revisionHistoryLimit: [8, optional(int32), "How many old revisions are kept; 10 when left out."],
    minReadySeconds: [9, int32, "How long a new Pod has to be ready before it counts as available."],
    persistentVolumeClaimRetentionPolicy: [10, RETENTION, "What becomes of claims that are no longer used."],
    ordinals: [
      11,
      typeOf({
        name: "StatefulSetOrdinals",
        description: "Numbers of the Pods.",
        rows: { start: [1, always(int32), "The first one."] },
      }),
      "Numbers of the Pods; from 0 when left out.",
    ],
  },
});

const CONDITION = typeOf({
  name: "StatefulSetCondition",
  description: "One thing about a StatefulSet that is so or not.",
  rows: {
    type: [1, mandatory(text), "Which condition it is."],
    status: [2, mandatory(text), "True, False or Unknown."],
    lastTransitionTime: [3, optional(time), "When the status changed last."],
    reason: [4, text, "Why, in one word for machines."],
    message: [5, text, "Why, for people."],
  },
});

const STATUS = typeOf({
  name: "StatefulSetStatus",
  description: "How far it is.",
  rows: {
    observedGeneration: [1, int64, "Generation that the status is about."],
    replicas: [2, always(int32), "Pods that there are."],
    readyReplicas: [3, int32, "Pods that are ready."],
    currentReplicas: [4, int32, "Pods of the revision before an update."],
    updatedReplicas: [5, int32, "Pods of the revision after an update."],
    currentRevision: [6, text, "Revision before an update."],
    updateRevision: [7, text, "Revision after an update."],
    collisionCount: [9, optional(int32), "How often a name was taken."],
    conditions: [10, list(CONDITION, { as: "map", keys: ["type"] }), "What is so or not."],
    availableReplicas: [11, always(int32), "Pods that have been ready for long enough."],
  },
});

/** `apps/v1` StatefulSets. */
export const statefulSets: ResourceDefinition = {
  type: STATEFUL_SETS,
  singular: "statefulset",
  shortNames: ["sts"],
  categories: ["all"],
  shape: numbered(
    kindShape(
      { spec: always(SPEC), status: always(STATUS) },
      {
        description: "Pods of which each keeps its name and its volumes. Here nothing makes them.",
        fields: { spec: "Which Pods there should be.", status: "How far it is." },
      },
    ),
    { metadata: 1, spec: 2, status: 3 },
  ),
  columns: STATEFUL_SET_COLUMNS,
  views: { scale: SCALE },
  strategy: {
    nameRule: dnsSubdomain,
    subresources: { status: replaceStatus },
    newGeneration: (object, old) => !jsonEqual(withDefaults(object as StatefulSet, old)["spec"], old["spec"]),
    prepare: (object, old) => withDefaults(object as StatefulSet, old),
    validate: (object, old) => errorsOf(object as StatefulSet, old as StatefulSet | undefined),
  },
};

function withDefaults(set: StatefulSet, old: KubeObject | undefined): KubeObject {
  const spec = withWorkloadDefaults<StatefulSetSpec>(set.spec ?? {});
  const { podManagementPolicy = "OrderedReady", updateStrategy = {}, persistentVolumeClaimRetentionPolicy: retention } = spec;
  const { type = "RollingUpdate", rollingUpdate } = updateStrategy;
  const rolling = type === "RollingUpdate" && { rollingUpdate: { partition: 0, ...rollingUpdate } };
  const complete = {
    ...spec,
    ...(spec.volumeClaimTemplates && { volumeClaimTemplates: spec.volumeClaimTemplates.map(withClaimDefaults) }),
    podManagementPolicy,
    updateStrategy: { ...updateStrategy, type, ...rolling },
    persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain", ...retention },
  };
  return { ...set, spec: complete, ...(old === undefined && { status: {} }) };
}

/** In the order of the fields, which decides whether a write changes anything. */
function withClaimDefaults({ metadata = {}, spec = {} }: Claim): object {
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata,
    spec: { ...spec, volumeMode: spec.volumeMode ?? "Filesystem" },
    status: { phase: "Pending" },
  };
}

/** What may change; the rest is what existing Pods and claims are known by. */
const CHANGEABLE = [
  "replicas",
  "ordinals",
  "template",
  "updateStrategy",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
  "minReadySeconds",
] as const;
const WHAT_MAY_CHANGE =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

function errorsOf({ spec = {} }: StatefulSet, old: StatefulSet | undefined): FieldError[] {
  const { podManagementPolicy = "", updateStrategy: { type = "", rollingUpdate } = {} } = spec;
  const fixed = (one: StatefulSetSpec = {}) => ({ ...one, ...Object.fromEntries(CHANGEABLE.map((field) => [field, undefined])) });
  return [
    ...workloadErrors(spec, "statefulset"),
    ...oneOf("spec.podManagementPolicy", podManagementPolicy, ["OrderedReady", "Parallel"]),
    ...oneOf("spec.updateStrategy.type", type, ["RollingUpdate", "OnDelete"]),
    ...countErrors(rollingUpdate?.partition, "spec.updateStrategy.rollingUpdate.partition"),
    ...Object.entries(spec.persistentVolumeClaimRetentionPolicy ?? {}).flatMap(([field, value]) =>
      oneOf(`spec.persistentVolumeClaimRetentionPolicy.${field}`, value, ["Retain", "Delete"]),
    ),
    ...(old !== undefined && !jsonEqual(fixed(spec), fixed(old.spec)) ? [forbidden("spec", WHAT_MAY_CHANGE)] : []),
  ];
}

function oneOf(field: string, value: string, supported: readonly string[]): FieldError[] {
  return supported.includes(value) ? [] : [notSupported(field, value, supported)];
}
