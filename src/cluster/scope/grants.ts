/**
 * The entries of a scope as sets of allowed requests. Decisions on requests and comparisons of scopes both use these sets, so that they
 * cannot disagree.
 *
 * @module
 */
import { ALL, NAMED, UNNAMED, WILDCARD, these, type Pattern } from "./patterns/pattern.ts";
import { resourcePattern } from "./patterns/resource-pattern.ts";
import type { AccessScope, RuleVirtualCluster, ScopeResources, ScopeRole, ScopeRule, Target } from "./types.ts";

/** Settings of the platform that scopes depend on. */
export interface ScopeOptions {
  /** Prefix of a project's namespace; Config's `projectNamespacePrefix`. Default `p-`. */
  readonly projectNamespacePrefix?: string;
}

/** A pattern for each coordinate, in a fixed order; a point is in the box when each of its coordinates matches. */
export type Box = readonly Pattern[];

/** Requests that go to one of `places` and match one of `resources` or `paths`. */
export interface ScopeGrant {
  readonly kind: Target["kind"];
  /** Coordinates for `cluster`: cluster, project, space; for `virtualCluster`: project, virtual cluster; for `management`: none. */
  readonly places: readonly Box[];
  /** Verb, API group, resource, subresource, namespace, name. */
  readonly resources: readonly Box[];
  /** Verb, path. */
  readonly paths: readonly Box[];
}

/** Spellings of the role's name; the first is that of the published API. */
export const PLATFORM_CLI_ROLES = ["platformCLI", "platform-cli"];

/** Names in rules for requests to management, clusters, spaces and virtual clusters, in this order. */
export const REQUEST_TARGETS = ["Management", "Cluster", "ProjectSpace", "ProjectVirtualCluster"];

const MANAGEMENT_GROUP = "management.platform";
const DEFAULT_PREFIX = "p-";

const HERE: readonly Box[] = [[]];
const EVERY_RESOURCE: readonly Box[] = [[ALL, ALL, ALL, ALL, ALL, ALL]];
const EVERY_PATH: readonly Box[] = [[ALL, ALL]];
const EVERYTHING = { resources: EVERY_RESOURCE, paths: EVERY_PATH };

/** The grants of a user without a scope: everything. */
export const UNLIMITED: readonly ScopeGrant[] = [
  { kind: "management", places: HERE, ...EVERYTHING },
  { kind: "cluster", places: [[ALL, ALL, ALL]], ...EVERYTHING },
  { kind: "virtualCluster", places: [[ALL, ALL]], ...EVERYTHING },
];

/**
 * Returns the grants of a scope, in addition to what is always allowed. Entries that cannot allow anything are left out.
 *
 * @example
 * grantsOf({ clusters: [{ cluster: "c1" }] }); // everything in c1
 */
export function grantsOf(scope: AccessScope, options: ScopeOptions = {}): ScopeGrant[] {
  const { roles = [], rules = [], allowPlatformCli = false } = scope;
  return [
    ...(allowPlatformCli ? roleGrants({ role: PLATFORM_CLI_ROLES[0]! }, options) : []),
    ...roles.flatMap((role) => roleGrants(role, options)),
    ...projectGrants(scope, options),
    ...clusterGrants(scope),
    ...virtualClusterGrants(scope),
    ...rules.flatMap((rule) => ruleGrants(rule, options)),
  ];
}

/** Grants of a role: the platform's command line can read all management objects, or only those of the listed projects. */
export function roleGrants({ role = "", projects = [], virtualClusters = [] }: ScopeRole, options: ScopeOptions = {}): ScopeGrant[] {
  if (!PLATFORM_CLI_ROLES.includes(role)) return [];
  const unlimited = projects.length === 0 && virtualClusters.length === 0;
  const namespaces = unlimited ? [ALL] : namespacesOf(projects, options);
  const reads = these("get", "list", "watch");
  const resources = namespaces.map((namespace) => [reads, these(MANAGEMENT_GROUP), ALL, ALL, namespace, ALL]);
  return resources.length === 0 ? [] : [{ kind: "management", places: HERE, resources, paths: [] }];
}

function projectGrants({ projects = [] }: AccessScope, options: ScopeOptions): ScopeGrant[] {
  const names = projects.map(({ project = "" }) => project);
  const namespaces = namespacesOf(names, options);
  if (namespaces.length === 0) return [];
  const resources = namespaces.map((namespace) => [ALL, ALL, ALL, ALL, namespace, ALL]);
  const places = selected(names, NAMED).map((project) => [ALL, project, ALL]);
  return [
    { kind: "management", places: HERE, resources, paths: [] },
    { kind: "cluster", places, ...EVERYTHING },
  ];
}

/** Patterns of the namespaces that belong to projects: the prefix and the project's name; for `*`, everything with the prefix. */
function namespacesOf(projects: readonly string[], { projectNamespacePrefix: prefix = DEFAULT_PREFIX }: ScopeOptions): Pattern[] {
  if (projects.includes(WILDCARD)) return [{ below: prefix }];
  const names = projects.filter((project) => project !== "");
  return names.length === 0 ? [] : [these(...names.map((project) => prefix + project))];
}

function clusterGrants({ clusters = [], spaces = [] }: AccessScope): ScopeGrant[] {
  const names = clusters.map(({ cluster = "" }) => cluster);
  const places: Box[] = [
    ...selected(names, ALL).map((cluster) => [cluster, ALL, ALL]),
    ...pairs(spaces.map(({ project = "", space = "" }) => [project, space])).map((place) => [ALL, ...place]),
  ];
  return places.length === 0 ? [] : [{ kind: "cluster", places, ...EVERYTHING }];
}

