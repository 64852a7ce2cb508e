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
 * Decides by the grants of a user in the request's namespace. No rule revokes a grant, so their order does not affect the decision.
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
 * An authorizer by roles and bindings. Members of `system:masters` need none.
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
