/**
 * Owners and access rules as Roles and RoleBindings, so that users and tools find them where Kubernetes shows permissions.
 * Source: specification 1, "Access rights for users and teams, transformed into Roles and RoleBindings".
 *
 * @module
 */
import type { ResourceType } from "../../../kube/object/resource.ts";
import type { ObjectKey } from "../../../kube/object/key.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import type { PolicyRule } from "../../../apiserver/access/authorization.ts";
import { specOf, type AccessRule, type OwnedSpec } from "../../kinds/common.ts";
import { MANAGEMENT_GROUP, SHARED_SECRETS, TEAMS } from "../../kinds/types.ts";
import { groupOfSubject, isReserved } from "../caller.ts";
import { EVERYBODY, EVERYBODYS_GROUP, isUserName, OBJECT_VERBS, verbsOf } from "./object-permissions.ts";

/** A rule of an object, as its author wrote it or as ownership implies it, and its meaning in Kubernetes. */
export interface DerivedRule {
  readonly rule: AccessRule;
  readonly policy: PolicyRule;
}

/** A Role with its RoleBinding, or a ClusterRole with its ClusterRoleBinding; both have the same name. */
export interface DerivedRole {
  readonly role: KubeObject;
  readonly binding: KubeObject;
}

const RBAC_VERSION = "rbac.authorization.k8s.io/v1";
const RBAC_GROUP = "rbac.authorization.k8s.io";
const SOURCES: readonly ResourceType[] = [SHARED_SECRETS, TEAMS];

/** The permissions that an object's owner and rules grant, those of the owner first. */
export function rulesOf(object: KubeObject): readonly DerivedRule[] {
  const { owner: { user = "", team = "" } = {}, access = [] } = specOf<OwnedSpec>(object);
  const owners: AccessRule = { verbs: OBJECT_VERBS, users: isUserName(user) ? [user] : [], teams: team === "" ? [] : [team] };
  const rules = user === "" && team === "" ? access : [owners, ...access];
  return rules.flatMap((rule) => policiesOf(rule, object).map((policy) => ({ rule, policy })));
}

/** Returns the policy rules of an access rule. The verb `create` has a separate one, because it cannot be limited to a name. */
function policiesOf(rule: AccessRule, { kind, metadata: { name = "" } }: KubeObject): readonly PolicyRule[] {
  const { plural } = SOURCES.find((type) => type.kind === kind)!;
  const verbs = verbsOf(rule, { kind });
  const onObject = verbs.filter((verb) => verb !== "create");
  const resources = [plural, ...(rule.subresources ?? []).filter((part) => part !== "").map((part) => `${plural}/${part}`)];
  return [
    ...(onObject.length > 0 ? [{ verbs: onObject, apiGroups: [MANAGEMENT_GROUP], resources, resourceNames: [name] }] : []),
    ...(verbs.includes("create") ? [{ verbs: ["create"], apiGroups: [MANAGEMENT_GROUP], resources: [plural] }] : []),
  ];
}

/**
 * The Roles and RoleBindings of a namespaced object, or the ClusterRoles and ClusterRoleBindings of a cluster-scoped one.
 *
 * @example
 * derivedRoles(secret).map(({ role }) => role.metadata.name); // ["sharedsecret:db:0", ...]
 */
export function derivedRoles(object: KubeObject): readonly DerivedRole[] {
  const { namespace } = object.metadata;
  const kind = namespace === undefined ? "ClusterRole" : "Role";
  return rulesOf(object).map(({ rule, policy }, index) => {
    const metadata = {
      name: `${object.kind.toLowerCase()}:${object.metadata.name}:${index}`,
      ...(namespace !== undefined && { namespace }),
      ...marks(object),
    };
    return {
      role: { apiVersion: RBAC_VERSION, kind, metadata, rules: [policy] },
      binding: {
        ...{ apiVersion: RBAC_VERSION, kind: `${kind}Binding`, metadata },
        subjects: subjectsOf(rule),
        roleRef: { apiGroup: RBAC_GROUP, kind, name: metadata.name },
      },
    };
  });
}

function marks({ apiVersion, kind, metadata: { name = "", uid = "" } }: KubeObject) {
  return { ownerReferences: [{ apiVersion, kind, name, uid, controller: true }] };
}

/** Returns the users and teams of a rule as subjects, without empty and reserved names: a binding would grant these more than the rule. */
function subjectsOf({ users = [], teams = [] }: AccessRule) {
  const user = (name: string) =>
    name === EVERYBODY ? { kind: "Group", apiGroup: RBAC_GROUP, name: EVERYBODYS_GROUP } : { kind: "User", apiGroup: RBAC_GROUP, name };
  const team = (name: string) => ({ kind: "Group", apiGroup: RBAC_GROUP, name: groupOfSubject({ kind: "team", name }) });
  return [...users.filter((name) => name !== "" && !isReserved(name)).map(user), ...teams.filter((name) => name !== "").map(team)];
}

const DERIVED_NAME = /^([a-z]+):([^:]+):[0-9]+$/;

/** The object from which a role or binding with this key is derived; undefined if the name has another form. */
export function derivedFrom({ namespace, name }: ObjectKey): { readonly type: ResourceType; readonly key: ObjectKey } | undefined {
  const [, kind, source] = DERIVED_NAME.exec(name) ?? [];
  const type = SOURCES.find((known) => known.kind.toLowerCase() === kind);
  return type === undefined || source === undefined ? undefined : { type, key: { namespace, name: source } };
}
