import type { LabelSelector } from "../../kube/object/selector.ts";
import type { KubeObject } from "../../kube/object/types.ts";

/** A ClusterRole that combines those that its selectors select. */
export interface AggregatedRole extends KubeObject {
  readonly aggregationRule: { readonly clusterRoleSelectors: readonly LabelSelector[] };
}

/** Reports whether a ClusterRole combines the rules of others. */
export function hasAggregationRule(role: KubeObject): role is AggregatedRole {
  const { aggregationRule } = role as Partial<AggregatedRole>;
  return (aggregationRule?.clusterRoleSelectors ?? []).length > 0;
}
