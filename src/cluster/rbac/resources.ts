import type { ResourceType } from "../../kube/object/resource.ts";

/** The group of roles and bindings. */
export const RBAC_GROUP = "rbac.authorization.k8s.io";

const rbac = (kind: string, plural: string, namespaced: boolean): ResourceType => ({
  apiVersion: `${RBAC_GROUP}/v1`,
  kind,
  plural,
  namespaced,
});

/** The kinds that define and grant permissions. */
export const ROLES = rbac("Role", "roles", true);
export const ROLE_BINDINGS = rbac("RoleBinding", "rolebindings", true);
export const CLUSTER_ROLES = rbac("ClusterRole", "clusterroles", false);
export const CLUSTER_ROLE_BINDINGS = rbac("ClusterRoleBinding", "clusterrolebindings", false);

/** The group whose members may do everything, regardless of roles. */
export const MASTERS = "system:masters";
/** The group of all authenticated users. */
export const AUTHENTICATED = "system:authenticated";
