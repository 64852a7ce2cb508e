import type { ResourceType } from "../../kube/object/resource.ts";

/** The API group of the platform. */
export const MANAGEMENT_GROUP = "management.platform";
/** The only version of the group. */
export const MANAGEMENT_VERSION = `${MANAGEMENT_GROUP}/v1`;

/** Sensitive data for users, teams and connected clusters. */
export const SHARED_SECRETS: ResourceType = kind("SharedSecret", "sharedsecrets", { namespaced: true });
/** Sets of users. */
export const TEAMS: ResourceType = kind("Team", "teams");
/** Users who sign in. */
export const USERS: ResourceType = kind("User", "users");
/** Requests for a new password, at a path of Users. */
export const PASSWORD_CHANGES: ResourceType = kind("PasswordChange", "passwordchanges");
/** Keys for using the API. */
export const OWNED_ACCESS_KEYS: ResourceType = kind("OwnedAccessKey", "ownedaccesskeys");
/** Tokens for direct access to connected clusters. */
export const DIRECT_CLUSTER_ENDPOINT_TOKENS: ResourceType = kind("DirectClusterEndpointToken", "directclusterendpointtokens");
/** The settings of the platform. The path is singular, as in the specification. */
export const CONFIG: ResourceType = kind("Config", "config");

function kind(name: string, plural: string, { namespaced = false } = {}): ResourceType {
  return { apiVersion: MANAGEMENT_VERSION, kind: name, plural, namespaced };
}
