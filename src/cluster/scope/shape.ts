import { bool, described, fields, list, text } from "../../apiserver/types/objects/shape.ts";
import type { Field, Shape } from "../../apiserver/types/objects/shape.ts";

/** An object of a scope with its texts; every field is left out when it is empty. */
function entry(name: string, description: string, own: Readonly<Record<string, readonly [Shape | Field, string]>>) {
  const shapes = Object.fromEntries(Object.entries(own).map(([field, [shape]]) => [field, shape]));
  const texts = Object.fromEntries(Object.entries(own).map(([field, [, about]]) => [field, about]));
  return described(fields(shapes), { name, description, fields: texts });
}

const SCOPE_ROLE = entry("AccessScopeRole", "A role, and where it applies.", {
  role: [text, "Name of the role: platformCLI."],
  projects: [list(text), "Projects in which the role applies, * for all. Without lists, it applies wherever it can."],
  virtualClusters: [list(text), "Virtual clusters in which the role applies, * for all."],
});

const SCOPE_PROJECT = entry("AccessScopeProject", "A project.", { project: [text, "Name of the project, * for all."] });

const SCOPE_SPACE = entry("AccessScopeSpace", "A space of a project.", {
  project: [text, "Name of the project, * for all."],
  space: [text, "Name of the space, * for all."],
});

const SCOPE_VIRTUAL_CLUSTER = entry("AccessScopeVirtualCluster", "A virtual cluster of a project.", {
  project: [text, "Name of the project, * for all."],
  virtualCluster: [text, "Name of the virtual cluster, * for all."],
});

const SCOPE_CLUSTER = entry("AccessScopeCluster", "A connected cluster.", { cluster: [text, "Name of the cluster, * for all."] });

const SCOPE_RESOURCES = entry("AccessScopeRuleResources", "Resources of one API group.", {
  group: [text, "The API group; empty for the core group."],
  resources: [
    list(text),
    "Resources such as pods, subresources such as pods/log, * for all with their subresources, pods/* for all subresources of one, */scale for one subresource of all. Empty for all. No entry may repeat what a wildcard covers.",
  ],
  resourceNames: [list(text), "Names of objects; needs resources. Empty for all."],
});

const RULE_VIRTUAL_CLUSTER = entry("AccessScopeRuleVirtualCluster", "A virtual cluster.", {
  name: [text, "Name of the virtual cluster; empty for all."],
  namespace: [text, "Namespace of its project; empty for all."],
});

const SCOPE_RULE = entry("AccessScopeRule", "Which requests match. An empty list does not restrict.", {
  verbs: [list(text), "Verbs; empty for every verb."],
  resources: [list(SCOPE_RESOURCES), "Resources; empty for all resources of all groups."],
  namespaces: [list(text), "Namespaces; an empty string matches requests without a namespace. Empty for every namespace."],
  nonResourceURLs: [list(text), "Paths that are not resources. * may be the whole last segment of a path."],
  requestTargets: [list(text), "Where requests go: Management, Cluster, ProjectSpace, ProjectVirtualCluster. Empty for every request."],
  cluster: [text, "Name of the connected cluster that requests must go to. Empty does not restrict."],
  virtualClusters: [list(RULE_VIRTUAL_CLUSTER), "Virtual clusters that requests must go to. Empty does not restrict."],
});

/** Shape of an access scope in the published API. Empty fields are left out. */
export const ACCESS_SCOPE = entry("AccessScope", "What a credential may reach. With no entry it reaches nothing.", {
  roles: [list(SCOPE_ROLE), "Roles that the credential has."],
  projects: [list(SCOPE_PROJECT), "Projects that the credential reaches."],
  spaces: [list(SCOPE_SPACE), "Spaces of projects that the credential reaches."],
  virtualClusters: [list(SCOPE_VIRTUAL_CLUSTER), "Virtual clusters that the credential reaches."],
  clusters: [list(SCOPE_CLUSTER), "Connected clusters that the credential reaches."],
  rules: [list(SCOPE_RULE), "Requests that the credential may make. Deprecated: use projects, spaces and virtualClusters."],
  allowPlatformCli: [bool, "True for the role platformCLI. Deprecated: use roles."],
});
