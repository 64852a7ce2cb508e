/**
 * What somebody may write about access keys: his own, and never one that can do more than the key that he shows.
 * Source: specification 1, OwnedAccessKey and Authentication 3.
 *
 * @module
 */
import { jsonEqual } from "../../base/json.ts";
import { forbiddenRequest } from "../../server/status.ts";
import type { UserInfo } from "../../server/access/user-info.ts";
import { specOf } from "../kinds/common.ts";
import type { KeySpec } from "../kinds/owned-access-key.ts";
import { OWNED_ACCESS_KEYS } from "../kinds/types.ts";
import type { Caller } from "./caller.ts";
import { isKeyOf } from "./key-subject.ts";
import { createBlockingPermit } from "./permits.ts";
import type { Permit, PermitOptions } from "./permits.ts";
import type { Rights } from "./rights.ts";

/** Fields that tell what happened at a sign-in. Only the platform and its administrators write them. */
const SIGN_IN_FIELDS = ["identity", "oidcProvider", "oidcLogin"] as const;

/**
 * The permit of access keys.
 *
 * @throws API_FORBIDDEN, naming what the author lacks; API_INVALID for an owner reference that may not block.
 */
export function createKeyPermit(options: PermitOptions): Permit {
  const blocking = createBlockingPermit(options);
  return (write) => {
    blocking(write);
    const { user, object, old } = write;
    const before = old && specOf<KeySpec>(old);
    const after = specOf<KeySpec>(object);
    if (before !== undefined && !grants(before, after)) return;
    const why = wideScope(options.rights, user, after) ?? strangeOwner(options.rights.callerOf(user), before, after);
    if (why !== undefined) throw forbiddenRequest(OWNED_ACCESS_KEYS, object.metadata.name ?? "", why);
  };
}

/** Texts, and taking a key out of use, give nobody anything. */
function grants(before: KeySpec, after: KeySpec): boolean {
  const rest = ({ displayName: _name, description: _text, disabled: _disabled, ...others }: KeySpec) => others;
  return (before.disabled === true && after.disabled !== true) || !jsonEqual(rest(before), rest(after));
}

/** Even an administrator's limited key makes no key that is less limited. */
function wideScope(rights: Rights, user: UserInfo, { scope }: KeySpec): string | undefined {
  if (rights.coversScope(user, scope)) return undefined;
  return scope === undefined
    ? "your own key has a scope, so spec.scope is needed, and must lie within it"
    : "spec.scope goes beyond the scope of your own key";
}

function strangeOwner(caller: Caller, before: KeySpec | undefined, after: KeySpec): string | undefined {
  if (caller.administers) return undefined;
  if (!isKeyOf(caller, after) || (before !== undefined && !isKeyOf(caller, before))) {
    return "spec.user, spec.team or spec.subject must name you or one of your teams";
  }
  const strange = (after.groups ?? []).filter((group) => !caller.groups.includes(group));
  if (strange.length > 0) return `spec.groups can not name groups that you are not in: ${strange.join(", ")}`;
  const written = SIGN_IN_FIELDS.find((field) => !jsonEqual(after[field], before?.[field]) && after[field] !== undefined);
  return written === undefined ? undefined : `spec.${written} is written by the platform`;
}
