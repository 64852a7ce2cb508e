import { sliceFingerprint } from "../../../kube/object/endpoints/slices.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import type { LiveRead } from "../machine.ts";
import type { Operation, PlanInput } from "../plan-types.ts";
import type { StandIn } from "../rules/rules.ts";

/**
 * The objects that must show readers the backends before a write removes these elsewhere: the write deletes a copy, or makes the host's
 * mirror remove its slices.
 */
export function standInsOfWrite({ side, action }: Operation, { backends }: PlanInput): readonly StandIn[] {
  return side === "host" && action !== "create" ? (backends?.standIns ?? []) : [];
}

/** The live read of a stand-in, with the check of its result. */
export function checkOf(standIn: StandIn) {
  const read: LiveRead = { side: "host", key: standIn.key, resource: standIn.resource };
  return { read, isAsPlanned: (found: KubeObject | undefined) => standsStill(standIn, found) };
}

/** Reports whether readers see of it what they are to see. */
function standsStill({ object, label, mayChange = false }: StandIn, found: KubeObject | undefined): boolean {
  if (object === undefined || found === undefined) return object === found;
  if (found.metadata.deletionTimestamp || found.metadata.uid !== object.metadata.uid) return false;
  if (found.metadata.resourceVersion === object.metadata.resourceVersion) return true;
  if (label === undefined || found.metadata.labels?.[label] !== object.metadata.labels?.[label]) return false;
  return mayChange || sliceFingerprint(found) === sliceFingerprint(object);
}
