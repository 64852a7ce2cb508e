/**
 * What Deployments and StatefulSets share: the Pods that they would make, and how those are found.
 *
 * @module
 */
import { matchesSelector, selectorOf } from "../../kube/object/selector.ts";
import type { LabelSelector } from "../../kube/object/selector.ts";
import type { ObjectMeta } from "../../kube/object/types.ts";
import { forbidden, invalid, notSupported, required } from "../../apiserver/types/field-error.ts";
import type { FieldError } from "../../apiserver/types/field-error.ts";
import { validateLabels } from "../../apiserver/types/objects/metadata.ts";
import { always, OBJECT_META, optional } from "../../apiserver/types/objects/shape.ts";
import type { Field } from "../../apiserver/types/objects/shape.ts";
import { withPodOnlyDefaults, withPodSpecDefaults } from "./pod-defaults.ts";
import { LABEL_SELECTOR } from "./pod-placement.ts";
import { podSpecErrors } from "./pod-rules.ts";
import { POD_SPEC } from "./pod-spec.ts";
import type { PodSpec } from "./pod-types.ts";
import { typeOf } from "./type-of.ts";

/** `spec.template` of what makes Pods. */
export const POD_TEMPLATE = typeOf({
  name: "PodTemplateSpec",
  description: "What Pods are made from.",
  rows: {
    metadata: [1, always(OBJECT_META), "Labels and annotations of the Pods."],
    spec: [2, always(POD_SPEC), "What they run, and how."],
  },
});

/** A selector that has to be there. */
export const SELECTOR: Field = { ...optional(LABEL_SELECTOR), mandatory: true };

/** What Pods are made from. */
export interface PodTemplate {
  readonly metadata?: ObjectMeta;
  readonly spec?: PodSpec;
}

/** What the specs of kinds that make Pods have in common. */
export interface WorkloadSpec {
  readonly replicas?: number;
  readonly selector?: LabelSelector;
  readonly template?: PodTemplate;
  readonly minReadySeconds?: number;
  readonly revisionHistoryLimit?: number;
}

/** Old revisions that are kept. */
const REVISIONS_DEFAULT = 10;

/** The defaults that all of them have: one replica, ten revisions, and those of the Pods. */
export function withWorkloadDefaults<T extends WorkloadSpec>(spec: T): T {
  const { replicas = 1, revisionHistoryLimit = REVISIONS_DEFAULT, template = {} } = spec;
  return { ...spec, replicas, revisionHistoryLimit, template: { ...template, spec: withPodSpecDefaults(template.spec ?? {}) } };
}

/** What is wrong with a spec. Source: `ValidateDeploymentSpec`, `ValidateStatefulSetSpec` and `ValidatePodTemplateSpec`. */
export function workloadErrors(spec: WorkloadSpec, kind: "deployment" | "statefulset"): FieldError[] {
  const counts = (["replicas", "minReadySeconds", "revisionHistoryLimit"] as const).flatMap((field) =>
    countErrors(spec[field], `spec.${field}`),
  );
  return [...counts, ...ownPodsErrors(spec, kind), ...templateErrors(spec.template ?? {}, kind)];
}

/** A count that is there is not negative. */
export function countErrors(count: number | undefined, field: string): FieldError[] {
  return count === undefined || count >= 0 ? [] : [invalid(field, count, "must be greater than or equal to 0")];
}

/** What is wrong with a selector. */
export function selectorErrors(selector: LabelSelector, field: string): FieldError[] {
  const labels = validateLabels(selector.matchLabels ?? {}, `${field}.matchLabels`);
  const expressions = (selector.matchExpressions ?? []).flatMap(({ operator, values = [] }, index) => {
    const at = `${field}.matchExpressions[${index}]`;
    if (operator === "In" || operator === "NotIn")
      return values.length > 0 ? [] : [required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
    if (operator !== "Exists" && operator !== "DoesNotExist") return [invalid(`${at}.operator`, operator, "not a valid selector operator")];
    return values.length === 0 ? [] : [forbidden(`${at}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
  });
  return [...labels, ...expressions];
}

/** What is made has to be found again. */
function ownPodsErrors({ selector, template = {} }: WorkloadSpec, kind: string): FieldError[] {
  if (selector === undefined) return [required("spec.selector")];
  const { matchLabels = {}, matchExpressions = [] } = selector;
  if (Object.keys(matchLabels).length + matchExpressions.length === 0)
    return [invalid("spec.selector", selector, `empty selector is invalid for ${kind}`)];
  const errors = selectorErrors(selector, "spec.selector");
  const labels = template.metadata?.labels;
  if (errors.length > 0 || matchesSelector(selectorOf(selector), labels)) return errors;
  return [invalid("spec.template.metadata.labels", labels ?? {}, "`selector` does not match template `labels`")];
}

/** Volumes of a StatefulSet are in its claims too, so that its Pods are looked at only when they are made. Source: the same functions. */
function templateErrors({ metadata = {}, spec = {} }: PodTemplate, kind: string): FieldError[] {
  const { restartPolicy = "Always", activeDeadlineSeconds, ephemeralContainers = [] } = spec;
  return [
    ...validateLabels(metadata.labels ?? {}, "spec.template.labels"),
    // As a Pod would be that is made from it.
    ...(kind === "statefulset" ? [] : podSpecErrors(withPodOnlyDefaults(spec))).map((error) => ({
      ...error,
      field: error.field.replace(/^spec\./, "spec.template.spec."),
    })),
    ...(restartPolicy === "Always" ? [] : [notSupported("spec.template.spec.restartPolicy", restartPolicy, ["Always"])]),
    ...(activeDeadlineSeconds === undefined
      ? []
      : [forbidden("spec.template.spec.activeDeadlineSeconds", "activeDeadlineSeconds in ReplicaSet is not Supported")]),
    ...(ephemeralContainers.length === 0
      ? []
      : [forbidden("spec.template.spec.ephemeralContainers", "ephemeral containers not allowed in pod template")]),
  ];
}
