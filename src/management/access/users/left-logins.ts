/**
 * Logins whose key was deleted while other keys still use groups from these logins. The User keeps the data that is needed to refresh the
 * login at the provider. Pure.
 *
 * @module
 */
import type { KubeObject } from "../../../kube/object/types.ts";
import { specOf } from "../../kinds/common.ts";
import { LOGIN_KEY, type KeySpec } from "../../kinds/owned-access-key.ts";
import { OWNED_ACCESS_KEYS } from "../../kinds/types.ts";
import { userOriginOf, type LeftLogin, type Said, type UserSpec } from "../../kinds/user.ts";

/** A login without a key, in the form of the sign-in key. Only its User stores it, and it authenticates no request. */
export interface KeylessLogin extends KubeObject {
  /** The User, as it was read. */
  readonly of: KubeObject;
  readonly said: Said;
}

/** Reports whether the key of a login was deleted. */
export function isKeyless(login: KubeObject): login is KeylessLogin {
  return login["said"] !== undefined;
}

/** Data that a key keeps about its login. */
interface LoginParts {
  readonly identity?: KeySpec["identity"];
  readonly oidcLogin?: KeySpec["oidcLogin"];
}

/** The data to keep of a login whose key is deleted. `endMs`: when the key would expire, in milliseconds since 1970, or Infinity. */
export function leftLogin({ identity = {}, oidcLogin }: LoginParts, endMs: number): LeftLogin {
  const { userId, username, connector, connectorData, identityRefresh } = identity;
  const kept = Object.entries({ userId, username, connector, connectorData, identityRefresh }).filter(([, value]) => value !== undefined);
  return {
    identity: Object.fromEntries(kept),
    ...(oidcLogin && { oidcLogin }),
    ...(endMs !== Infinity && { endMs: Math.floor(endMs) }),
  };
}

/** The groups in a connector's report that the User still has. */
export function groupsGiven(user: KubeObject, { groups = [] }: Said): readonly string[] {
  const present = new Set(specOf<UserSpec>(user).groups);
  return groups.filter((group) => present.has(group));
}

/**
 * The last report of a connector, without the groups that the User still has. The remaining groups are those that an administrator removed:
 * they stay removed when the user signs in again.
 */
export function withdrawn(user: KubeObject, said: Said): Said {
  const { left: _left, groups = [], ...rest } = said;
  const given = new Set(groupsGiven(user, said));
  return { ...rest, groups: groups.filter((group) => !given.has(group)) };
}

/** The last report of a connector about a User. */
export function lastSaid(user: KubeObject, subject: string): Said | undefined {
  return userOriginOf(user)?.said?.find((one) => one.subject === subject);
}

/**
 * The logins without a key whose groups their User still has.
 *
 * @param isSignedIn Whether an identity has a login with a key.
 */
export function keylessLogins(users: Iterable<KubeObject>, isSignedIn: (said: Said) => boolean): readonly KeylessLogin[] {
  const logins: KeylessLogin[] = [];
  for (const user of users)
    for (const said of userOriginOf(user)?.said ?? [])
      if (!isSignedIn(said) && (said.left !== undefined || groupsGiven(user, said).length > 0)) logins.push(asLogin(user, said));
  return logins;
}

function asLogin(user: KubeObject, said: Said): KeylessLogin {
  const { name = "", uid = "" } = user.metadata;
  const { identity, oidcLogin } = said.left ?? {};
  const spec: KeySpec = {
    ...{ type: LOGIN_KEY, user: name },
    identity: { ...identity, groups: said.groups ?? [] },
    ...(oidcLogin && { oidcLogin }),
  };
  const { apiVersion, kind } = OWNED_ACCESS_KEYS;
  return { apiVersion, kind, metadata: { name, uid: `${uid}/${said.subject}` }, spec, of: user, said };
}