function virtualClusterGrants({ virtualClusters = [] }: AccessScope): ScopeGrant[] {
  const places = pairs(virtualClusters.map(({ project = "", virtualCluster = "" }) => [project, virtualCluster]));
  return places.length === 0 ? [] : [{ kind: "virtualCluster", places, ...EVERYTHING }];
}

/** One pattern for all names, or `every` for the wildcard; empty when there is no name. */
function selected(names: readonly string[], every: Pattern): Pattern[] {
  if (names.includes(WILDCARD)) return [every];
  const given = names.filter((name) => name !== "");
  return given.length === 0 ? [] : [these(...given)];
}

/** A box for each project, with all its names. A pair with a missing part selects nothing. */
function pairs(entries: readonly (readonly [project: string, name: string])[]): Box[] {
  const byProject = new Map<string, string[]>();
  for (const [project, name] of entries) {
    const names = byProject.get(project);
    if (names === undefined) byProject.set(project, [name]);
    else names.push(name);
  }
  return [...byProject].flatMap(([project, names]) =>
    selected([project], NAMED).flatMap((place) => selected(names, NAMED).map((name) => [place, name])),
  );
}

/** Grants of a rule: requests that match everything it lists. */
export function ruleGrants(rule: ScopeRule, options: ScopeOptions = {}): ScopeGrant[] {
  const deeds = { resources: resourceBoxes(rule), paths: pathBoxes(rule) };
  return rulePlaces(rule, options).map((where) => ({ ...where, ...deeds }));
}

function rulePlaces(rule: ScopeRule, options: ScopeOptions): Pick<ScopeGrant, "kind" | "places">[] {
  const { cluster = "", virtualClusters = [], requestTargets = [] } = rule;
  const limited = virtualClusters.length > 0;
  const wanted = (target: string): boolean => requestTargets.length === 0 || requestTargets.includes(target);
  const [management, inClusters, spaces, inVirtualClusters] = REQUEST_TARGETS.map(wanted);
  const where: Pick<ScopeGrant, "kind" | "places">[] = [];
  if (management && cluster === "" && !limited) where.push({ kind: "management", places: HERE });
  if ((inClusters || spaces) && !limited) {
    const name = cluster === "" || cluster === WILDCARD ? ALL : these(cluster);
    where.push({ kind: "cluster", places: [[name, ALL, inClusters ? (spaces ? ALL : UNNAMED) : NAMED]] });
  }
  if (inVirtualClusters && cluster === "") {
    const places = limited ? virtualClusters.flatMap((entry) => virtualClusterPlace(entry, options)) : [[ALL, ALL]];
    if (places.length > 0) where.push({ kind: "virtualCluster", places });
  }
  return where;
}

/** Rules name the namespace of a project instead of the project. */
function virtualClusterPlace({ name = "", namespace = "" }: RuleVirtualCluster, options: ScopeOptions): Box[] {
  const { projectNamespacePrefix: prefix = DEFAULT_PREFIX } = options;
  const virtualCluster = name === "" || name === WILDCARD ? ALL : these(name);
  if (namespace === "" || namespace === WILDCARD) return [[ALL, virtualCluster]];
  return namespace.startsWith(prefix) ? [[these(namespace.slice(prefix.length)), virtualCluster]] : [];
}

function resourceBoxes({ verbs, resources = [], namespaces = [], nonResourceURLs = [] }: ScopeRule): Box[] {
  if (resources.length === 0 && namespaces.length === 0 && nonResourceURLs.length > 0) return [];
  const verb = verbPattern(verbs);
  const namespace = namespaces.length === 0 ? ALL : these(...namespaces);
  if (resources.length === 0) return [[verb, ALL, ALL, ALL, namespace, ALL]];
  return resources.flatMap((item) =>
    groupBoxes(item).map(([group, resource, part, name]) => [verb, group!, resource!, part!, namespace, name!]),
  );
}

/** API group, resource, subresource and name. */
function groupBoxes({ group = "", resources = [], resourceNames = [] }: ScopeResources): Box[] {
  const patterns = (resources.length === 0 ? [WILDCARD] : resources).map(resourcePattern);
  const names = resourceNames.length === 0 ? ALL : these(...resourceNames);
  const groups = these(group);
  return patterns.map(({ resource, subresource }) => [groups, resource, subresource, names]);
}

function pathBoxes({ verbs, resources = [], namespaces = [], nonResourceURLs = [] }: ScopeRule): Box[] {
  const verb = verbPattern(verbs);
  if (nonResourceURLs.length > 0) return nonResourceURLs.flatMap(pathPatterns).map((path) => [verb, path]);
  return resources.length === 0 && namespaces.length === 0 ? [[verb, ALL]] : [];
}

/** `/a/*` means everything below `/a/`, at any depth, and `/a/` itself. */
function pathPatterns(path: string): Pattern[] {
  if (path === WILDCARD) return [ALL];
  const parent = path.slice(0, -WILDCARD.length);
  return path.endsWith(`/${WILDCARD}`) ? [these(parent), { below: parent }] : [these(path)];
}

function verbPattern(verbs: readonly string[] = []): Pattern {
  return verbs.length === 0 || verbs.includes(WILDCARD) ? ALL : these(...verbs);
}
