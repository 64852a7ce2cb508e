/**
 * The rules of a user within the user's scopes, for reviews of the user's own permissions. Whether a request is allowed is decided
 * elsewhere, by the scopes themselves.
 *
 * @module
 */
import type { PolicyRule } from "../../apiserver/access/authorization.ts";
import type { UserInfo } from "../../apiserver/types/user-info.ts";
import { alwaysAllowed } from "./always.ts";
import { grantsOf, type Box, type ScopeGrant, type ScopeOptions } from "./grants.ts";
import { parseScope } from "./parse.ts";
import { WILDCARD, matches, type Pattern } from "./patterns/pattern.ts";
import { SCOPE_EXTRA } from "./scope.ts";
import type { Target } from "./types.ts";

/** The place for which rules are listed. */
export interface RulesPlace extends ScopeOptions {
  readonly target: Target;
  /** "" for cluster-scoped objects. */
  readonly namespace: string;
}

const EVERYTHING: readonly string[] = [WILDCARD];
const NOTHING: readonly string[] = [];

/**
 * Limits a user's rules to what all scopes of the user allow; without scopes, returns the rules unchanged.
 *
 * @example
 * rulesWithin([{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }], user, { target, namespace: "shop" });
 * // [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }] for a user whose scope allows getting pods
 */
export function rulesWithin(rules: readonly PolicyRule[], user: UserInfo, place: RulesPlace): readonly PolicyRule[] {
  const texts = user.extra?.[SCOPE_EXTRA] ?? NOTHING;
  if (texts.length === 0) return rules;
  const open = rules.flatMap(openPart);
  const left = texts.reduce((rest, text) => meetAll(rest, scopeRules(text, place)), rules);
  return [...open, ...left];
}

/** The part of a rule that no scope limits. */
function openPart({ verbs, apiGroups = NOTHING, resources = NOTHING, nonResourceURLs = NOTHING }: PolicyRule): PolicyRule[] {
  const paths = nonResourceURLs.filter((path) => alwaysAllowed({ verb: "get", path }));
  const reads = verbs.filter((verb) => paths.some((path) => alwaysAllowed({ verb, path })));
  const none = { version: "", subresource: "", namespace: "", name: "" };
  const asks = (group: string, resource: string) => verbs.includes("create") && alwaysAllowed({ ...none, verb: "create", group, resource });
  const reviews = apiGroups.flatMap((group) => resources.filter((resource) => asks(group, resource)).map((resource) => [group, resource]));
  return [
    ...(reads.length > 0 ? [{ verbs: reads, nonResourceURLs: paths }] : []),
    ...reviews.map(([group, resource]) => ({ verbs: ["create"], apiGroups: [group!], resources: [resource!] })),
  ];
}

function scopeRules(text: string, { target, namespace, ...options }: RulesPlace): PolicyRule[] {
  const grants = grantsOf(parseScope(text) ?? {}, options).filter((grant) => isAt(grant, target));
  return grants.flatMap(({ resources, paths }) => [
    ...resources.filter((box) => matches(box[4]!, namespace)).map(resourceRule),
    ...paths.map(([verb, path]) => ({ verbs: namesOf(verb!), nonResourceURLs: namesOf(path!) })),
  ]);
}

function isAt({ kind, places }: ScopeGrant, target: Target): boolean {
  if (kind !== target.kind) return false;
  const { cluster = "", project = "", space = "", virtualCluster = "" }: Readonly<Record<string, string | undefined>> = { ...target };
  const place = { management: [], cluster: [cluster, project, space], virtualCluster: [project, virtualCluster] }[kind];
  return places.some((box) => box.every((pattern, at) => matches(pattern, place[at]!)));
}

function resourceRule([verb, group, resource, part, , name]: Box): PolicyRule {
  const parts = "all" in part! ? undefined : namesOf(part!);
  const resources = namesOf(resource!).flatMap((plural) =>
    parts === undefined ? withParts(plural) : parts.map((one) => joined(plural, one)),
  );
  const names = "all" in name! ? {} : { resourceNames: namesOf(name!) };
  return { verbs: namesOf(verb!), apiGroups: namesOf(group!), resources, ...names };
}

/** A resource with all its subresources; `*` includes them already. */
function withParts(plural: string): string[] {
  return plural === WILDCARD ? [WILDCARD] : [plural, joined(plural, WILDCARD)];
}

function joined(plural: string, part: string): string {
  return part === "" ? plural : `${plural}/${part}`;
}

/** The names of a pattern as in rules: a prefix has the wildcard at its end. */
function namesOf(pattern: Pattern): readonly string[] {
  if ("all" in pattern) return EVERYTHING;
  return "these" in pattern ? [...pattern.these] : [`${pattern.below}${WILDCARD}`];
}

function meetAll(left: readonly PolicyRule[], right: readonly PolicyRule[]): PolicyRule[] {
  return left.flatMap((one) => right.flatMap((other) => meetOf(one, other)));
}

/** Intersection of two rules; empty if there is none. */
function meetOf(one: PolicyRule, other: PolicyRule): PolicyRule[] {
  const verbs = common(one.verbs, other.verbs, sameOrAll);
  const paths = common(one.nonResourceURLs ?? NOTHING, other.nonResourceURLs ?? NOTHING, pathMeet);
  if (verbs.length > 0 && paths.length > 0) return [{ verbs, nonResourceURLs: paths }];
  const apiGroups = common(one.apiGroups ?? NOTHING, other.apiGroups ?? NOTHING, sameOrAll);
  const resources = common(one.resources ?? NOTHING, other.resources ?? NOTHING, resourceMeet);
  const named = one.resourceNames !== undefined && one.resourceNames.length > 0 ? one.resourceNames : EVERYTHING;
  const names = common(named, other.resourceNames ?? EVERYTHING, sameOrAll);
  if ([verbs, apiGroups, resources, names].some(({ length }) => length === 0)) return [];
  return [{ verbs, apiGroups, resources, ...(!names.includes(WILDCARD) && { resourceNames: names }) }];
}

function common(left: readonly string[], right: readonly string[], meet: (one: string, other: string) => string | undefined): string[] {
  const met = left.flatMap((one) => right.map((other) => meet(one, other)).filter((text) => text !== undefined));
  return met.includes(WILDCARD) ? [WILDCARD] : [...new Set(met)];
}

function sameOrAll(one: string, other: string): string | undefined {
  if (one === WILDCARD || one === other) return other;
  return other === WILDCARD ? one : undefined;
}

function resourceMeet(one: string, other: string): string | undefined {
  const whole = sameOrAll(one, other);
  if (whole !== undefined) return whole;
  const [plural = "", part] = one.split("/");
  const [otherPlural = "", otherPart] = other.split("/");
  if (part === undefined || otherPart === undefined) return undefined;
  const both = [sameOrAll(plural, otherPlural), sameOrAll(part, otherPart)];
  return both.includes(undefined) ? undefined : both.join("/");
}

function pathMeet(one: string, other: string): string | undefined {
  if (reachesPath(one, other)) return other;
  return reachesPath(other, one) ? one : undefined;
}

function reachesPath(pattern: string, path: string): boolean {
  return pattern === path || (pattern.endsWith(WILDCARD) && path.startsWith(pattern.slice(0, -WILDCARD.length)));
}
