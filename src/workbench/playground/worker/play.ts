/**
 * One object between two clusters in memory, planned by the syncer's own planner until nothing is left to do.
 *
 * @module
 */
import { SERVICES } from "../../../kube/object/resource.ts";
import { keyOf } from "../../../kube/object/key.ts";
import type { KubeObject, Service } from "../../../kube/object/types.ts";
import { plan } from "../../../engine/reconcile/plan.ts";
import type { Operation, Plan, PlanInput } from "../../../engine/reconcile/plan-types.ts";
import type { Rules } from "../../../engine/reconcile/rules/rules.ts";

/** The object in both clusters. */
export type Sides = Pick<PlanInput, "tenant" | "host">;

/** The clusters once nothing is left to do. */
export interface Settled extends Sides {
  /** The plan before the first write. */
  readonly first: Plan;
  /** False when there was always something left to do. */
  readonly settles: boolean;
}

/** Maximum number of writes. Copying, undoing an edit and recreating together take four; with more, the object never comes to rest. */
const WRITES_MAX = 8;

/** Plans and writes until nothing is left to do. */
export function playToRest(rules: Rules, input: PlanInput): Settled {
  const first = plan(rules, input);
  let sides: Sides = { tenant: input.tenant, host: input.host };
  let { operations } = first;
  for (let writes = 0; writes < WRITES_MAX; writes += 1) {
    if (operations.length === 0) return { ...sides, first, settles: true };
    for (const operation of operations) sides = written(sides, operation);
    ({ operations } = plan(rules, { ...input, ...sides }));
  }
  return { ...sides, first, settles: operations.length === 0 };
}

function written(sides: Sides, operation: Operation): Sides {
  const object = operation.action === "delete" ? undefined : asStored(operation.object);
  if (operation.side === "host") return { ...sides, host: object };
  return { ...sides, tenant: object && withNextVersion(object) };
}

/** The object as an API server stores it: without absent fields and empty maps. */
function asStored(object: KubeObject): KubeObject {
  return withoutEmptyMaps(JSON.parse(JSON.stringify(object)) as KubeObject);
}

/** The object without empty `labels` and `annotations`. */
export function withoutEmptyMaps(object: KubeObject): KubeObject {
  const { labels, annotations, ...metadata } = object.metadata;
  const filled = (map: KubeObject["metadata"]["labels"]) => map !== undefined && Object.keys(map).length > 0;
  return { ...object, metadata: { ...metadata, ...(filled(labels) && { labels }), ...(filled(annotations) && { annotations }) } };
}

/** Gives a tenant object a new version, as every write does: the syncer recognizes by it what it has seen. */
function withNextVersion(object: KubeObject): KubeObject {
  const { resourceVersion = "" } = object.metadata;
  const next = /^[1-9][0-9]*$/.test(resourceVersion) ? String(BigInt(resourceVersion) + 1n) : "1";
  return { ...object, metadata: { ...object.metadata, resourceVersion: next } };
}

/** The Service that an object belongs to, on both sides; nothing when `others` has none. */
export function servicesBeside(
  all: readonly Rules[],
  rules: Rules,
  { tenant, others }: { readonly tenant: KubeObject; readonly others: readonly KubeObject[] },
): Pick<PlanInput, "tenantService" | "hostService"> {
  const services = all.find(({ kind }) => kind.resource === SERVICES);
  if (services === undefined || rules === services) return {};
  const wanted = rules.kind.serviceOf(keyOf(tenant), tenant);
  const tenantService = others.find((object) => {
    if (object.kind !== SERVICES.kind || object.apiVersion !== SERVICES.apiVersion || wanted === undefined) return false;
    const key = keyOf(object);
    return key.name === wanted.name && key.namespace === wanted.namespace;
  }) as Service | undefined;
  if (tenantService === undefined) return {};
  const { host } = playToRest(services, { key: keyOf(tenantService), tenant: tenantService, host: undefined });
  return { tenantService, hostService: host as Service | undefined };
}
