/**
 * Users cannot grant permissions that they do not have. Source: the escalation checks of Kubernetes' RBAC storage.
 *
 * @module
 */
import { jsonEqual } from "../../base/json.ts";
import type { ResourceType } from "../../kube/object/resource.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import type { PolicyRule, ResourceAttributes } from "../../apiserver/access/authorization.ts";
import type { UserInfo } from "../../apiserver/types/user-info.ts";
import { forbiddenRequest, notFound } from "../../apiserver/types/status.ts";
import { hasAggregationRule } from "./aggregation.ts";
import { createRbacAuthorizer } from "./authorize.ts";
import type { Binding, Policy } from "./policy.ts";
import { CLUSTER_ROLES, MASTERS, RBAC_GROUP, ROLES } from "./resources.ts";
import { ruleCovers, simpleRuleCount, simpleRules } from "./rules.ts";

/** Most combinations of verb, group, resource and name of one role that are compared one by one. */
const COMBINATIONS_MAX = 10_000;

/** A write of a role or binding. */
export interface PermissionWrite {
  readonly type: ResourceType;
  readonly user: UserInfo;
  readonly object: KubeObject;
  /** Absent on creation. */
  readonly old: KubeObject | undefined;
}

/** Lets a write pass, or throws API_FORBIDDEN. */
export type RoleAdmission = (write: PermissionWrite) => void;

/**
 * Guards writes of roles: a user can write only rules that the user already has, or needs the verb `escalate` on the role. Rules that
 * are aggregated from other roles are not known in advance, so only users with all permissions can set or remove an `aggregationRule`.
 */
export function createRoleAdmission(policy: Policy): RoleAdmission {
  return ({ type, user, object, old }) => {
    const rules = rulesIn(object);
    if (user.groups.includes(MASTERS) || (old !== undefined && jsonEqual(powers(object), powers(old)))) return;
    const { name = "", namespace = "" } = object.metadata;
    if (may(policy, user, { verb: "escalate", resource: type.plural, name, namespace })) return;
    demandHeld({ policy, user, type, object, rules });
    if (!hasAggregationRule(object) && (old === undefined || !hasAggregationRule(old))) return;
    const missing = missingRules(createRbacAuthorizer(policy).rulesFor(user, namespace), FULL_AUTHORITY);
    if (missing.length > 0) throw forbiddenRequest(type, name, "must have cluster-admin privileges to use the aggregationRule");
  };
}

const FULL_AUTHORITY: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

/** The parts of a role that grant permissions. */
function powers(role: KubeObject): unknown {
  return [rulesIn(role), role["aggregationRule"]];
}

/** Guards writes of bindings: to grant a role, a user must have all its rules, or the verb `bind` on the role. */
export function createBindingAdmission(policy: Policy): RoleAdmission {
  return ({ type, user, object, old }) => {
    const { roleRef, subjects, metadata } = object as Binding;
    const unchanged = old !== undefined && jsonEqual([roleRef, subjects], [(old as Binding).roleRef, (old as Binding).subjects]);
    if (user.groups.includes(MASTERS) || unchanged) return;
    const { namespace = "" } = metadata;
    const role = roleRef.kind === CLUSTER_ROLES.kind ? CLUSTER_ROLES : ROLES;
    if (may(policy, user, { verb: "bind", resource: role.plural, name: roleRef.name, namespace })) return;
    const rules = policy.rulesOf(roleRef, namespace);
    if (rules === undefined) throw notFound(role, roleRef.name);
    demandHeld({ policy, user, type, object, rules });
  };
}

function rulesIn(object: KubeObject): readonly PolicyRule[] {
  return (object["rules"] ?? []) as readonly PolicyRule[];
}

function may(policy: Policy, user: UserInfo, what: Pick<ResourceAttributes, "verb" | "resource" | "name" | "namespace">): boolean {
  return createRbacAuthorizer(policy).decide(user, { ...what, group: RBAC_GROUP, version: "v1", subresource: "" }).allowed;
}

interface Demand {
  readonly policy: Policy;
  readonly user: UserInfo;
  readonly type: ResourceType;
  readonly object: KubeObject;
  readonly rules: readonly PolicyRule[];
}

function demandHeld({ policy, user, type, object, rules }: Demand): void {
  const { name = "", namespace = "" } = object.metadata;
  const count = rules.reduce((sum, rule) => sum + simpleRuleCount(rule), 0);
  if (count > COMBINATIONS_MAX) {
    const why = `the role's rules have more than ${COMBINATIONS_MAX} combinations of verb, group, resource and name; split the role`;
    throw forbiddenRequest(type, name, why);
  }
  const missing = missingRules(createRbacAuthorizer(policy).rulesFor(user, namespace), rules);
  if (missing.length === 0) return;
  const who = `user ${JSON.stringify(user.name)} (groups=${quoted(user.groups)})`;
  const texts = missing.map(ruleText).join("\n");
  throw forbiddenRequest(type, name, `${who} is attempting to grant RBAC permissions not currently held:\n${texts}`);
}

/**
 * The permissions in `wanted` that `held` lacks: one rule per resource and name, with all missing verbs.
 *
 * @example
 * missingRules([], [{ verbs: ["get", "list"], apiGroups: [""], resources: ["pods"] }]); // the same rule
 */
export function missingRules(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly PolicyRule[] {
  const missing = new Map<string, PolicyRule>();
  for (const rule of wanted) {
    for (const simple of simpleRules(rule)) {
      if (held.some((owned) => ruleCovers(owned, simple))) continue;
      const { verbs, ...rest } = simple;
      const key = JSON.stringify(rest);
      const before = missing.get(key)?.verbs ?? [];
      missing.set(key, { ...rest, verbs: [...new Set([...before, ...verbs])] });
    }
  }
  return [...missing.values()];
}

function ruleText({ apiGroups, resources, nonResourceURLs, resourceNames, verbs }: PolicyRule): string {
  const parts = Object.entries({
    APIGroups: apiGroups,
    Resources: resources,
    NonResourceURLs: nonResourceURLs,
    ResourceNames: resourceNames,
    Verbs: verbs,
  });
  return `{${parts.flatMap(([name, list]) => (list === undefined ? [] : [`${name}:${quoted(list)}`])).join(", ")}}`;
}

function quoted(list: readonly string[]): string {
  return `[${list.map((text) => JSON.stringify(text)).join(" ")}]`;
}
