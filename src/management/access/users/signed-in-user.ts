/**
 * Updates a User after a sign-in: the connector's data is merged with the fields that administrators wrote, as `kubectl apply` merges with
 * the fields of other managers. Pure.
 *
 * @module
 */
import { jsonEqual } from "../../../base/json.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { withMetadata } from "../../../apiserver/types/objects/metadata.ts";
import type { UserInfo } from "../../../apiserver/types/user-info.ts";
import { SYSTEM_USER } from "../../../apiserver/verbs/resource-context.ts";
import { conflict } from "../../../apiserver/types/status.ts";
import { specOf } from "../../kinds/common.ts";
import { subjectsOf, userOriginOf, type Said, type UserSpec } from "../../kinds/user.ts";
import { USERS } from "../../kinds/types.ts";
import { isReserved } from "../caller.ts";

/** The entry of `UserInfo.extra` for the server while it writes a connector's data. Requests from clients never have it. */
const SAID_EXTRA = "platform/said";
/** The second value of this entry, if the author keeps the record of a login whose key was deleted. */
const KEEPS_LEFT = "keeps left";

/** The server as the author of a sign-in. */
export function signingIn(said: Said): UserInfo {
  return { ...SYSTEM_USER, extra: { [SAID_EXTRA]: [JSON.stringify(said)] } };
}

/**
 * The server as the author of changes when a login with a key is refreshed. If the key has been deleted in the meantime, the record of its
 * login is kept.
 */
export function askingAgain(said: Said): UserInfo {
  return { ...SYSTEM_USER, extra: { [SAID_EXTRA]: [JSON.stringify(said), KEEPS_LEFT] } };
}

function saidBy({ extra }: UserInfo): Said | undefined {
  const text = extra?.[SAID_EXTRA]?.[0];
  return text === undefined ? undefined : (JSON.parse(text) as Said);
}

/** Returns the record of a login whose key was deleted, if the author keeps it. */
function leftBefore(before: readonly Said[], subject: string, { extra }: UserInfo): Pick<Said, "left"> {
  const left = extra?.[SAID_EXTRA]?.[1] === KEEPS_LEFT ? before.find((one) => one.subject === subject)?.left : undefined;
  return left === undefined ? {} : { left };
}

/**
 * Returns the User to store, with the connector's data if the author is a sign-in. A group that a connector added is removed when the
 * connector no longer reports it, or when the identity no longer belongs to the user. Other groups stay.
 */
export function withSaid(object: KubeObject, old: KubeObject | undefined, by: UserInfo): KubeObject {
  const before = old === undefined ? [] : saidBefore(old);
  const said = whole(saidBy(by), before);
  if (said !== undefined && !mayBind(specOf<UserSpec>(object), old, said)) throw conflict(USERS, object.metadata.name!, REBOUND);
  const spec = said === undefined ? specOf<UserSpec>(object) : afterSignIn(specOf<UserSpec>(object), before, said);
  const { groups = [] } = spec;
  const given = groupsIn(before);
  const own = groups.filter((group) => !given.has(group));
  const added = said && {
    ...leftBefore(before, said.subject, by),
    ...said,
    groups: (said.groups ?? []).filter((group) => !own.includes(group)),
  };
  const others = before.filter(({ subject }) => subject !== said?.subject && subjectsOf(spec).includes(subject));
  const after = [...others, ...(added ? [added] : [])];
  // A group that was removed stays removed as long as the connector continues to report it.
  const present = [...groupsIn(after)].filter((group) => !given.has(group) || groups.includes(group));
  const result = { ...object, spec: { ...spec, groups: [...own, ...present] }, origin: { said: after } };
  const isChange = old !== undefined && said !== undefined && !jsonEqual(result.spec, object["spec"]);
  return isChange ? withMetadata(result, { generation: (old.metadata.generation ?? 0) + 1 }) : result;
}

/** Completes data without groups with the data of the last sign-in. */
function whole(said: Said | undefined, before: readonly Said[]): Said | undefined {
  if (said === undefined || said.groups !== undefined) return said;
  return { ...before.find(({ subject }) => subject === said.subject), ...said };
}

const REBOUND = "the user was assigned to another identity in the meantime";

/** Reports whether a sign-in belongs to the user or may become the user's: a new User, or one that waits for its first sign-in. */
function mayBind(spec: UserSpec, old: KubeObject | undefined, { subject }: Said): boolean {
  if (subjectsOf(spec).includes(subject)) return true;
  return old === undefined || ((spec.subject ?? "") === "" && subject.startsWith(`${spec.connector ?? ""}/`));
}

/** Returns the connectors' data so far. In a User from an earlier version, everything except reserved groups counts as a sign-in's data. */
function saidBefore(old: KubeObject): readonly Said[] {
  const origin = userOriginOf(old);
  if (origin !== undefined) return origin.said ?? [];
  const { subject = "", displayName, email, groups = [] } = specOf<UserSpec>(old);
  return subject === "" ? [] : [saidOf({ subject, displayName, email, groups: groups.filter((group) => !isReserved(group)) })];
}

/** A connector's data, without members that are undefined. */
export function saidOf(said: { readonly [Name in keyof Said]: Said[Name] | undefined } & Pick<Said, "subject">): Said {
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined)) as unknown as Said;
}

/** Applies a connector's data to the spec. Name and email address follow the connector until another author changes them. */
function afterSignIn(spec: UserSpec, before: readonly Said[], said: Said): UserSpec {
  const last = before.find(({ subject }) => subject === said.subject);
  const follows = (name: "displayName" | "email") => {
    const [now, was, is = ""] = [said[name], last?.[name] ?? "", spec[name]];
    return now !== undefined && is === was ? { [name]: now } : {};
  };
  const subject = subjectsOf(spec).includes(said.subject) ? {} : { subject: said.subject };
  return { ...spec, ...subject, ...follows("displayName"), ...follows("email") };
}

function groupsIn(all: readonly Said[]): ReadonlySet<string> {
  return new Set(all.flatMap(({ groups = [] }) => groups));
}
