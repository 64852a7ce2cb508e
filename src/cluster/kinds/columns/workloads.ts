/**
 * Columns of the kinds that create Pods, and of the policies for Pods.
 *
 * @module
 */
import { isRecord } from "../../../base/json.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { AGE_COLUMN, NAME_COLUMN, NONE, textColumn, wide, type Column } from "../../../apiserver/types/columns.ts";
import { integerAt, listAt, inOneLine, textAt, memberAt } from "../opaque/read.ts";

/** The desired number of replicas; 1 by default. Source: the kinds that create Pods. */
export function wantedReplicas(workload: KubeObject): number {
  return integerAt(workload, "spec", "replicas") ?? 1;
}

/** A count in the status. */
export function statusCount(object: KubeObject, field: string): number {
  return integerAt(object, "status", field) ?? 0;
}

const READY_COLUMN = textColumn(
  "Ready",
  "Ready Pods out of the desired number.",
  (object) => `${statusCount(object, "readyReplicas")}/${wantedReplicas(object)}`,
);

const ofContainers = (object: KubeObject, field: string) =>
  listAt(object, "spec", "template", "spec", "containers")
    .map((container) => textAt(container, field) ?? "")
    .join(",");
const CONTAINER_COLUMNS: readonly Column[] = [
  wide(textColumn("Containers", "Names of the containers.", (object) => ofContainers(object, "name"))),
  wide(textColumn("Images", "Their images.", (object) => ofContainers(object, "image"))),
];

const count = (name: string, field: string, description: string): Column => ({
  name,
  type: "string",
  description,
  cell: (object) => statusCount(object, field),
});

/** The columns that `kubectl get` shows for Deployments. */
export const DEPLOYMENT_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  READY_COLUMN,
  count("Up-to-date", "updatedReplicas", "Pods of the current template."),
  count("Available", "availableReplicas", "Pods that have been ready for at least minReadySeconds."),
  AGE_COLUMN,
  ...CONTAINER_COLUMNS,
  wide(textColumn("Selector", "Labels of the Pods that are counted.", (object) => selectorText(memberAt(object, "spec", "selector")))),
];

/** The columns that `kubectl get` shows for StatefulSets. */
export const STATEFUL_SET_COLUMNS: readonly Column[] = [NAME_COLUMN, READY_COLUMN, AGE_COLUMN, ...CONTAINER_COLUMNS];

/** A limit of a budget: a number, or a share in percent. */
function limitOf(object: KubeObject, field: string): string {
  const value = memberAt(object, "spec", field);
  return typeof value === "number" || typeof value === "string" ? String(value) : "N/A";
}

/** The columns that `kubectl get` shows for PodDisruptionBudgets. */
export const DISRUPTION_BUDGET_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  textColumn("Min Available", "Pods that must stay available.", (object) => limitOf(object, "minAvailable")),
  textColumn("Max Unavailable", "Pods that may be unavailable.", (object) => limitOf(object, "maxUnavailable")),
  count("Allowed Disruptions", "disruptionsAllowed", "Pods that may be evicted now."),
  AGE_COLUMN,
];

/** The columns that `kubectl get` shows for NetworkPolicies. */
export const NETWORK_POLICY_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  textColumn("Pod-Selector", "Labels of the Pods that the policy applies to.", (object) =>
    selectorText(memberAt(object, "spec", "podSelector")),
  ),
  AGE_COLUMN,
];

/** A label selector in its usual text form. */
export function selectorText(selector: unknown): string {
  const labels = memberAt(selector, "matchLabels");
  const exact = isRecord(labels) ? Object.keys(labels).sort().map((key) => `${key}=${inOneLine(labels[key])}`) : []; // prettier-ignore
  const expressions = listAt(selector, "matchExpressions").map(expressionText);
  return [...exact, ...expressions].join(",") || NONE;
}

function expressionText(expression: unknown): string {
  const [key = "", operator = ""] = [textAt(expression, "key"), textAt(expression, "operator")];
  if (operator === "Exists") return key;
  const values = listAt(expression, "values").map(inOneLine).sort();
  return operator === "DoesNotExist" ? `!${key}` : `${key} ${operator.toLowerCase()} (${values.join(",")})`;
}
