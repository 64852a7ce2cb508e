/**
 * Roles as lists of single permissions, and requests as the permissions that they need.
 */
import { ROLES } from "../../src/cluster/rbac/resources.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";
import { ofKind } from "./overlays.ts";

/** A rule as `deploy/` writes it. */
export interface RoleRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** A Role or ClusterRole. */
export type Role = KubeObject & { readonly rules: readonly RoleRule[] };

/** One verb on one resource of one role. */
export interface RolePermission {
  readonly role: Role;
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
}

/** All Roles and ClusterRoles. */
export function rolesOf(objects: readonly KubeObject[]): readonly Role[] {
  return [...ofKind<Role>(objects, "Role"), ...ofKind<Role>(objects, "ClusterRole")];
}

/** Everything that they give, one by one. */
export function permissionsOf(objects: readonly KubeObject[]): readonly RolePermission[] {
  return rolesOf(objects).flatMap((role) =>
    role.rules.flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => ({ role, group, resource, verb })))),
    ),
  );
}

/** `update endpoints in vc-blue`; of a ClusterRole `list endpoints`. */
export function textOf({ role, group, resource, verb }: RolePermission): string {
  const where = role["kind"] === ROLES.kind ? ` in ${role.metadata.namespace}` : "";
  return `${verb} ${qualified(resource, group)}${where}`;
}

/** `leases.coordination.k8s.io`. */
export function qualified(resource: string, group: string): string {
  return group === "" ? resource : `${resource}.${group}`;
}

/** The rules of the role without this permission. */
export function rulesWithout({ role, group, resource, verb }: RolePermission): readonly RoleRule[] {
  return role.rules.flatMap((rule) => {
    if (!rule.apiGroups.includes(group) || !rule.resources.includes(resource) || !rule.verbs.includes(verb)) return [rule];
    return rule.resources.flatMap((one) => {
      const verbs = rule.verbs.filter((other) => one !== resource || other !== verb);
      return verbs.length === 0 ? [] : [{ ...rule, resources: [one], verbs }];
    });
  });
}

const VERBS: Readonly<Record<string, string>> = { POST: "create", PUT: "update", DELETE: "delete", PATCH: "patch" };
const PATH = /^\/(?:api\/v1|apis\/([^/]+)\/[^/]+)\/(?:namespaces\/([^/]+)\/(?=\w))?([^/]+)(?:\/([^/]+))?$/;

/** The permission that a request needs, as {@link textOf} writes it; undefined for discovery and for questions about oneself. */
export function permissionUsed(method: string, path: string): string | undefined {
  const { pathname, searchParams } = new URL(path, "https://localhost");
  const match = PATH.exec(pathname);
  if (match === null || pathname.includes("/selfsubject")) return undefined;
  const [, group = "", namespace, resource = "", name] = match;
  const many = ["1", "true"].includes(searchParams.get("watch") ?? "") ? "watch" : "list";
  const verb = VERBS[method] ?? (name === undefined ? many : "get");
  return `${verb} ${qualified(resource, group)}${namespace === undefined ? "" : ` in ${namespace}`}`;
}
