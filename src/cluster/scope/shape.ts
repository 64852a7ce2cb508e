import { bool, listOf, named, text } from "../../schema/builders.ts";
const SCOPE_ROLE = named("AccessScopeRole", "A role, and where it applies.", {
  role: [text, "Name of the role. The only role is platformCLI, also spelled platform-cli; other names allow nothing."],
  projects: [
    listOf(text),
    "Projects in which the role applies, * for all. If projects and virtualClusters are empty, it applies everywhere.",
  ],
  virtualClusters: [
    listOf(text),
    "Virtual clusters to which the role is limited, * for all. Without projects, a limited role grants nothing.",
  ],
});

const SCOPE_PROJECT = named("AccessScopeProject", "A project.", { project: [text, "Name of the project, * for all."] });

const SCOPE_SPACE = named("AccessScopeSpace", "A space of a project.", {
  project: [text, "Name of the project, * for all."],
  space: [text, "Name of the space, * for all."],
});

const SCOPE_VIRTUAL_CLUSTER = named("AccessScopeVirtualCluster", "A virtual cluster of a project.", {
  project: [text, "Name of the project, * for all."],
  virtualCluster: [text, "Name of the virtual cluster, * for all."],
});

const SCOPE_CLUSTER = named("AccessScopeCluster", "A connected cluster.", { cluster: [text, "Name of the cluster, * for all."] });

const SCOPE_RESOURCES = named("AccessScopeRuleResources", "Resources of one API group.", {
  group: [text, "The API group; empty for the core group."],
  resources: [
    listOf(text),
    "Resources such as pods, and subresources such as pods/log. * matches all resources and subresources, pods/* all subresources of pods, and */scale the scale subresource of all resources. Empty for all. An entry must not repeat what a wildcard covers.",
  ],
  resourceNames: [listOf(text), "Names of objects; requires resources. Empty for all."],
});

const RULE_VIRTUAL_CLUSTER = named("AccessScopeRuleVirtualCluster", "A virtual cluster.", {
  name: [text, "Name of the virtual cluster; empty for all."],
  namespace: [text, "Namespace of its project; empty for all."],
});

const SCOPE_RULE = named(
  "AccessScopeRule",
  "Requests that match every field of the rule. An empty list matches everything, with two exceptions: a rule that lists only nonResourceURLs matches no resources, and a rule that lists resources or namespaces matches only the paths in nonResourceURLs.",
  {
    verbs: [listOf(text), "Verbs; empty for every verb."],
    resources: [listOf(SCOPE_RESOURCES), "Resources; empty for all resources of all groups."],
    namespaces: [listOf(text), "Namespaces; an empty string matches requests without a namespace. Empty for every namespace."],
    nonResourceURLs: [listOf(text), "Paths that are not resources. * may be the whole last segment of a path."],
    requestTargets: [listOf(text), "Where requests go: Management, Cluster, ProjectSpace, ProjectVirtualCluster. Empty for every request."],
    cluster: [text, "Name of the connected cluster that requests must go to. Empty means no restriction."],
    virtualClusters: [listOf(RULE_VIRTUAL_CLUSTER), "Virtual clusters that requests must go to. Empty means no restriction."],
  },
);

/** Shape of an access scope in the published API. Empty fields are left out. */
export const ACCESS_SCOPE = named(
  "AccessScope",
  "What a credential can access. An empty scope grants no access, except to requests that are always allowed. Without a scope, there is no restriction.",
  {
    roles: [listOf(SCOPE_ROLE), "Roles that the credential has."],
    projects: [listOf(SCOPE_PROJECT), "Projects that the credential can access."],
    spaces: [listOf(SCOPE_SPACE), "Spaces of projects that the credential can access."],
    virtualClusters: [listOf(SCOPE_VIRTUAL_CLUSTER), "Virtual clusters that the credential can access."],
    clusters: [listOf(SCOPE_CLUSTER), "Connected clusters that the credential can access."],
    rules: [listOf(SCOPE_RULE), "Requests that the credential may make. Deprecated: use projects, spaces and virtualClusters."],
    allowPlatformCli: [bool, "If true, the credential has the platformCLI role. Deprecated: use roles."],
  },
);
