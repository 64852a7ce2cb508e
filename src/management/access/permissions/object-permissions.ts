/**
 * The permissions that follow from an object's owner and access rules. Pure. Source: specification 1, "Access rule item" and "Team".
 *
 * @module
 */
import type { KubeObject } from "../../../kube/object/types.ts";
import { specOf, type AccessRule, type OwnedSpec } from "../../kinds/common.ts";
import { TEAMS } from "../../kinds/types.ts";
import type { Caller } from "../caller.ts";

/** Both spellings of "every verb": that of the specification, and that of Kubernetes. */
export const EVERY_VERB: readonly string[] = ["VerbAll", "*"];
/** Represents every authenticated user in the users of a rule. */
export const EVERYBODY = "*";
/** The group of every authenticated user. */
export const EVERYBODYS_GROUP = "system:authenticated";
/** Verbs on an existing object. */
export const OBJECT_VERBS = ["get", "list", "watch", "update", "patch", "delete"] as const;
/** Additional verbs on a team. */
const TEAM_VERBS = ["bind", "makeowner"] as const;

/** A use of an object for which permission is checked. */
export interface AccessRequest {
  readonly verb: string;
  /** A part of the object; "" is the object itself. Default "". */
  readonly subresource?: string;
}

/** The verbs that `VerbAll` includes. The verb `create`, for more objects of the kind, is not one of them. */
export function everyVerbOf({ kind }: Pick<KubeObject, "kind">): readonly string[] {
  return kind === TEAMS.kind ? [...OBJECT_VERBS, ...TEAM_VERBS] : OBJECT_VERBS;
}

/** Reports whether a caller owns an object, as a user or through a team. */
export function owns({ subject, teams }: Caller, object: KubeObject): boolean {
  const { user, team } = specOf<OwnedSpec>(object).owner ?? {};
  return (isUserName(user) && subject?.kind === "user" && subject.name === user) || (team !== undefined && team !== "" && teams.has(team));
}

/** Reports whether the name of an owner is a user's: only rules, not owners, can open an object to everyone. */
export function isUserName(name: string | undefined): name is string {
  return name !== undefined && name !== "" && name !== EVERYBODY;
}

/**
 * Reports whether an object's owner or rules allow a caller to use it. Owners may do everything except `bind` and `makeowner`,
 * which grant more than access to the object; subresources need a rule, which owners may write.
 *
 * @example
 * objectAllows(secret, jane, { verb: "get" });
 */
export function objectAllows(object: KubeObject, caller: Caller, { verb, subresource = "" }: AccessRequest): boolean {
  if (subresource === "" && (OBJECT_VERBS as readonly string[]).includes(verb) && owns(caller, object)) return true;
  return (specOf<OwnedSpec>(object).access ?? []).some(
    (rule) => ruleIsFor(rule, caller) && ruleHasVerb(rule, verb, object) && ruleHasPart(rule, subresource),
  );
}

/** Reports whether a rule applies to a caller. */
export function ruleIsFor({ users = [], teams = [] }: AccessRule, { subject, groups, teams: own }: Caller): boolean {
  if (teams.some((team) => own.has(team))) return true;
  if (users.includes(EVERYBODY) && groups.includes(EVERYBODYS_GROUP)) return true;
  return subject?.kind === "user" && users.includes(subject.name);
}

function ruleHasVerb({ verbs = [] }: AccessRule, verb: string, object: KubeObject): boolean {
  // A caller who may list may also watch.
  if (verbs.includes(verb) || (verb === "watch" && verbs.includes("list"))) return true;
  return verbs.some((own) => EVERY_VERB.includes(own)) && everyVerbOf(object).includes(verb);
}

function ruleHasPart({ subresources = [] }: AccessRule, subresource: string): boolean {
  return subresource === "" || subresources.includes(subresource);
}

/** The verbs that a rule grants, with `VerbAll` expanded, and `watch` wherever there is `list`. */
export function verbsOf({ verbs = [] }: AccessRule, object: Pick<KubeObject, "kind">): readonly string[] {
  const all = verbs.some((verb) => EVERY_VERB.includes(verb)) ? everyVerbOf(object) : [];
  const listed = verbs.filter((verb) => !EVERY_VERB.includes(verb));
  const following = [...all, ...listed].includes("list") ? ["watch"] : [];
  return [...new Set([...all, ...listed, ...following])];
}
