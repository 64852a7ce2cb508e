/**
 * The scope of an access key or a token. Without a scope, nothing is limited; with one, at least one of its entries must allow a request.
 *
 * @module
 */

/** A limit of what a credential can access; `{}` allows nothing. Field order is that of the published API. */
export interface AccessScope {
  readonly roles?: readonly ScopeRole[];
  readonly projects?: readonly ScopeProject[];
  readonly spaces?: readonly ScopeSpace[];
  readonly virtualClusters?: readonly ScopeVirtualCluster[];
  readonly clusters?: readonly ScopeCluster[];
  /** Deprecated: use projects, spaces and virtualClusters. */
  readonly rules?: readonly ScopeRule[];
  /** Deprecated: use the role platformCLI. Default false. */
  readonly allowPlatformCli?: boolean;
}

/** A role, which is a named set of permissions, and where it applies. Without lists, it applies everywhere. */
export interface ScopeRole {
  readonly role?: string;
  /** Names of projects, `*` for all. */
  readonly projects?: readonly string[];
  /** Names of virtual clusters, `*` for all. */
  readonly virtualClusters?: readonly string[];
}

/** One project, or all with `*`. */
export interface ScopeProject {
  readonly project?: string;
}

/** One space of a project; `*` in a field selects all. */
export interface ScopeSpace {
  readonly project?: string;
  readonly space?: string;
}

/** One virtual cluster of a project; `*` in a field selects all. */
export interface ScopeVirtualCluster {
  readonly project?: string;
  readonly virtualCluster?: string;
}

/** One connected cluster, or all with `*`. */
export interface ScopeCluster {
  readonly cluster?: string;
}

/** Conditions on requests; an empty or absent list does not restrict. */
export interface ScopeRule {
  readonly verbs?: readonly string[];
  readonly resources?: readonly ScopeResources[];
  /** "" selects cluster-scoped objects. */
  readonly namespaces?: readonly string[];
  /** Paths that are not resources; `*` may be the whole last segment. */
  readonly nonResourceURLs?: readonly string[];
  readonly requestTargets?: readonly string[];
  /** A connected cluster; with it, no other request is allowed. "" does not restrict. */
  readonly cluster?: string;
  /** With an entry, only requests to virtual clusters are allowed. */
  readonly virtualClusters?: readonly RuleVirtualCluster[];
}

/** Resources of one API group. */
export interface ScopeResources {
  /** "" is the core group, also when it is left out. */
  readonly group?: string;
  /** Plurals, `pods/log`, `*`, `pods/*`, or a subresource of all as in `*` + `/scale`; empty for all. */
  readonly resources?: readonly string[];
  /** Names of objects; empty for all. */
  readonly resourceNames?: readonly string[];
}

/** A virtual cluster as scope rules name it; empty fields match all. */
export interface RuleVirtualCluster {
  readonly name?: string;
  /** Namespace of the project to which the virtual cluster belongs. */
  readonly namespace?: string;
}

/** Where a request goes. */
export type Target = ManagementTarget | ClusterTarget | VirtualClusterTarget;

/** The management API itself. */
export interface ManagementTarget {
  readonly kind: "management";
}

/** A connected cluster, or a project's space in it. */
export interface ClusterTarget {
  readonly kind: "cluster";
  readonly cluster: string;
  readonly project?: string;
  readonly space?: string;
}

/** A virtual cluster of a project. */
export interface VirtualClusterTarget {
  readonly kind: "virtualCluster";
  readonly project: string;
  readonly virtualCluster: string;
}
