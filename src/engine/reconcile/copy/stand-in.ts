import { sliceFingerprint } from "../../../kube/object/endpoints/slices.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { SERVICE_NAME, SKIP_MIRROR } from "../../kinds/slice-labels.ts";
import type { LiveRead } from "../machine.ts";
import type { Operation } from "../plan-types.ts";
import type { StandIn } from "../rules/rules.ts";

/** Tells whether a write takes something from readers that stand-ins must show: a copy, or what the host's mirror has made of it. */
export function needsStandIns(operation: Operation, host: KubeObject | undefined): boolean {
  if (operation.side !== "host" || operation.action === "create") return false;
  return operation.action === "delete" || (skipsMirror(operation.object) && !skipsMirror(host));
}

function skipsMirror(object: KubeObject | undefined): boolean {
  return object?.metadata.labels?.[SKIP_MIRROR] === "true";
}

/** The live read of a stand-in, and what it must find. */
export function checkOf(standIn: StandIn) {
  const read: LiveRead = { side: "host", key: standIn.key, resource: standIn.resource };
  return { read, isAsPlanned: (found: KubeObject | undefined) => standsStill(standIn, found) };
}

/**
 * Tells whether a live read of a stand-in has found that readers see what they are to see of it.
 *
 * @example
 * standsStill({ resource: SERVICES, key, object: undefined }, undefined); // true
 */
export function standsStill({ object, mayChange = false }: StandIn, found: KubeObject | undefined): boolean {
  if (object === undefined || found === undefined) return object === found;
  if (found.metadata.deletionTimestamp || found.metadata.uid !== object.metadata.uid) return false;
  if (found.metadata.resourceVersion === object.metadata.resourceVersion) return true;
  if (object.kind !== "EndpointSlice" || found.metadata.labels?.[SERVICE_NAME] !== object.metadata.labels?.[SERVICE_NAME]) return false;
  return mayChange || sliceFingerprint(found) === sliceFingerprint(object);
}
