/**
 * Evaluates a single rule. Source: the evaluation helpers of Kubernetes' RBAC authorizer.
 *
 * @module
 */
import type { Attributes, PolicyRule } from "../../apiserver/access/authorization.ts";

const ALL = "*";
const NOTHING: readonly string[] = [];

/**
 * Reports whether a rule allows a request. The namespace of the rule is checked elsewhere.
 *
 * @example
 * ruleAllows({ verbs: ["get"], nonResourceURLs: ["/healthz/*"] }, { verb: "get", path: "/healthz/etcd" }); // true
 */
export function ruleAllows(rule: PolicyRule, attributes: Attributes): boolean {
  if (!hasOrAll(rule.verbs, attributes.verb)) return false;
  if ("path" in attributes) return (rule.nonResourceURLs ?? NOTHING).some((pattern) => pathMatches(pattern, attributes.path));
  const { group, resource, subresource, name } = attributes;
  const { apiGroups = NOTHING, resources = NOTHING, resourceNames = NOTHING } = rule;
  return (
    hasOrAll(apiGroups, group) &&
    resources.some((pattern) => resourceMatches(pattern, resource, subresource)) &&
    (resourceNames.length === 0 || resourceNames.includes(name))
  );
}

function hasOrAll(list: readonly string[], wanted: string): boolean {
  return list.includes(wanted) || list.includes(ALL);
}

/** `*` matches everything, including subresources; `*` before a slash matches that subresource of every resource. */
function resourceMatches(pattern: string, resource: string, subresource: string): boolean {
  if (pattern === ALL) return true;
  if (subresource === "") return pattern === resource;
  return pattern === `${resource}/${subresource}` || pattern === `${ALL}/${subresource}`;
}

/** Only a `*` at the end is a wildcard. */
function pathMatches(pattern: string, path: string): boolean {
  return pattern === ALL || pattern === path || (pattern.endsWith(ALL) && path.startsWith(pattern.replace(/\*+$/, "")));
}

/**
 * Splits a rule into rules for a single verb on a single resource or path.
 *
 * @example
 * simpleRules({ verbs: ["get", "list"], apiGroups: [""], resources: ["pods"] }); // one with get, one with list
 */
export function* simpleRules(rule: PolicyRule): Generator<PolicyRule> {
  const { verbs, apiGroups = NOTHING, resources = NOTHING, resourceNames = NOTHING, nonResourceURLs = NOTHING } = rule;
  for (const url of nonResourceURLs) for (const verb of verbs) yield { verbs: [verb], nonResourceURLs: [url] };
  const names = resourceNames.length === 0 ? [undefined] : resourceNames;
  for (const group of apiGroups) {
    for (const resource of resources) {
      for (const name of names) for (const verb of verbs) yield simpleRule({ group, resource, name, verb });
    }
  }
}

/** The number of rules that {@link simpleRules} yields, computed without creating them. */
export function simpleRuleCount(rule: PolicyRule): number {
  const { verbs, apiGroups = NOTHING, resources = NOTHING, resourceNames = NOTHING, nonResourceURLs = NOTHING } = rule;
  return verbs.length * (nonResourceURLs.length + apiGroups.length * resources.length * Math.max(1, resourceNames.length));
}

function simpleRule({ group, resource, name, verb }: { group: string; resource: string; name: string | undefined; verb: string }) {
  return { verbs: [verb], apiGroups: [group], resources: [resource], ...(name !== undefined && { resourceNames: [name] }) };
}

/** Reports whether `owned` allows everything that a simple rule allows. */
export function ruleCovers(owned: PolicyRule, { verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): boolean {
  if (!hasOrAll(owned.verbs, verbs[0]!)) return false;
  if (nonResourceURLs !== undefined) return (owned.nonResourceURLs ?? NOTHING).some((pattern) => pathMatches(pattern, nonResourceURLs[0]!));
  const names = owned.resourceNames ?? NOTHING;
  return (
    hasOrAll(owned.apiGroups ?? NOTHING, apiGroups![0]!) &&
    (owned.resources ?? NOTHING).some((pattern) => resourceCovers(pattern, resources![0]!)) &&
    (names.length === 0 || (resourceNames !== undefined && names.includes(resourceNames[0]!)))
  );
}

function resourceCovers(pattern: string, resource: string): boolean {
  const slash = resource.indexOf("/");
  return pattern === ALL || pattern === resource || (slash >= 0 && pattern === `${ALL}${resource.slice(slash)}`);
}
