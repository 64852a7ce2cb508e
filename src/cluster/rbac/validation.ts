import { jsonEqual } from "../../base/json.ts";
import { isEngineError } from "../../base/errors.ts";
import { selectorOf, type LabelSelector } from "../../kube/object/selector.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import type { PolicyRule } from "../../apiserver/access/authorization.ts";
import { invalid, notSupported, required, type FieldError } from "../../apiserver/types/field-error.ts";
import { dnsSubdomain, pathSegment } from "../../apiserver/types/objects/names.ts";
import type { AggregatedRole } from "./aggregation.ts";
import type { Binding, RoleRef, Subject } from "./policy.ts";
import { CLUSTER_ROLES, RBAC_GROUP, ROLES } from "./resources.ts";

/** The errors in a Role (`namespaced`) or ClusterRole. */
export function validateRole(object: KubeObject, { namespaced }: { readonly namespaced: boolean }): FieldError[] {
  const rules = (object["rules"] ?? []) as readonly PolicyRule[];
  const errors = rules.flatMap((rule, index) => validateRule(rule, { field: `rules[${index}]`, namespaced }));
  const aggregation = object["aggregationRule"] as Partial<AggregatedRole["aggregationRule"]> | undefined;
  const selectors = aggregation?.clusterRoleSelectors ?? [];
  if (aggregation === undefined || selectors.length > 0) return [...errors, ...selectors.flatMap(selectorErrors)];
  const why = "at least one clusterRoleSelector required if aggregationRule is non-nil";
  return [...errors, required("aggregationRule.clusterRoleSelectors", why)];
}

function selectorErrors(selector: LabelSelector, index: number): FieldError[] {
  try {
    selectorOf(selector);
    return [];
  } catch (error) {
    if (!isEngineError(error, "API_BAD_REQUEST")) throw error;
    return [invalid(`aggregationRule.clusterRoleSelectors[${index}]`, selector, error.message)];
  }
}

function validateRule(rule: PolicyRule, { field, namespaced }: { field: string; namespaced: boolean }): FieldError[] {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const verbErrors = (verbs ?? []).length > 0 ? [] : [required(`${field}.verbs`, "verbs must contain at least one value")];
  const urls = `${field}.nonResourceURLs`;
  if (nonResourceURLs.length > 0) {
    const mixed = apiGroups.length > 0 || resources.length > 0 || resourceNames.length > 0;
    return [
      ...verbErrors,
      ...(namespaced ? [invalid(urls, nonResourceURLs, "namespaced rules cannot apply to non-resource URLs")] : []),
      ...(mixed ? [invalid(urls, nonResourceURLs, "rules cannot apply to both regular resources and non-resource URLs")] : []),
    ];
  }
  return [
    ...verbErrors,
    ...(apiGroups.length > 0 ? [] : [required(`${field}.apiGroups`, "resource rules must supply at least one api group")]),
    ...(resources.length > 0 ? [] : [required(`${field}.resources`, "resource rules must supply at least one resource")]),
  ];
}

/** The errors in a RoleBinding (`namespaced`) or ClusterRoleBinding, including its change. */
export function validateBinding(
  object: KubeObject,
  old: KubeObject | undefined,
  { namespaced }: { readonly namespaced: boolean },
): FieldError[] {
  const { roleRef, subjects = [] } = object as Binding;
  const changed = old !== undefined && !jsonEqual(roleRef, (old as Binding).roleRef);
  return [
    ...validateRoleRef(roleRef, namespaced ? [CLUSTER_ROLES.kind, ROLES.kind] : [CLUSTER_ROLES.kind]),
    ...subjects.flatMap((subject, index) => validateSubject(subject, { field: `subjects[${index}]`, namespaced })),
    ...(changed ? [invalid("roleRef", roleRef, "cannot change roleRef")] : []),
  ];
}

function validateRoleRef({ apiGroup, kind, name }: RoleRef, kinds: readonly string[]): FieldError[] {
  return [
    ...(apiGroup === RBAC_GROUP ? [] : [notSupported("roleRef.apiGroup", apiGroup, [RBAC_GROUP])]),
    ...(kinds.includes(kind) ? [] : [notSupported("roleRef.kind", kind, kinds)]),
    ...(name === "" ? [required("roleRef.name")] : pathSegment(name).map((detail) => invalid("roleRef.name", name, detail))),
  ];
}

const SUBJECT_KINDS = ["Group", "ServiceAccount", "User"];

function validateSubject(subject: Subject, { field, namespaced }: { field: string; namespaced: boolean }): FieldError[] {
  const { kind, apiGroup = "", name, namespace = "" } = subject;
  const account = kind === "ServiceAccount";
  const group = account ? "" : RBAC_GROUP;
  const known = SUBJECT_KINDS.includes(kind);
  const nameErrors = account && name !== "" ? dnsSubdomain(name).map((detail) => invalid(`${field}.name`, name, detail)) : [];
  return [
    ...(name === "" ? [required(`${field}.name`)] : nameErrors),
    ...(known ? [] : [notSupported(`${field}.kind`, kind, SUBJECT_KINDS)]),
    ...(known && apiGroup !== group ? [notSupported(`${field}.apiGroup`, apiGroup, [group])] : []),
    ...(account && !namespaced && namespace === "" ? [required(`${field}.namespace`)] : []),
  ];
}
