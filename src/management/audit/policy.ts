/**
 * Decides which requests are logged, and in how much detail. Pure. Matching follows Kubernetes' audit policies, with `*` for all in
 * every list. Source: `audit.k8s.io/v1` Policy.
 *
 * @module
 */
import type { AuditFacts } from "../../apiserver/access/audit.ts";
import type { Attributes, ResourceAttributes } from "../../apiserver/access/authorization.ts";
import type { ManagementConfig } from "../config/effective.ts";

/** `audit` of the configuration. */
export type AuditSettings = ManagementConfig["audit"];
/** `audit.policy`. */
export type AuditPolicy = NonNullable<AuditSettings["policy"]>;
/** One of its rules. */
export type AuditRule = NonNullable<AuditPolicy["rules"]>[number];
/** How much is written, from nothing to both bodies. */
export type AuditLevel = AuditRule["level"];
/** A stage of a request that leaves a line. */
export type AuditStage = NonNullable<AuditPolicy["omitStages"]>[number];

/** The level and the omitted stages for one request. */
export interface AuditDecision {
  readonly level: AuditLevel;
  readonly omitStages: ReadonlySet<AuditStage>;
}

const ALL = "*";
/** The target of requests that are audited here; others go to connected clusters, which keep logs of their own. */
const TARGET = "Management";

/**
 * Returns the level of the first rule that matches (None without a match), and the stages that the policy or this rule omits. Rules match
 * the user that the credentials name, not an impersonated user.
 *
 * @example
 * decideAudit({ rules: [{ level: "Metadata", verbs: ["create"] }] }, facts).level; // "Metadata"
 */
export function decideAudit(policy: AuditPolicy, facts: Pick<AuditFacts, "user" | "attributes">): AuditDecision {
  const rule = policy.rules?.find((one) => matches(one, facts));
  return { level: rule?.level ?? "None", omitStages: new Set([...(policy.omitStages ?? []), ...(rule?.omitStages ?? [])]) };
}

function matches(rule: AuditRule, { user, attributes }: Pick<AuditFacts, "user" | "attributes">): boolean {
  if (isGiven(rule.clusters) || !allows(rule.requestTargets, TARGET)) return false;
  if (isGiven(rule.users) && (user === undefined || !allows(rule.users, user.name))) return false;
  if (isGiven(rule.userGroups) && user?.groups.some((group) => allows(rule.userGroups, group)) !== true) return false;
  return allows(rule.verbs, attributes.verb) && matchesSubject(rule, attributes);
}

/** A rule that lists resources or namespaces applies to resources, one that lists paths to paths, and one with both to both. */
function matchesSubject({ resources, namespaces, nonResourceURLs }: AuditRule, attributes: Attributes): boolean {
  const ofResources = isGiven(resources) || isGiven(namespaces);
  if (!ofResources && !isGiven(nonResourceURLs)) return true;
  if ("path" in attributes) return isGiven(nonResourceURLs) && nonResourceURLs.some((pattern) => matchesPath(pattern, attributes.path));
  if (!ofResources || !allows(namespaces, attributes.namespace)) return false;
  return !isGiven(resources) || resources.some((one) => matchesResource(one, attributes));
}

function matchesResource(rule: NonNullable<AuditRule["resources"]>[number], wanted: ResourceAttributes): boolean {
  const { group = "", resources, resourceNames } = rule;
  if (group !== ALL && group !== wanted.group) return false;
  return allows(resourceNames, wanted.name) && (!isGiven(resources) || resources.some((pattern) => matchesPlural(pattern, wanted)));
}

function matchesPlural(pattern: string, { resource, subresource }: ResourceAttributes): boolean {
  if (pattern === ALL) return true;
  if (subresource === "") return pattern === resource;
  return [`${resource}/${subresource}`, `${ALL}/${subresource}`, `${resource}/${ALL}`].includes(pattern);
}

function matchesPath(pattern: string, path: string): boolean {
  return pattern.endsWith(ALL) ? path.startsWith(pattern.slice(0, -1)) : path === pattern;
}

function isGiven<Item>(list: readonly Item[] | undefined): list is readonly Item[] {
  return list !== undefined && list.length > 0;
}

/** An empty list does not restrict. */
function allows(list: readonly string[] | undefined, value: string): boolean {
  return !isGiven(list) || list.includes(value) || list.includes(ALL);
}
