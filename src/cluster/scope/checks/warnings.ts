import { suggest } from "../../../base/suggest.ts";
import { PLATFORM_CLI_ROLES, REQUEST_TARGETS, grantsOf, roleGrants, ruleGrants, type ScopeOptions } from "../grants.ts";
import { WILDCARD } from "../patterns/pattern.ts";
import type { AccessScope, ScopeResources, ScopeRole, ScopeRule } from "../types.ts";

/** Most warnings that are listed; one more counts the rest. */
const WARNINGS_MAX = 20;

/**
 * Warnings about a valid scope: deprecated fields, entries that allow nothing, names without a meaning. At most 20 warnings, and
 * one that counts the rest.
 *
 * @param field - Where the scope is, for example `spec.scope`.
 * @example
 * scopeWarnings({}, "spec.scope"); // ["spec.scope: allows nothing"]
 */
export function scopeWarnings(scope: AccessScope, field: string, options: ScopeOptions = {}): string[] {
  const nothing = grantsOf(scope, options).length === 0 ? [`${field}: allows nothing`] : [];
  const all = [...nothing, ...deprecations(scope, field), ...selections(scope, field)];
  all.push(...(scope.roles ?? []).flatMap((role, at) => roleWarnings(role, `${field}.roles[${at}]`, options)));
  all.push(...(scope.rules ?? []).flatMap((rule, at) => ruleWarnings(rule, `${field}.rules[${at}]`, options)));
  const rest = all.length - WARNINGS_MAX;
  return rest <= 0 ? all : [...all.slice(0, WARNINGS_MAX), `${field}: ${rest} more`];
}

function deprecations({ rules = [], allowPlatformCli = false }: AccessScope, field: string): string[] {
  return [
    ...(rules.length > 0 ? [`${field}.rules: deprecated; use projects, spaces and virtualClusters`] : []),
    ...(allowPlatformCli ? [`${field}.allowPlatformCli: deprecated; use roles with the role "platformCLI"`] : []),
  ];
}

/** Entries that lack a name. */
function selections({ projects = [], spaces = [], virtualClusters = [], clusters = [] }: AccessScope, field: string): string[] {
  const lists = {
    projects: projects.map(({ project }) => ({ project })),
    spaces: spaces.map(({ project, space }) => ({ project, space })),
    virtualClusters: virtualClusters.map(({ project, virtualCluster }) => ({ project, virtualCluster })),
    clusters: clusters.map(({ cluster }) => ({ cluster })),
  };
  return Object.entries(lists).flatMap(([list, entries]) =>
    entries.flatMap((entry, at) =>
      Object.entries(entry)
        .filter(([, name = ""]) => name === "")
        .map(([name]) => `${field}.${list}[${at}].${name}: empty, so the entry selects nothing; "*" selects all`),
    ),
  );
}

function roleWarnings(entry: ScopeRole, field: string, options: ScopeOptions): string[] {
  const { role = "" } = entry;
  if (!PLATFORM_CLI_ROLES.includes(role)) {
    return [`${field}.role: unknown role ${JSON.stringify(role)} allows nothing; ${known(role, PLATFORM_CLI_ROLES.slice(0, 1))}`];
  }
  return roleGrants(entry, options).length === 0
    ? [`${field}: allows nothing, because the role ${JSON.stringify(role)} applies to projects only`]
    : [];
}

function ruleWarnings(rule: ScopeRule, field: string, options: ScopeOptions): string[] {
  const { namespaces = [], requestTargets = [], nonResourceURLs = [], resources = [] } = rule;
  const idle = ruleGrants(rule, options).length === 0 ? [`${field}: allows nothing, because no request can match it`] : [];
  const unknown = requestTargets.flatMap((target, at) =>
    REQUEST_TARGETS.includes(target)
      ? []
      : [
          `${field}.requestTargets[${at}]: unknown request target ${JSON.stringify(target)} matches nothing; ${known(target, REQUEST_TARGETS)}`,
        ],
  );
  return [
    ...idle,
    ...unknown,
    ...resources.flatMap((item, at) => resourceWarnings(item, `${field}.resources[${at}]`)),
    ...namespaces.flatMap((name, at) => noWildcard(name, `${field}.namespaces[${at}]`)),
    ...nonResourceURLs.flatMap((path, at) =>
      path === WILDCARD || path.startsWith("/") ? [] : [`${field}.nonResourceURLs[${at}]: matches nothing, because paths begin with "/"`],
    ),
  ];
}

function resourceWarnings({ group = "", resourceNames = [] }: ScopeResources, field: string): string[] {
  return [
    ...noWildcard(group, `${field}.group`, "leave the rule's resources empty to match all groups"),
    ...resourceNames.flatMap((name, at) => noWildcard(name, `${field}.resourceNames[${at}]`)),
  ];
}

function noWildcard(name: string, field: string, remedy = "leave the list empty to match all"): string[] {
  return name === WILDCARD ? [`${field}: "*" is not a wildcard here and matches nothing; ${remedy}`] : [];
}

function known(name: string, names: readonly string[]): string {
  const near = suggest(name, names);
  const list = names.map((each) => JSON.stringify(each)).join(", ");
  return near === undefined ? `known: ${list}` : `did you mean ${JSON.stringify(near)}?`;
}
