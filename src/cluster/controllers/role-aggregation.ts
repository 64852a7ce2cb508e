import { isEngineError } from "../../base/errors.ts";
import { jsonEqual } from "../../base/json.ts";
import { matchesSelector, selectorOf } from "../../kube/object/selector.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import type { PolicyRule } from "../../apiserver/access/authorization.ts";
import type { Registry } from "../../apiserver/verbs/registry.ts";
import { storePrefix } from "../../apiserver/verbs/resource-context.ts";
import type { StoreEvent } from "../../apiserver/store/store.ts";
import { hasAggregationRule, type AggregatedRole } from "../rbac/aggregation.ts";
import { CLUSTER_ROLES } from "../rbac/resources.ts";
import { createClusterController, type ClusterController, type ClusterControllerOptions } from "./controller.ts";
import { createKeyWorker } from "./key-worker.ts";

/** The field manager that owns the rules. Source: the ClusterRole aggregation controller. */
const MANAGER = "clusterrole-aggregation-controller";
const PREFIX = storePrefix(CLUSTER_ROLES);

/**
 * Gives every ClusterRole with an `aggregationRule` the rules of the ClusterRoles that this field selects. Each rule appears once; the
 * order is that of the selected ClusterRoles' names.
 * Source: the ClusterRole aggregation controller.
 */
export async function startRoleAggregation({ registry, store, logger }: ClusterControllerOptions): Promise<ClusterController> {
  const reconcile = async (name: string) => {
    const roles = (await store.list({ prefix: PREFIX })).objects.map(({ object }) => object);
    const role = roles.find(({ metadata }) => metadata.name === name);
    if (role !== undefined && hasAggregationRule(role)) await writeRules(registry, role, aggregatedRules(role, roles));
  };
  const worker = createKeyWorker({ name: "role aggregation", logger, reconcile });
  const aggregated = new Set<string>();
  const note = (role: KubeObject) => void (hasAggregationRule(role) && aggregated.add(role.metadata.name!));
  // Any ClusterRole may be part of any other.
  const checkAll = () => aggregated.forEach((name) => worker.add(name));
  const onEvent = ({ type, object }: StoreEvent) => {
    aggregated.delete(object.metadata.name!);
    if (type !== "deleted") note(object);
    checkAll();
  };
  const present = await store.list({ prefix: PREFIX });
  for (const { object } of present.objects) note(object);
  checkAll();
  const watch = await store.watch({ prefix: PREFIX, after: present.revision, onEvent });
  return createClusterController(worker, [watch]);
}

/** Requires the version of the role that was read, so that a rule that its author has just changed is not overlooked. */
async function writeRules(registry: Registry, role: AggregatedRole, rules: readonly PolicyRule[]): Promise<void> {
  if (jsonEqual(rules, role["rules"] ?? [])) return;
  try {
    await registry.update(CLUSTER_ROLES, { namespace: "", name: role.metadata.name! }, { ...role, rules }, { fieldManager: MANAGER });
  } catch (error) {
    // A deleted role needs no rules.
    if (!isEngineError(error, "API_NOT_FOUND")) throw error;
  }
}

/**
 * Collects the rules of all roles that selectors lead to and that are not aggregated themselves. The current rules of aggregated parts do
 * not count: roles that select each other in a circle would pass them on forever.
 */
function aggregatedRules(role: AggregatedRole, roles: readonly KubeObject[]): readonly PolicyRule[] {
  const visited = new Set<KubeObject>([role]);
  const rules = new Map<string, PolicyRule>();
  const visit = (whole: AggregatedRole) => {
    for (const part of partsOf(whole, roles)) {
      if (visited.has(part)) continue;
      visited.add(part);
      if (hasAggregationRule(part)) visit(part);
      else for (const rule of (part["rules"] ?? []) as readonly PolicyRule[]) rules.set(JSON.stringify(rule), rule);
    }
  };
  visit(role);
  return [...rules.values()];
}

function partsOf({ aggregationRule }: AggregatedRole, roles: readonly KubeObject[]): readonly KubeObject[] {
  const selectors = aggregationRule.clusterRoleSelectors.map(selectorOf);
  return roles.filter(({ metadata }) => selectors.some((selector) => matchesSelector(selector, metadata.labels)));
}
