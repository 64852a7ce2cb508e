/**
 * Callers as the platform identifies them: a user, a team or a subject, with the groups from its key and its teams.
 *
 * @module
 */
import type { UserInfo } from "../../apiserver/types/user-info.ts";

/** Members of this group may do everything that the scopes of their keys allow. */
export const ADMINISTRATORS = "platform:admins";
/** Kubernetes' own group with the same permissions, for tools that know it. */
const MASTERS = "system:masters";
/** Every caller who presents a key is in these groups. */
export const KNOWN_GROUPS: readonly string[] = ["system:authenticated", "platform:authenticated"];
/** Prefixes of names that represent parts of the platform. Only the platform assigns such names. */
const RESERVED: readonly string[] = ["platform:", "system:"];
/** The entry of `UserInfo.extra` with the name of the presented key. */
export const KEY_EXTRA = "platform/access-key";

/** The entry of `UserInfo.extra` for callers whose permissions end with a provider's group. Keys that they create end with the group too. */
export const GRANT_EXTRA = "platform/administers-by";

/** Reports whether the name of a user or group is reserved for the platform itself. */
export function isReserved(name: string): boolean {
  return RESERVED.some((prefix) => name.startsWith(prefix));
}

/** The user, team or subject that a key represents. */
export interface KeySubject {
  readonly kind: "user" | "team" | "subject";
  readonly name: string;
}

/** The group that represents one user, team or subject. */
export function groupOfSubject({ kind, name }: KeySubject): string {
  return `platform:${kind}:${name}`;
}

const SUBJECT_GROUP = /^platform:(user|team|subject):/;

/** Reports whether a group represents a user, team or subject. Such groups are derived from the key's owner and from team membership. */
export function standsForSubject(group: string): boolean {
  return SUBJECT_GROUP.test(group);
}

/** The user name of a subject. Teams and subjects have names that no user can have. */
export function userNameOf(subject: KeySubject): string {
  return subject.kind === "user" ? subject.name : groupOfSubject(subject);
}

const OTHERS = /^platform:(team|subject):(.+)$/;

/**
 * Returns the subject of a user name; undefined for names of the system.
 *
 * @example
 * subjectOfUserName("platform:team:ops"); // { kind: "team", name: "ops" }
 */
export function subjectOfUserName(name: string): KeySubject | undefined {
  const other = OTHERS.exec(name);
  if (other !== null) return { kind: other[1] as "team" | "subject", name: other[2]! };
  return isReserved(name) ? undefined : { kind: "user", name };
}

/** The caller of a request. */
export interface Caller {
  readonly subject: KeySubject | undefined;
  readonly groups: readonly string[];
  /** Names of the teams that the caller belongs to. */
  readonly teams: ReadonlySet<string>;
  /** True if the caller may do everything that the scopes of their key allow. */
  readonly administers: boolean;
}

/** Reports whether these groups make their member an administrator. */
export function administers({ groups }: Pick<UserInfo, "groups">): boolean {
  return groups.includes(ADMINISTRATORS) || groups.includes(MASTERS);
}
