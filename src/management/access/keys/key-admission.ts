/**
 * Permissions to write access keys: users may write their own keys, but never a key with more permissions than the key that they present.
 * Source: specification 1, OwnedAccessKey and Authentication 3.
 *
 * @module
 */
import { jsonEqual } from "../../../base/json.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { forbiddenRequest, unauthorized } from "../../../apiserver/types/status.ts";
import type { UserInfo } from "../../../apiserver/types/user-info.ts";
import { specOf } from "../../kinds/common.ts";
import { LOGIN_KEY, originOf, type KeySpec } from "../../kinds/owned-access-key.ts";
import { OWNED_ACCESS_KEYS } from "../../kinds/types.ts";
import { GRANT_EXTRA, type Caller } from "../caller.ts";
import { REFUSALS, type KeyLives } from "./key-lives.ts";
import { authorKey, grants, isOfSignIn, makesRoots } from "./key-origin.ts";
import { isKeyOf } from "../key-subject.ts";
import {
  createBlockingAdmission,
  type WriteAdmission,
  type AdmittedWrite,
  type WriteAdmissionOptions,
} from "../permissions/write-admission.ts";
import type { ManagedObjects } from "../managed-objects.ts";
import type { Permissions } from "../permissions/permissions.ts";

/** Fields that record what happened at a sign-in. Only the platform and its administrators write them. */
const SIGN_IN_FIELDS = ["identity", "oidcProvider", "oidcLogin"] as const;

/** Maximum number of keys in a chain, including the root: when the last key is presented, the server checks all of them. */
export const KEY_CHAIN_MAX = 16;

/** Options of {@link createKeyAdmission}. */
export interface KeyAdmissionOptions extends WriteAdmissionOptions {
  readonly objects: Pick<ManagedObjects, "get">;
  readonly lives: KeyLives;
}

/**
 * Creates the admission for access keys.
 *
 * @throws API_FORBIDDEN, naming the author's missing permissions; API_INVALID for a `blockOwnerDeletion` that the author may not set;
 *   API_UNAUTHORIZED when the key that the author presented has ended since the request began.
 */
export function createKeyAdmission(options: KeyAdmissionOptions): WriteAdmission {
  const blocking = createBlockingAdmission(options);
  return (write) => {
    blocking(write);
    const { user, object, old } = write;
    const before = old && specOf<KeySpec>(old);
    const after = specOf<KeySpec>(object);
    const chain = makesRoots(user) ? undefined : (strangeChain(write, options) ?? strangeSignIn(user, before, after));
    if (before !== undefined && !grants(before, after, before.key === after.key)) return;
    const caller = options.permissions.callerOf(user);
    const why = wideScope(options.permissions, user, after) ?? strangeOwner(caller, before, after) ?? chain;
    if (why !== undefined) throw forbiddenRequest(OWNED_ACCESS_KEYS, object.metadata.name ?? "", why);
  };
}

/** Returns why an administrator by a provider's group may not write a key: the sign-in fields record that group. */
function strangeSignIn({ extra }: UserInfo, before: KeySpec | undefined, after: KeySpec): string | undefined {
  return extra?.[GRANT_EXTRA] === undefined ? undefined : strangeFields(before, after);
}

/** Returns why a write violates the rules for chains of keys; undefined if it does not. */
function strangeChain({ user, object, old }: AdmittedWrite, { objects, lives }: KeyAdmissionOptions): string | undefined {
  const author = authorKey(user, objects);
  const refusal = author === undefined ? "unknown" : lives.refusalOf(author);
  if (author === undefined || refusal !== undefined) throw unauthorized(REFUSALS[refusal ?? "unknown"]);
  if ([...lives.chainOf(object)].length > KEY_CHAIN_MAX) {
    return `a chain of keys, each created with the previous one, can have at most ${KEY_CHAIN_MAX} keys; set a new value for an existing key instead of creating another one with it`;
  }
  if (old === undefined) return undefined;
  const { type, disabled, user: owner, team, subject } = specOf<KeySpec>(object);
  const was = specOf<KeySpec>(old);
  if (type === LOGIN_KEY && was.type !== LOGIN_KEY) return `spec.type ${LOGIN_KEY} can be set only by the platform`;
  if (isOfSignIn(old) && !jsonEqual([type, owner, team, subject], [was.type, was.user, was.team, was.subject])) {
    return "the sign-in key must keep its spec.type, spec.user, spec.team and spec.subject";
  }
  if (isOfSignIn(old) && !isOfSignIn(author)) return "the sign-in key can be changed only with sign-in keys";
  if (disabled !== true && was.disabled === true && wasMadeWith(author, old, objects)) {
    return "you cannot enable the key that was used to create yours";
  }
  return undefined;
}

/** Reports whether a key was created, directly or through others, with another key, even if the two end independently. */
function wasMadeWith(key: KubeObject, other: KubeObject, objects: Pick<ManagedObjects, "get">): boolean {
  for (let link: KubeObject | undefined = key; link !== undefined;) {
    const { maker } = originOf(link);
    if (maker === undefined || maker.uid === other.metadata.uid) return maker !== undefined;
    const found: KubeObject | undefined = objects.get(OWNED_ACCESS_KEYS, { namespace: "", name: maker.name });
    link = found?.metadata.uid === maker.uid ? found : undefined;
  }
  return false;
}

/** Returns why a scope is refused: no key, not even an administrator's, creates a key with a wider scope. */
function wideScope(permissions: Permissions, user: UserInfo, { scope }: KeySpec): string | undefined {
  if (permissions.coversScope(user, scope)) return undefined;
  return scope === undefined
    ? "your own key has a scope, so spec.scope is required and must be within that scope"
    : "spec.scope goes beyond the scope of your own key";
}

function strangeOwner(caller: Caller, before: KeySpec | undefined, after: KeySpec): string | undefined {
  if (caller.administers) return undefined;
  if (!isKeyOf(caller, after) || (before !== undefined && !isKeyOf(caller, before))) {
    return "spec.user, spec.team or spec.subject must name you or one of your teams";
  }
  const strange = (after.groups ?? []).filter((group) => !caller.groups.includes(group));
  if (strange.length > 0) return `spec.groups cannot name groups that you are not in: ${strange.join(", ")}`;
  return strangeFields(before, after);
}

function strangeFields(before: KeySpec | undefined, after: KeySpec): string | undefined {
  // These fields cannot be removed either: without them, the login could not be refreshed at its provider.
  const written = SIGN_IN_FIELDS.find((field) => !jsonEqual(after[field], before?.[field]));
  return written === undefined ? undefined : `spec.${written} can be set only by the platform`;
}
