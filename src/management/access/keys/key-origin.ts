/**
 * The dependencies of a key: the key with which it was created or changed, and the users behind both.
 *
 * @module
 */
import { jsonEqual } from "../../../base/json.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import type { UserInfo } from "../../../apiserver/types/user-info.ts";
import { SCOPE_EXTRA } from "../../../cluster/scope/scope.ts";
import { specOf } from "../../kinds/common.ts";
import { LOGIN_KEY, originOf, type KeyOrigin, type KeyPerson, type KeyReference, type KeySpec } from "../../kinds/owned-access-key.ts";
import { OWNED_ACCESS_KEYS, USERS } from "../../kinds/types.ts";
import type { UserSpec } from "../../kinds/user.ts";
import { administers, GRANT_EXTRA, KEY_EXTRA, subjectOfUserName } from "../caller.ts";
import { keptLogin } from "./kept-login.ts";
import { lengthens, rootTime, type LifetimeLimits } from "./key-lifetime.ts";
import { passwordMark, type KeyLives } from "./key-lives.ts";
import type { ManagedObjects } from "../managed-objects.ts";

type Objects = Pick<ManagedObjects, "get">;

/** Options of {@link originAfter}. */
export interface KeyOriginOptions {
  readonly objects: Objects;
  readonly lives: KeyLives;
  readonly limits: () => LifetimeLimits;
}

/** A key that is being written. */
export interface WrittenKey {
  readonly object: KubeObject;
  /** Undefined on creation. */
  readonly old: KubeObject | undefined;
  readonly by: UserInfo;
  /** True if the change keeps the key's value. */
  readonly keepsValue: boolean;
}

/** Reports whether keys that this author creates are roots: those of the server, and those of administrators without a scope. */
export function makesRoots(user: UserInfo): boolean {
  const { extra } = user;
  if (extra?.[KEY_EXTRA] === undefined) return true;
  // Keys that an administrator by a provider's group creates end with that group, so they are not roots.
  return administers(user) && extra[SCOPE_EXTRA] === undefined && extra[GRANT_EXTRA] === undefined;
}

/** Returns the key that an author presented; undefined if it no longer exists. */
export function authorKey({ extra }: UserInfo, objects: Objects): KubeObject | undefined {
  const name = extra?.[KEY_EXTRA]?.[0];
  return name === undefined ? undefined : objects.get(OWNED_ACCESS_KEYS, { namespace: "", name });
}

/** Reports whether a sign-in, or an administrator in its place, created a key. Other keys of the type Login are not logins. */
export function isOfSignIn(key: KubeObject): boolean {
  return specOf<KeySpec>(key).type === LOGIN_KEY && originOf(key).maker === undefined;
}

/** Reports whether a change of a key grants any access. Changing its name or description, or disabling it, does not. */
export function grants(before: KeySpec, after: KeySpec, keepsValue: boolean): boolean {
  const rest = ({ displayName: _name, description: _text, disabled: _disabled, key: _key, ...others }: KeySpec) => others;
  return !keepsValue || (before.disabled === true && after.disabled !== true) || !jsonEqual(rest(before), rest(after));
}

