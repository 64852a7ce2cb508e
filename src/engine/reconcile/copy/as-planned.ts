import { jsonEqual } from "../../../base/json.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { seesHostObject } from "../convert/patched.ts";
import type { Operation, Plan } from "../plan-types.ts";
import type { Rules } from "../rules/rules.ts";

/**
 * Reports whether a plan has nothing more to do or to report once its one write is stored as `stored`, so that planning again is
 * unnecessary. False if a second plan might have a different result: changes by an API server or a webhook, and what
 * expressions derive from the host object.
 */
export function isStoredAsPlanned(rules: Rules, { state, operations, notes }: Plan, stored: KubeObject): boolean {
  const [operation] = operations;
  if (state !== "copied" || notes.length > 0 || operations.length !== 1) return false;
  if (operation === undefined || operation.action === "delete" || operation.side !== "host") return false;
  // Looking a reference up is noted for the way back, and that must not be left out.
  if (seesHostObject(rules) || rules.patches.some(({ reference }) => reference !== undefined)) return false;
  const { object: planned } = operation;
  // Equal in all that a plan compares.
  return (
    stored.metadata.deletionTimestamp === undefined &&
    jsonEqual(planned.metadata.labels, stored.metadata.labels) &&
    jsonEqual(planned.metadata.annotations, stored.metadata.annotations) &&
    jsonEqual({ ...planned, metadata: undefined }, { ...stored, metadata: undefined })
  );
}

/**
 * Reports whether a write succeeded with an unchanged version: a webhook has reverted the change, or a
 * proxy has answered instead of the cluster. No event will report it.
 */
export function isUnchanged(operation: Operation, { metadata: { resourceVersion } }: KubeObject): boolean {
  return operation.action === "update" && resourceVersion !== undefined && resourceVersion === operation.object.metadata.resourceVersion;
}
