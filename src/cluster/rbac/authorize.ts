import type { Attributes, Authorizer, AccessDecision, PolicyRule } from "../../apiserver/access/authorization.ts";
import type { Grant, Policy } from "./policy.ts";
import { MASTERS } from "./resources.ts";
import { ruleAllows } from "./rules.ts";

const ALLOWED: AccessDecision = { allowed: true, reason: "" };
const REFUSED: AccessDecision = { allowed: false, reason: "" };
/** Rules that allow everything. */
export const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

/**
 * Decides a request by the grants that its user has in its namespace. No rule revokes a permission, so the order of the grants does
 * not affect the decision.
 *
 * @example
 * authorize({ verb: "get", path: "/metrics" }, []); // { allowed: false, reason: "" }
 */
export function authorize(attributes: Attributes, grants: Iterable<Grant>): AccessDecision {
  for (const { rules, reason } of grants) {
    if (rules.some((rule) => ruleAllows(rule, attributes))) return { allowed: true, reason };
  }
  return REFUSED;
}

/**
 * Creates an authorizer that decides by roles and bindings. It allows everything to members of `system:masters`.
 *
 * @example
 * const authorizer = createRbacAuthorizer(await followPolicy(store));
 */
export function createRbacAuthorizer(policy: Policy): Authorizer {
  return {
    decide(user, attributes) {
      if (user.groups.includes(MASTERS)) return ALLOWED;
      return authorize(attributes, policy.grantsOf(user, "path" in attributes ? "" : attributes.namespace));
    },
    rulesFor(user, namespace) {
      if (user.groups.includes(MASTERS)) return EVERYTHING;
      return [...policy.grantsOf(user, namespace)].flatMap(({ rules }) => rules);
    },
  };
}
