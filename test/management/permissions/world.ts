/**
 * The platform of the permission table: callers, their keys, and the requests. Plain facts, from which a test makes
 * the platform and the model its expectations.
 */
import type { AccessScope } from "../../../src/cluster/scope/types.ts";

/** Namespaces of the projects x and y. */
export const HOME = "p-x";
export const AWAY = "p-y";

/** Verbs on an existing object. */
export const OBJECT_VERBS: readonly string[] = ["get", "list", "watch", "update", "patch", "delete"];

/** A caller. */
export interface TableCaller {
  readonly name: string;
  /** Description for the page. */
  readonly text: string;
  /** The spec of the caller's key; without one the caller presents `shows`. */
  readonly key?: {
    readonly user?: string;
    readonly team?: string;
    readonly subject?: string;
    readonly groups?: readonly string[];
    readonly disabled?: boolean;
  };
  readonly shows?: string;
  /** What the caller may do with the SharedSecret `db` and the Team `target`, and why not more. */
  readonly verbs: readonly string[];
  /** May make further secrets in the namespace of `db`, and further teams. Default false. */
  readonly creates?: boolean;
}

const rule = (name: string, text: string, verbs: readonly string[]): TableCaller => ({ name, text, key: { user: name }, verbs });

/** Every caller. */
export const CALLERS: readonly TableCaller[] = [
  { name: "administrator", text: "has a key with the group `platform:admins`", key: { user: "root", groups: ["platform:admins"] }, verbs: [...OBJECT_VERBS, "bind", "makeowner"], creates: true }, // prettier-ignore
  { name: "owner", text: "is `spec.owner.user`", key: { user: "owner" }, verbs: OBJECT_VERBS },
  { name: "owners-member", text: "is in `spec.users` of the team that is `spec.owner.team`", key: { user: "owners-member" }, verbs: OBJECT_VERBS }, // prettier-ignore
  { name: "owners-key", text: "is a key of the team that is `spec.owner.team`", key: { team: "owners" }, verbs: OBJECT_VERBS },
  rule("rule-get", "is a user in a rule with `get`", ["get"]),
  rule("rule-list", "is a user in a rule with `list`", ["list", "watch"]),
  rule("rule-update", "is a user in a rule with `update`", ["update"]),
  rule("rule-patch", "is a user in a rule with `patch`", ["patch"]),
  rule("rule-delete", "is a user in a rule with `delete`", ["delete"]),
  { ...rule("rule-create", "is a user in a rule with `create`", []), creates: true },
  rule("rule-bind", "is a user in a rule with `bind`", ["bind"]),
  rule("rule-makeowner", "is a user in a rule with `makeowner`", ["makeowner"]),
  rule("rule-all", "is a user in a rule with `VerbAll`", [...OBJECT_VERBS, "bind", "makeowner"]),
  { name: "readers-member", text: "is in `spec.users` of the readers' team, which is in a rule with `get` and `list`", key: { user: "readers-member" }, verbs: ["get", "list", "watch"] }, // prettier-ignore
  { name: "readers-group", text: "has a key with a group in `spec.groups` of the readers' team", key: { user: "readers-group", groups: ["sso:readers"] }, verbs: ["get", "list", "watch"] }, // prettier-ignore
  { name: "readers-key", text: "is a key of the readers' team", key: { team: "readers" }, verbs: ["get", "list", "watch"] },
  { name: "readers-subject", text: "is a key with `spec.subject` and a group in `spec.groups` of the readers' team", key: { subject: "ci", groups: ["sso:readers"] }, verbs: ["get", "list", "watch"] }, // prettier-ignore
  { name: "subject", text: "is a key with `spec.subject`", key: { subject: "robot" }, verbs: [] },
  { name: "stranger", text: "is a user that no object refers to", key: { user: "stranger" }, verbs: [] },
  { name: "disabled", text: "has a disabled key with the group `platform:admins`", key: { user: "root", groups: ["platform:admins"], disabled: true }, verbs: [] }, // prettier-ignore
  { name: "unknown", text: "presents a key that does not exist", shows: "unknown-key", verbs: [] },
  { name: "anonymous", text: "presents no key", shows: "", verbs: [] },
];

