/**
 * Columns of what makes Pods, and of what is said about them.
 *
 * @module
 */
import type { LabelSelector } from "../../kube/object/selector.ts";
import type { KubeObject, StringMap } from "../../kube/object/types.ts";
import { AGE_COLUMN, NAME_COLUMN, NONE, textColumn, wide } from "../../apiserver/types/columns.ts";
import type { Column } from "../../apiserver/types/columns.ts";
import type { PodTemplate, WorkloadSpec } from "./pod-templates.ts";

const specOf = (object: KubeObject) => object["spec"] as WorkloadSpec;
const statusOf = (object: KubeObject, field: string) => (object["status"] as Readonly<Record<string, number>>)[field] ?? 0;
const containersOf = ({ template }: { readonly template?: PodTemplate }) => template?.spec?.containers ?? [];

const READY_COLUMN = textColumn(
  "Ready",
  "Pods that are ready, of all that should be there.",
  (object) => `${statusOf(object, "readyReplicas")}/${specOf(object).replicas ?? 0}`,
);
const CONTAINER_COLUMNS: readonly Column[] = [
  wide(textColumn("Containers", "Names of the containers.", (object) => containersOf(specOf(object)).map(({ name }) => name).join(","))), // prettier-ignore
  wide(textColumn("Images", "Their images.", (object) => containersOf(specOf(object)).map(({ image = "" }) => image).join(","))), // prettier-ignore
];

const count = (name: string, field: string, description: string): Column => ({
  name,
  type: "string",
  description,
  cell: (object) => statusOf(object, field),
});

/** What `kubectl get` shows of Deployments. */
export const DEPLOYMENT_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  READY_COLUMN,
  count("Up-to-date", "updatedReplicas", "Pods of the present template."),
  count("Available", "availableReplicas", "Pods that have been ready for long enough."),
  AGE_COLUMN,
  ...CONTAINER_COLUMNS,
  wide(textColumn("Selector", "Labels of the Pods that count.", (object) => selectorText(specOf(object).selector ?? {}))),
];

/** What `kubectl get` shows of StatefulSets. */
export const STATEFUL_SET_COLUMNS: readonly Column[] = [NAME_COLUMN, READY_COLUMN, AGE_COLUMN, ...CONTAINER_COLUMNS];

const orNone = (value: unknown) => (typeof value === "number" || typeof value === "string" ? String(value) : "N/A");
const budgetOf = (object: KubeObject) => object["spec"] as Readonly<Record<string, unknown>>;

/** What `kubectl get` shows of PodDisruptionBudgets. */
export const DISRUPTION_BUDGET_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  textColumn("Min Available", "Pods that have to stay.", (object) => orNone(budgetOf(object)["minAvailable"])),
  textColumn("Max Unavailable", "Pods that may be missing.", (object) => orNone(budgetOf(object)["maxUnavailable"])),
  count("Allowed Disruptions", "disruptionsAllowed", "Pods that may be evicted now."),
  AGE_COLUMN,
];

/** What `kubectl get` shows of NetworkPolicies. */
export const NETWORK_POLICY_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  textColumn("Pod-Selector", "Labels of the Pods that it is about.", (object) =>
    selectorText((object["spec"] as { readonly podSelector?: LabelSelector }).podSelector ?? {}),
  ),
  AGE_COLUMN,
];

/** A selector as people write it. */
export function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const expressions = matchExpressions.map(({ key, operator, values = [] }) => {
    if (operator === "Exists") return key;
    return operator === "DoesNotExist" ? `!${key}` : `${key} ${operator.toLowerCase()} (${[...values].sort().join(",")})`;
  });
  return [...labelTexts(matchLabels), ...expressions].join(",") || NONE;
}

function labelTexts(labels: StringMap): string[] {
  return Object.keys(labels)
    .sort()
    .map((key) => `${key}=${labels[key]}`);
}
