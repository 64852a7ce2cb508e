/**
 * Columns of the kinds whose spec and status may hold anything.
 *
 * @module
 */
import { isRecord } from "../../base/json.ts";
import type { KubeObject } from "../../object/types.ts";
import { AGE_COLUMN, NAME_COLUMN, NONE, textColumn, wide } from "../../server/columns.ts";
import type { Column } from "../../server/columns.ts";

/** The value behind names, or undefined wherever there is something else on the way. */
function at(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce((inner, name) => (isRecord(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined), value);
}

function textAt(value: unknown, ...names: readonly string[]): string | undefined {
  const found = at(value, ...names);
  return typeof found === "string" && found !== "" ? found : undefined;
}

function listAt(value: unknown, ...names: readonly string[]): readonly unknown[] {
  const found = at(value, ...names);
  return Array.isArray(found) ? (found as readonly unknown[]) : [];
}

/** Columns of Pods. */
export const POD_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  textColumn("Ready", "Containers that are ready, of all.", readyContainers),
  textColumn("Status", "What the Pod is doing.", podStatus),
  { name: "Restarts", type: "integer", description: "How often containers were started again.", cell: restarts },
  AGE_COLUMN,
  wide(textColumn("IP", "Address of the Pod.", (object) => textAt(object, "status", "podIP") ?? NONE)),
  wide(textColumn("Node", "Node on which the Pod is.", (object) => textAt(object, "spec", "nodeName") ?? NONE)),
];

const containerStatuses = (object: KubeObject) => listAt(object, "status", "containerStatuses");

function readyContainers(object: KubeObject): string {
  const ready = containerStatuses(object).filter((status) => at(status, "ready") === true).length;
  return `${ready}/${listAt(object, "spec", "containers").length}`;
}

function podStatus(object: KubeObject): string {
  if (typeof object.metadata.deletionTimestamp === "string") return "Terminating";
  return textAt(object, "status", "reason") ?? textAt(object, "status", "phase") ?? "";
}

function restarts(object: KubeObject): number {
  const counts = containerStatuses(object).map((status) => Number(at(status, "restartCount") ?? 0));
  return counts.reduce((sum, count) => sum + (Number.isFinite(count) ? count : 0), 0);
}

/** Columns of Nodes. */
export const NODE_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  textColumn("Status", "Whether the node is ready.", nodeStatus),
  textColumn("Roles", "What the node is for.", roles),
  AGE_COLUMN,
  textColumn("Version", "Version of the node's agent.", (object) => textAt(object, "status", "nodeInfo", "kubeletVersion") ?? ""),
  wide(textColumn("Internal-IP", "Address within the cluster.", (object) => nodeAddress(object, "InternalIP"))),
  wide(textColumn("External-IP", "Address from outside.", (object) => nodeAddress(object, "ExternalIP"))),
];

function nodeStatus(object: KubeObject): string {
  const ready = listAt(object, "status", "conditions").find((condition) => at(condition, "type") === "Ready");
  const states = { True: "Ready", False: "NotReady" };
  const state = states[textAt(ready, "status") as keyof typeof states] ?? (ready === undefined ? "Unknown" : "NotReady");
  return at(object, "spec", "unschedulable") === true ? `${state},SchedulingDisabled` : state;
}

const ROLE_LABEL = "node-role.kubernetes.io/";

function roles({ metadata: { labels = {} } }: KubeObject): string {
  const names = Object.keys(labels).filter((label) => label.startsWith(ROLE_LABEL));
  const own = labels["kubernetes.io/role"];
  const found = [...names.map((label) => label.slice(ROLE_LABEL.length)), ...(own === undefined ? [] : [own])].filter(Boolean);
  return [...new Set(found)].sort().join(",") || NONE;
}

function nodeAddress(object: KubeObject, type: string): string {
  const address = listAt(object, "status", "addresses").find((candidate) => at(candidate, "type") === type);
  return textAt(address, "address") ?? NONE;
}