/** Callers that are tried with every scope. */
export const SCOPED_CALLERS: readonly string[] = ["administrator", "owner"];

/** The target of a request. */
export interface TableRequest {
  /** Description for the page. */
  readonly on: string;
  readonly group: string;
  readonly resource: string;
  /** "" for cluster-scoped objects, or for all namespaces. */
  readonly namespace: string;
  /** "" for the collection. */
  readonly name: string;
  readonly verbs: readonly string[];
  /** Owner of the object: the one in {@link HOME}, the caller, or another user. */
  readonly of: "shared" | "own" | "other" | "all";
}

const GROUP = "management.platform";
const RBAC = "rbac.authorization.k8s.io";
const COLLECTION = ["list", "watch", "create", "deletecollection"];
const OBJECT = ["get", "update", "patch", "delete"];

/** The requests. `OWN` in a name stands for the caller's own. */
export const REQUESTS: readonly TableRequest[] = [
  { on: "SharedSecrets of a project", group: GROUP, resource: "sharedsecrets", namespace: HOME, name: "", verbs: COLLECTION, of: "shared" },
  { on: "a SharedSecret", group: GROUP, resource: "sharedsecrets", namespace: HOME, name: "db", verbs: OBJECT, of: "shared" },
  { on: "SharedSecrets everywhere", group: GROUP, resource: "sharedsecrets", namespace: "", name: "", verbs: ["list", "watch"], of: "all" },
  {
    on: "another user's SharedSecret",
    group: GROUP,
    resource: "sharedsecrets",
    namespace: AWAY,
    name: "other",
    verbs: OBJECT,
    of: "other",
  },
  { on: "Teams", group: GROUP, resource: "teams", namespace: "", name: "", verbs: COLLECTION, of: "shared" },
  { on: "a Team", group: GROUP, resource: "teams", namespace: "", name: "target", verbs: [...OBJECT, "bind", "makeowner"], of: "shared" },
  { on: "another user's Team", group: GROUP, resource: "teams", namespace: "", name: "others", verbs: [...OBJECT, "bind", "makeowner"], of: "other" }, // prettier-ignore
  { on: "OwnedAccessKeys", group: GROUP, resource: "ownedaccesskeys", namespace: "", name: "", verbs: COLLECTION, of: "own" },
  { on: "one's own OwnedAccessKey", group: GROUP, resource: "ownedaccesskeys", namespace: "", name: "OWN", verbs: OBJECT, of: "own" },
  { on: "another user's OwnedAccessKey", group: GROUP, resource: "ownedaccesskeys", namespace: "", name: "others", verbs: OBJECT, of: "other" }, // prettier-ignore
  { on: "DirectClusterEndpointTokens", group: GROUP, resource: "directclusterendpointtokens", namespace: "", name: "", verbs: ["create", "list", "deletecollection"], of: "own" }, // prettier-ignore
  { on: "a DirectClusterEndpointToken", group: GROUP, resource: "directclusterendpointtokens", namespace: "", name: "any", verbs: OBJECT, of: "other" }, // prettier-ignore
  { on: "the Config", group: GROUP, resource: "config", namespace: "", name: "config", verbs: OBJECT, of: "all" },
  { on: "Configs", group: GROUP, resource: "config", namespace: "", name: "", verbs: COLLECTION, of: "all" },
  { on: "Users", group: GROUP, resource: "users", namespace: "", name: "", verbs: COLLECTION, of: "own" },
  { on: "one's own User", group: GROUP, resource: "users", namespace: "", name: "OWN", verbs: OBJECT, of: "own" },
  { on: "another User", group: GROUP, resource: "users", namespace: "", name: "other", verbs: OBJECT, of: "other" },
  { on: "Roles of a project", group: RBAC, resource: "roles", namespace: HOME, name: "", verbs: COLLECTION, of: "shared" },
  {
    on: "a Role of the SharedSecret",
    group: RBAC,
    resource: "roles",
    namespace: HOME,
    name: "sharedsecret:db:0",
    verbs: OBJECT,
    of: "shared",
  },
  { on: "a RoleBinding of the SharedSecret", group: RBAC, resource: "rolebindings", namespace: HOME, name: "sharedsecret:db:0", verbs: OBJECT, of: "shared" }, // prettier-ignore
  {
    on: "a ClusterRole of the Team",
    group: RBAC,
    resource: "clusterroles",
    namespace: "",
    name: "team:target:0",
    verbs: OBJECT,
    of: "shared",
  },
  { on: "a ClusterRoleBinding of another Team", group: RBAC, resource: "clusterrolebindings", namespace: "", name: "team:others:0", verbs: OBJECT, of: "other" }, // prettier-ignore
];

