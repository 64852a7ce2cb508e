import type { LabelSelector } from "../../kube/object/selector.ts";
import type { KubeObject } from "../../kube/object/types.ts";

/** A ClusterRole that is made of those that one of its selectors selects. */
export interface AggregatedRole extends KubeObject {
  readonly aggregationRule: { readonly clusterRoleSelectors: readonly LabelSelector[] };
}

/** Tells whether a ClusterRole is made of others. */
export function hasAggregationRule(role: KubeObject): role is AggregatedRole {
  const { aggregationRule } = role as Partial<AggregatedRole>;
  return (aggregationRule?.clusterRoleSelectors ?? []).length > 0;
}
