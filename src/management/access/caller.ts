/**
 * Who asks, in the words of the platform: a user, a team or a subject, with the groups that its key and its teams give.
 *
 * @module
 */
import type { UserInfo } from "../../apiserver/types/user-info.ts";

/** Members of this group may do everything that their keys' scopes allow. */
export const ADMINISTRATORS = "platform:admins";
/** The same for tools that know Kubernetes' own group. */
const MASTERS = "system:masters";
/** Anyone who has shown a key is in these groups. */
export const KNOWN_GROUPS: readonly string[] = ["system:authenticated", "platform:authenticated"];
/** Beginnings of names that stand for parts of the platform, and that nobody else gives. */
const RESERVED: readonly string[] = ["platform:", "system:"];
/** `UserInfo.extra`: the key that was shown. */
export const KEY_EXTRA = "platform/access-key";

/** `UserInfo.extra`: what somebody may do ends with a group of a provider, and so does what is made with it. */
export const GRANT_EXTRA = "platform/administers-by";

/** Tells whether a name of a user or group is one that only the platform itself gives. */
export function isReserved(name: string): boolean {
  return RESERVED.some((prefix) => name.startsWith(prefix));
}

/** For whom a key stands. */
export interface KeySubject {
  readonly kind: "user" | "team" | "subject";
  readonly name: string;
}

/** The group that stands for one user, team or subject. */
export function groupOfSubject({ kind, name }: KeySubject): string {
  return `platform:${kind}:${name}`;
}

const SUBJECT_GROUP = /^platform:(user|team|subject):/;

/** Tells whether a group stands for a user, team or subject. Such groups follow from whose a key is and who belongs to which team. */
export function standsForSubject(group: string): boolean {
  return SUBJECT_GROUP.test(group);
}

/** A subject's user name. Teams and subjects have names that no user can have. */
export function userNameOf(subject: KeySubject): string {
  return subject.kind === "user" ? subject.name : groupOfSubject(subject);
}

const OTHERS = /^platform:(team|subject):(.+)$/;

/**
 * Who a user name stands for; undefined for parts of the system.
 *
 * @example
 * subjectOfUserName("platform:team:ops"); // { kind: "team", name: "ops" }
 */
export function subjectOfUserName(name: string): KeySubject | undefined {
  const other = OTHERS.exec(name);
  if (other !== null) return { kind: other[1] as "team" | "subject", name: other[2]! };
  return isReserved(name) ? undefined : { kind: "user", name };
}

/** Somebody who asks for something. */
export interface Caller {
  readonly subject: KeySubject | undefined;
  readonly groups: readonly string[];
  /** Names of the teams to which he belongs. */
  readonly teams: ReadonlySet<string>;
  /** May do everything that the scopes of his key allow. */
  readonly administers: boolean;
}

/** Tells whether groups make an administrator. */
export function administers({ groups }: Pick<UserInfo, "groups">): boolean {
  return groups.includes(ADMINISTRATORS) || groups.includes(MASTERS);
}
