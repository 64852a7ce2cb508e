import { jsonEqual } from "../../../base/json.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { specOf } from "../../kinds/common.ts";
import { USERS } from "../../kinds/types.ts";

/** Fields of a spec that do not affect permissions. */
const SILENT: readonly string[] = ["data", "description", "displayName"];

/**
 * Reports whether a write of a key, a User, a Team or a SharedSecret may take permissions away from a user. A new object takes none away,
 * except a User: the user's keys may be older than the User.
 */
export function mayRevoke(object: KubeObject | undefined, old: KubeObject | undefined): boolean {
  if (old === undefined) return object?.kind === USERS.kind;
  return object === undefined || !jsonEqual(permissionsIn(object), permissionsIn(old));
}

function permissionsIn(object: KubeObject): object {
  const spec = Object.entries(specOf<object>(object)).filter(([field]) => !SILENT.includes(field));
  return { spec: Object.fromEntries(spec), origin: object["origin"], deletionTimestamp: object.metadata.deletionTimestamp };
}