/** Returns the origin of a key to store after a write. */
export function originAfter(written: WrittenKey, options: KeyOriginOptions): KeyOrigin {
  const { object, old, by, keepsValue } = written;
  const { objects, lives, limits } = options;
  const before = old === undefined ? {} : originOf(old);
  const spec = specOf<KeySpec>(object);
  const wasSpec = old && specOf<KeySpec>(old);
  const author = authorKey(by, objects);
  const holder = keepsValue ? before.holder : author && holderOf(by, author, options);
  const known = { ...before, ...peopleOf(spec, { ...before, holder }, wasSpec?.user === spec.user, objects) };
  if (makesRoots(by) || author === undefined) return known;
  const person = personOf(by, author, objects);
  if (old === undefined) {
    const { name, uid } = author.metadata;
    const bySignIn = isOfSignIn(author) && person !== undefined;
    const byGrant = by.extra?.[GRANT_EXTRA] !== undefined;
    return { ...known, maker: { name: name!, uid: uid! }, bySignIn, byGrant, since: rootTime(author), ...(person && { person }) };
  }
  if (!grants(wasSpec!, spec, keepsValue)) return known;
  const gives = ({ user, team, subject, groups }: KeySpec) => [user, team, subject, groups];
  const until = Math.min(before.until ?? Infinity, endForChanged());
  return {
    ...known,
    ...(rootTime(author) < rootTime(old) && { since: rootTime(author) }),
    ...(until !== Infinity && { until: Math.floor(until) }),
    ...(person && !jsonEqual(gives(wasSpec!), gives(spec)) && { person }),
  };

  /**
   * Returns the latest end that the change allows: that of the author's key, or the old end if a key lengthens its own lifetime. Infinity
   * for other changes with the sign-in key, or with a key that the changed key depends on.
   */
  function endForChanged(): number {
    if (author!.metadata.uid === old!.metadata.uid) return lengthens(wasSpec!, spec, limits()) ? lives.endByTtl(old!) : Infinity;
    const chain = [...lives.chainOf(old!)];
    if (isOfSignIn(author!) || chain.some((link) => link?.metadata.uid === author!.metadata.uid)) return Infinity;
    return lives.endByTtl(author!);
  }
}

/** The user that a key represents and the people behind it, with the uids that are known. */
function peopleOf(
  spec: KeySpec,
  { user: known, person, holder }: KeyOrigin,
  sameUser: boolean,
  objects: Objects,
): Pick<KeyOrigin, "user" | "person" | "holder"> {
  const now = userNamed(spec.user, objects);
  const uid = (sameUser ? known?.uid : undefined) ?? now?.metadata.uid;
  const marks = spec.type === LOGIN_KEY && now !== undefined && now.metadata.uid === uid;
  const password = (sameUser ? known?.password : undefined) ?? (marks ? passwordMark(now) : undefined);
  const withUid = (who: KeyPerson | undefined) => {
    const own = who?.uid ?? userNamed(who?.name, objects)?.metadata.uid;
    return who && own !== undefined ? { ...who, uid: own } : who;
  };
  return {
    user: uid === undefined ? undefined : { uid, ...(password !== undefined && { password }) },
    person: withUid(person),
    holder: withUid(holder),
  };
}

/** Returns the user who may know a value that an author sets: the author, or for a team's key the user who may know that key. */
function holderOf(by: UserInfo, author: KubeObject, { objects, lives }: KeyOriginOptions): KeyPerson | undefined {
  if (administers(by)) return undefined;
  if (subjectOfUserName(by.name)?.kind === "user") return personOf(by, author, objects);
  for (const link of lives.chainOf(author)) {
    const { holder, person } = link === undefined ? {} : originOf(link);
    if (holder !== undefined || person !== undefined) return holder ?? person;
  }
  return undefined;
}

function userNamed(name = "", objects: Objects): KubeObject | undefined {
  return name === "" ? undefined : objects.get(USERS, { namespace: "", name });
}

/** The user behind the presented key, with the groups that only that key gives. */
function personOf(by: UserInfo, author: KubeObject, objects: Objects): KeyPerson | undefined {
  const subject = subjectOfUserName(by.name);
  // Permissions that administrators grant do not depend on the administrators' own permissions.
  if (subject?.kind !== "user" || administers(by)) return undefined;
  const user = userNamed(subject.name, objects);
  const given = new Set((user && specOf<UserSpec>(user).groups) ?? []);
  const groups = (specOf<KeySpec>(author).groups ?? []).filter((group) => by.groups.includes(group) && !given.has(group));
  const login = groups.length > 0 ? loginBehind(author) : undefined;
  return { name: subject.name, ...(user && { uid: user.metadata.uid! }), ...(groups.length > 0 && { groups }), ...(login && { login }) };
}

/** Returns the key of a provider sign-in: this key itself, or the one with which it was created. */
function loginBehind(key: KubeObject): KeyReference | undefined {
  const { name, uid } = key.metadata;
  return isOfSignIn(key) && keptLogin(key) !== undefined ? { name: name!, uid: uid! } : originOf(key).person?.login;
}
