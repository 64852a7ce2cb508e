/**
 * Columns of Pods and Nodes.
 *
 * @module
 */
import type { KubeObject } from "../../../kube/object/types.ts";
import { AGE_COLUMN, NAME_COLUMN, NONE, textColumn, wide, type Column } from "../../../apiserver/types/columns.ts";
import { integerAt, listAt, textAt, memberAt } from "../opaque/read.ts";

/** The columns that `kubectl get` shows for Pods. */
export const POD_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  textColumn("Ready", "Ready containers, out of the total.", readyContainers),
  textColumn("Status", "Status of the Pod.", podStatus),
  { name: "Restarts", type: "integer", description: "Number of container restarts.", cell: restarts },
  AGE_COLUMN,
  wide(textColumn("IP", "Address of the Pod.", (object) => textAt(object, "status", "podIP") ?? NONE)),
  wide(textColumn("Node", "Node that the Pod runs on.", (object) => textAt(object, "spec", "nodeName") ?? NONE)),
  wide(
    textColumn(
      "Nominated Node",
      "Node on which space is being made for the Pod.",
      (object) => textAt(object, "status", "nominatedNodeName") ?? NONE,
    ),
  ),
  wide(textColumn("Readiness Gates", "Readiness gates that are met, out of the total.", readinessGates)),
];

const containerStatuses = (object: KubeObject) => listAt(object, "status", "containerStatuses");

function readyContainers(object: KubeObject): string {
  const ready = containerStatuses(object).filter((status) => memberAt(status, "ready") === true).length;
  return `${ready}/${listAt(object, "spec", "containers").length}`;
}

/** The first reason why a container waits or has ended takes precedence over the phase. Source: the printer of Pods. */
function podStatus(object: KubeObject): string {
  if (typeof object.metadata.deletionTimestamp === "string") return "Terminating";
  if (listAt(object, "spec", "schedulingGates").length > 0) return "SchedulingGated";
  const phase = textAt(object, "status", "reason") ?? textAt(object, "status", "phase") ?? "";
  const found =
    containerStatuses(object)
      .map(containerReason)
      .find((reason) => reason !== undefined) ?? phase;
  const running = containerStatuses(object).some((status) => memberAt(status, "state", "running") !== undefined);
  return found === "Completed" && running ? "Running" : found;
}

function containerReason(status: unknown): string | undefined {
  const waiting = textAt(status, "state", "waiting", "reason");
  if (waiting !== undefined) return waiting;
  const ended = memberAt(status, "state", "terminated");
  if (ended === undefined) return undefined;
  const signal = integerAt(ended, "signal") ?? 0;
  return textAt(ended, "reason") ?? (signal === 0 ? `ExitCode:${integerAt(ended, "exitCode") ?? 0}` : `Signal:${signal}`);
}

function readinessGates(object: KubeObject): string {
  const gates = listAt(object, "spec", "readinessGates").map((gate) => memberAt(gate, "conditionType"));
  const conditions = listAt(object, "status", "conditions");
  const holds = (type: unknown) =>
    conditions.some((condition) => memberAt(condition, "type") === type && memberAt(condition, "status") === "True");
  return gates.length === 0 ? NONE : `${gates.filter(holds).length}/${gates.length}`;
}

function restarts(object: KubeObject): number {
  return containerStatuses(object).reduce<number>((sum, status) => sum + (integerAt(status, "restartCount") ?? 0), 0);
}

/** The columns that `kubectl get` shows for Nodes. */
export const NODE_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  textColumn("Status", "Whether the node is ready.", nodeStatus),
  textColumn("Roles", "Roles of the node.", roles),
  AGE_COLUMN,
  textColumn("Version", "Version of the node's agent.", (object) => textAt(object, "status", "nodeInfo", "kubeletVersion") ?? ""),
  wide(textColumn("Internal-IP", "Address within the cluster.", (object) => nodeAddress(object, "InternalIP"))),
  wide(textColumn("External-IP", "Address from outside.", (object) => nodeAddress(object, "ExternalIP"))),
  wide(textColumn("OS-Image", "The operating system.", (object) => nodeInfo(object, "osImage"))),
  wide(textColumn("Kernel-Version", "Version of the kernel.", (object) => nodeInfo(object, "kernelVersion"))),
  wide(textColumn("Container-Runtime", "Runtime of the containers.", (object) => nodeInfo(object, "containerRuntimeVersion"))),
];

/** A field of the node's `nodeInfo`. Source: the printer of Nodes. */
function nodeInfo(object: KubeObject, field: string): string {
  return textAt(object, "status", "nodeInfo", field) ?? "<unknown>";
}

function nodeStatus(object: KubeObject): string {
  const ready = listAt(object, "status", "conditions").find((condition) => memberAt(condition, "type") === "Ready");
  const state = ready === undefined ? "Unknown" : textAt(ready, "status") === "True" ? "Ready" : "NotReady";
  return memberAt(object, "spec", "unschedulable") === true ? `${state},SchedulingDisabled` : state;
}

const ROLE_LABEL = "node-role.kubernetes.io/";

function roles({ metadata: { labels = {} } }: KubeObject): string {
  const names = Object.keys(labels).filter((label) => label.startsWith(ROLE_LABEL));
  const own = labels["kubernetes.io/role"];
  const found = [...names.map((label) => label.slice(ROLE_LABEL.length)), ...(own === undefined ? [] : [own])].filter(Boolean);
  return [...new Set(found)].sort().join(",") || NONE;
}

function nodeAddress(object: KubeObject, type: string): string {
  const address = listAt(object, "status", "addresses").find((candidate) => memberAt(candidate, "type") === type);
  return textAt(address, "address") ?? NONE;
}