/** The request as scopes see it. */
export type ScopedRequest = Pick<TableRequest, "group" | "resource" | "namespace" | "name"> & { readonly verb: string };

/** A limit of a key, and which requests it allows, in words of its own. */
export interface TableScope {
  readonly name: string;
  readonly scope: AccessScope;
  readonly allows: (request: ScopedRequest) => boolean;
}

const reads = ({ verb }: ScopedRequest) => ["get", "list", "watch"].includes(verb);
const managed = ({ group }: ScopedRequest) => group === GROUP;
const isOfProjects = ({ resource }: ScopedRequest) => ["sharedsecrets", "roles", "rolebindings"].includes(resource);

/** Every scope that is tried. */
export const SCOPES: readonly TableScope[] = [
  { name: "{}", scope: {}, allows: () => false },
  { name: "role platformCLI", scope: { roles: [{ role: "platformCLI" }] }, allows: (asked) => managed(asked) && reads(asked) },
  { name: "allowPlatformCli", scope: { allowPlatformCli: true }, allows: (asked) => managed(asked) && reads(asked) },
  { name: "role platformCLI in project x", scope: { roles: [{ role: "platformCLI", projects: ["x"] }] }, allows: (asked) => managed(asked) && reads(asked) && asked.namespace === HOME }, // prettier-ignore
  { name: "unknown role", scope: { roles: [{ role: "captain" }] }, allows: () => false },
  { name: "project x", scope: { projects: [{ project: "x" }] }, allows: ({ namespace }) => namespace === HOME },
  { name: "all projects", scope: { projects: [{ project: "*" }] }, allows: ({ namespace }) => namespace === HOME || namespace === AWAY },
  { name: "spaces", scope: { spaces: [{ project: "*", space: "*" }] }, allows: () => false },
  { name: "virtual clusters", scope: { virtualClusters: [{ project: "*", virtualCluster: "*" }] }, allows: () => false },
  { name: "clusters", scope: { clusters: [{ cluster: "*" }] }, allows: () => false },
  { name: "rule without limits", scope: { rules: [{}] }, allows: () => true },
  { name: "rule with verbs", scope: { rules: [{ verbs: ["get", "patch"] }] }, allows: ({ verb }) => verb === "get" || verb === "patch" },
  { name: "rule with resources", scope: { rules: [{ resources: [{ group: GROUP, resources: ["teams"] }] }] }, allows: ({ resource }) => resource === "teams" }, // prettier-ignore
  { name: "rule with resourceNames", scope: { rules: [{ resources: [{ group: GROUP, resources: ["*"], resourceNames: ["db", "target"] }] }] }, allows: (asked) => managed(asked) && (asked.name === "db" || asked.name === "target") }, // prettier-ignore
  { name: "rule with namespaces", scope: { rules: [{ namespaces: [HOME] }] }, allows: ({ namespace }) => namespace === HOME },
  { name: "rule without a namespace", scope: { rules: [{ namespaces: [""] }] }, allows: (asked) => asked.namespace === "" && !isOfProjects(asked) }, // prettier-ignore
  { name: "rule with a request target", scope: { rules: [{ requestTargets: ["Management"] }] }, allows: () => true },
  { name: "rule with another request target", scope: { rules: [{ requestTargets: ["Cluster"] }] }, allows: () => false },
  { name: "rule with a cluster", scope: { rules: [{ cluster: "c1" }] }, allows: () => false },
  { name: "rule with virtual clusters", scope: { rules: [{ virtualClusters: [{}] }] }, allows: () => false },
];
