import { jsonEqual } from "../../base/json.ts";
import type { ResourceType } from "../../kube/object/resource.ts";
import type { LabelSelector } from "../../kube/object/selector.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { invalid, notSupported } from "../../apiserver/types/field-error.ts";
import type { FieldError } from "../../apiserver/types/field-error.ts";
import { dnsSubdomain } from "../../apiserver/types/objects/names.ts";
import { replaceStatus } from "../../apiserver/types/resource-definition.ts";
import type { ResourceDefinition } from "../../apiserver/types/resource-definition.ts";
import { always, int32, int64, intOrText, kindShape, numbered, optional, text, time } from "../../apiserver/types/objects/shape.ts";
import { DISRUPTION_BUDGET_COLUMNS } from "./workload-columns.ts";
import { CONDITIONS } from "./conditions.ts";
import { amountErrors } from "./deployments.ts";
import { LABEL_SELECTOR } from "./pod-placement.ts";
import { selectorErrors } from "./pod-templates.ts";
import { typeOf } from "./type-of.ts";

/** PodDisruptionBudgets: nothing counts Pods for them here. */
export const DISRUPTION_BUDGETS: ResourceType = {
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  plural: "poddisruptionbudgets",
  namespaced: true,
};

interface DisruptionBudget extends KubeObject {
  readonly spec?: {
    readonly minAvailable?: number | string;
    readonly maxUnavailable?: number | string;
    readonly selector?: LabelSelector;
    readonly unhealthyPodEvictionPolicy?: string;
  };
}

const SPEC = typeOf({
  name: "PodDisruptionBudgetSpec",
  description: "How many Pods may be taken away on purpose.",
  rows: {
    minAvailable: [1, optional(intOrText), "Pods that have to stay, as a number or in percent. Not with maxUnavailable."],
    selector: [2, LABEL_SELECTOR, "Labels of the Pods that it is about; none when left out, all of the namespace when empty."],
    maxUnavailable: [3, optional(intOrText), "Pods that may be missing, as a number or in percent. Not with minAvailable."],
    unhealthyPodEvictionPolicy: [4, optional(text), "IfHealthyBudget or AlwaysAllow: whether Pods that are not ready may always go."],
  },
});

const STATUS = typeOf({
  name: "PodDisruptionBudgetStatus",
  description: "What the budget allows now.",
  rows: {
    observedGeneration: [1, int64, "Generation that the status is about."],
    disruptedPods: [2, { type: "map", of: time }, "Pods whose eviction was allowed and that are still there."],
    disruptionsAllowed: [3, always(int32), "Pods that may be evicted now."],
    currentHealthy: [4, always(int32), "Pods that are healthy."],
    desiredHealthy: [5, always(int32), "Pods that have to be healthy."],
    expectedPods: [6, always(int32), "Pods that count."],
    conditions: [7, CONDITIONS, "What is so or not."],
  },
});

/** `policy/v1` PodDisruptionBudgets. */
export const disruptionBudgets: ResourceDefinition = {
  type: DISRUPTION_BUDGETS,
  singular: "poddisruptionbudget",
  shortNames: ["pdb"],
  shape: numbered(
    kindShape(
      { spec: always(SPEC), status: always(STATUS) },
      {
        description: "A limit to how many Pods are taken away on purpose at one time.",
        fields: { spec: "How many Pods may be taken away.", status: "What the budget allows now." },
      },
    ),
    { metadata: 1, spec: 2, status: 3 },
  ),
  columns: DISRUPTION_BUDGET_COLUMNS,
  strategy: {
    nameRule: dnsSubdomain,
    subresources: { status: replaceStatus },
    newGeneration: (object, old) => !jsonEqual(object["spec"], old["spec"]),
    prepare: (object, old) => (old === undefined ? { ...object, status: {} } : object),
    validate: (object) => errorsOf(object as DisruptionBudget),
  },
};

const EVICTION_POLICIES = ["IfHealthyBudget", "AlwaysAllow"];

/** Source: `ValidatePodDisruptionBudgetSpec`. */
function errorsOf({ spec = {} }: DisruptionBudget): FieldError[] {
  const { minAvailable, maxUnavailable, selector = {}, unhealthyPodEvictionPolicy: policy } = spec;
  const both = minAvailable !== undefined && maxUnavailable !== undefined;
  return [
    ...(both ? [invalid("spec", spec, "minAvailable and maxUnavailable cannot be both set")] : []),
    ...(minAvailable === undefined ? [] : amountErrors(minAvailable, "spec.minAvailable")),
    ...(maxUnavailable === undefined ? [] : amountErrors(maxUnavailable, "spec.maxUnavailable")),
    ...selectorErrors(selector, "spec.selector"),
    ...(policy === undefined || EVICTION_POLICIES.includes(policy)
      ? []
      : [notSupported("spec.unhealthyPodEvictionPolicy", policy, EVICTION_POLICIES)]),
  ];
}
