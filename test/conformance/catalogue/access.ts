/**
 * Citations of the cases in `access.ts`.
 */
import type { CatalogueSection, Citation } from "./citations.ts";

const forbidden: Citation = ["API conventions", "HTTP Status codes, 403 StatusForbidden"];
const verbs: Citation = ["Authorization", "Determine the request verb"];
const binding: Citation = ["upstream", "`ValidateRoleBinding`"];
const rule: Citation = ["upstream", "`ValidatePolicyRule`"];
const tokenRequest: Citation = ["upstream", "`ValidateTokenRequest`"];
const selfReview: Citation = ["Authorization", "Checking API access"];
const reviewed: Citation = ["upstream", "`ValidateSelfSubjectAccessReviewSpec`"];

/** In the order of the suite. */
export const ACCESS_SECTIONS: readonly CatalogueSection[] = [
  {
    subject: "Access",
    suite: "http",
    group: "access",
    cases: {
      "a user without permissions gets a Status with the message and details of Kubernetes": forbidden,
      "GET of configmaps without permission returns 403 and names the verb list": verbs,
      "POST of configmaps without permission returns 403 and names the verb create": verbs,
      "DELETE of configmaps without permission returns 403 and names the verb deletecollection": verbs,
      "PUT of configmaps/a without permission returns 403 and names the verb update": verbs,
      "PATCH of configmaps/a without permission returns 403 and names the verb patch": verbs,
      "DELETE of configmaps/a without permission returns 403 and names the verb delete": verbs,
      "GET of configmaps?watch=1 without permission returns 403 and names the verb watch": verbs,
      "a kind that is not served returns 403, not 404, without permission": ["upstream", "`WithAuthorization` before routing"],
      "a path that is not a resource is forbidden, but discovery is not": ["RBAC", "API discovery roles"],
      "a role allows its verbs on its resources in its namespace, and no more": ["RBAC", "Role and ClusterRole"],
      "a role no longer applies once its binding is deleted": ["RBAC", "RoleBinding and ClusterRoleBinding"],
      "resourceNames restrict a role, and allow lists that select such a name": ["RBAC", "Referring to resources"],
      "patch is a separate verb, and applying an absent object also needs create": ["API concepts", "Updates to existing resources"],
      "users cannot write rules that they do not have, unless they may escalate": ["RBAC", "Restrictions on role creation or update"],
      "users cannot grant a role that they do not have, unless they may bind it": [
        "RBAC",
        "Restrictions on role binding creation or update",
      ],
      "a binding with a changed roleRef returns 422": ["RBAC", "RoleBinding and ClusterRoleBinding"],
      "a binding with an unknown kind of role returns 422": binding,
      "a binding with a role of another API group returns 422": binding,
      "a binding with an unknown kind of subject returns 422": ["RBAC", "Referring to subjects"],
      "a binding with a subject without a name returns 422": ["RBAC", "Referring to subjects"],
      "a binding with a service account of another API group returns 422": ["upstream", "`ValidateRoleBindingSubject`"],
      "a rule without verbs returns 422": rule,
      "a rule without groups returns 422": rule,
      "a rule without resources returns 422": rule,
      "a rule with URL paths in a namespace returns 422": rule,
      "the default roles exist, and edit does not allow updates of endpoints": ["RBAC", "User-facing roles"],
      "users cannot impersonate others without permission": ["Authentication", "User impersonation"],
    },
  },
  {
    subject: "Namespaces",
    suite: "http",
    group: "access",
    cases: { "every namespace has the default service account": ["Service accounts", "Default service accounts"] },
  },
  {
    subject: "Access",
    suite: "http",
    group: "reviews",
    cases: {
      "reviews report what the caller may do": selfReview,
      "reviews list what the caller may do in a namespace": selfReview,
      "reviews report what others may do, if the caller may create such reviews": selfReview,
      "reviews that name neither a resource nor a path return 422": reviewed,
      "reviews that name both a resource and a path return 422": reviewed,
      "reviews report who the caller is, and allow only the verb create": [
        "Authentication",
        "API access to authentication information for a client",
      ],
    },
  },
  {
    subject: "Access",
    suite: "http",
    group: "service account tokens",
    cases: {
      "tokens authenticate as the account, for an hour by default": ["Service accounts", "TokenRequest API"],
      "tokens with a lifetime below ten minutes return 422": tokenRequest,
      "tokens with a lifetime above 2^32 seconds return 422": tokenRequest,
      "a token of an absent account returns 404, and a token with a name other than the account's returns 422": [
        "upstream",
        "`TokenREST.Create`",
      ],
      "tokens become invalid with their account, even if an account of the same name is created": [
        "Service accounts",
        "Authenticating service account credentials",
      ],
      "tokens become invalid with the object that they are bound to, which must exist": [
        "Managing service accounts",
        "Bound service account tokens",
      ],
      "tokens for a different audience are refused by the API and accepted by that audience": ["TokenReview v1", "status.audiences"],
      "tokens are a subresource of accounts that can only be created": ["TokenRequest v1", "Operations"],
    },
  },
  {
    subject: "Access",
    suite: "http",
    group: "aggregated roles",
    cases: {
      "aggregated roles have the rules of the roles that they select, and change with them": ["RBAC", "Aggregated ClusterRoles"],
      "aggregated roles include admin, edit and view, to which new kinds can add rules": ["RBAC", "User-facing roles"],
      "aggregated roles can be written only with all permissions, because they can gather any rules": ["upstream", "`hasAggregationRule`"],
    },
  },
  {
    subject: "Server-side apply",
    suite: "http",
    group: "submitted field managers",
    cases: {
      "managers in a new object own their fields, except those that its author writes": [
        "upstream",
        "`decodeLiveOrNew` of the field manager",
      ],
      "managers of an unknown type are ignored": ["upstream", "`TestErrorsDontFail`"],
      "managers that are empty are ignored": ["Server-side apply", "Clearing managedFields"],
    },
  },
];
