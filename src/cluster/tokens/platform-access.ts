/**
 * Permissions of bearers of a platform's tokens in a cluster: those that roles and bindings grant to their names and groups, and those that
 * the token itself grants, all limited by its scopes.
 *
 * @module
 */
import { inEveryNamespace } from "../scope/every-namespace.ts";
import { rulesWithin } from "../scope/rules.ts";
import { SCOPE_EXTRA, allowedByScopes } from "../scope/scope.ts";
import { isScopeWithin } from "../scope/checks/subset.ts";
import type { AccessScope, Target } from "../scope/types.ts";
import type { Attributes, Authorizer, AccessDecision, ResourceAttributes } from "../../apiserver/access/authorization.ts";
import type { UserInfo } from "../../apiserver/types/user-info.ts";
import { parseScope } from "../scope/parse.ts";
import { EXTRA_CLUSTER_ROLES, type PlatformTrust } from "./platform-tokens.ts";
import { EVERYTHING } from "../rbac/authorize.ts";
import type { Grant, Policy } from "../rbac/policy.ts";
import { CLUSTER_ROLES, RBAC_GROUP } from "../rbac/resources.ts";

/** Default administrators of the platform. */
const ADMINISTRATORS: readonly string[] = ["platform:admins"];

const NOTHING: readonly string[] = [];

/**
 * Adds grants to a policy: users have the ClusterRoles that their platform tokens name, in all namespaces, and administrators of the
 * platform have all permissions. Unlike members of `system:masters`, administrators are checked like other users, so a scope also
 * limits the permissions that they can grant.
 */
export function withPlatformGrants(policy: Policy, administrators: readonly string[] = ADMINISTRATORS): Policy {
  return {
    ...policy,
    *grantsOf(user, namespace) {
      yield* policy.grantsOf(user, namespace);
      yield* ofGroups(user, administrators);
      for (const name of user.extra?.[EXTRA_CLUSTER_ROLES] ?? NOTHING) {
        const rules = policy.rulesOf({ kind: CLUSTER_ROLES.kind, name }, "");
        const reason = `RBAC: allowed by the ClusterRole ${JSON.stringify(name)} of the platform's token`;
        if (rules !== undefined) yield { rules, reason };
      }
    },
  };
}

function* ofGroups({ groups }: UserInfo, administrators: readonly string[]): Generator<Grant> {
  const group = groups.find((one) => administrators.includes(one));
  if (group !== undefined) yield { rules: EVERYTHING, reason: `the group ${JSON.stringify(group)} administers the platform` };
}

/** Target that scopes are checked against. */
export interface ScopedTrust extends Pick<PlatformTrust, "target" | "projectNamespacePrefix"> {
  /** Reports whether a resource of the cluster is namespaced. */
  readonly isNamespaced: (group: string, resource: string) => boolean;
}

function optionsOf({ projectNamespacePrefix }: Pick<ScopedTrust, "projectNamespacePrefix">) {
  return projectNamespacePrefix === undefined ? {} : { projectNamespacePrefix };
}

const OUT_OF_SCOPE: AccessDecision = { allowed: false, reason: "the scope of the token does not allow it" };

/**
 * Creates an authorizer that allows bearers of scoped tokens no more than their scopes allow in this cluster. Requests that could exceed
 * a scope are refused even if the scope allows them: limited users cannot impersonate. Users whose scope covers only a part of this
 * cluster also cannot write roles or bindings, or create tokens of ServiceAccounts, because no scope would limit the bearers of these.
 */
export function withinScopes(authorizer: Authorizer, trust: ScopedTrust): Authorizer {
  const { target, isNamespaced } = trust;
  const options = optionsOf(trust);
  return {
    decide(user, attributes) {
      const reached = inEveryNamespace(attributes, isNamespaced);
      const inScope = allowedByScopes(user, target, reached, options) && (!isScoped(user) || staysWithin(user, target, attributes));
      return inScope ? authorizer.decide(user, attributes) : OUT_OF_SCOPE;
    },
    rulesFor: (user, namespace) => rulesWithin(authorizer.rulesFor(user, namespace), user, { target, namespace, ...options }),
  };
}

function isScoped({ extra }: UserInfo): boolean {
  return (extra?.[SCOPE_EXTRA] ?? NOTHING).length > 0;
}

function staysWithin(user: UserInfo, target: Target, attributes: Attributes): boolean {
  if ("path" in attributes) return true;
  if (attributes.verb === "impersonate") return false;
  return !handsOn(attributes) || reachesAll(user, target);
}

const GIVING: readonly string[] = ["create", "update", "patch"];

/** Reports whether a request can give an unlimited user more permissions. */
function handsOn({ verb, group, resource, subresource }: ResourceAttributes): boolean {
  if (group === RBAC_GROUP) return GIVING.includes(verb);
  return group === "" && resource === "serviceaccounts" && subresource === "token";
}

/** Whether every scope covers everything in this cluster. */
function reachesAll(user: UserInfo, target: Target): boolean {
  const everything = wholeOf(target);
  return (user.extra?.[SCOPE_EXTRA] ?? NOTHING).every((text) => isScopeWithin(everything, parseScope(text) ?? {}));
}

function wholeOf(target: Target): AccessScope | undefined {
  switch (target.kind) {
    case "management":
      return undefined;
    case "cluster":
      return { clusters: [{ cluster: target.cluster }] };
    case "virtualCluster":
      return { virtualClusters: [{ project: target.project, virtualCluster: target.virtualCluster }] };
  }
}
