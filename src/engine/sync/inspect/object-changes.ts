import { formatKey, type ObjectKey } from "../../../kube/object/key.ts";
import { qualifiedPlural, type ResourceType } from "../../../kube/object/resource.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { writtenKey } from "../../reconcile/plan-types.ts";
import type { ClusterView } from "./cluster-view.ts";
import type { PlannedWrite } from "./preview.ts";

/** One object that would be different after a preview's writes. */
export interface ObjectChange {
  /** Id of the tenant object or referenced object for which it is written. */
  readonly id: string;
  readonly side: "tenant" | "host";
  readonly resource: ResourceType;
  readonly key: ObjectKey;
  /** One per write. */
  readonly reasons: readonly string[];
  readonly before: KubeObject | undefined;
  readonly after: KubeObject | undefined;
}

/** The views that were written to. */
export interface WrittenViews {
  readonly tenant: ClusterView;
  readonly host: ClusterView;
}

/**
 * Returns the objects that a preview has written to, in the order of their first writes.
 *
 * @example
 * objectChanges((await preview(options)).writes, { tenant, host })[0]?.reasons; // ["The tenant object has no copy"]
 */
export function objectChanges(writes: readonly PlannedWrite[], views: WrittenViews): ObjectChange[] {
  const groups = new Map<string, PlannedWrite[]>();
  for (const write of writes) {
    const { resource, operation } = write;
    const place = [operation.side, qualifiedPlural(resource), formatKey(writtenKey(operation))].join(" ");
    groups.set(place, [...(groups.get(place) ?? []), write]);
  }
  return [...groups.values()].map((group) => changeOf(group, views));
}

function changeOf(writes: readonly PlannedWrite[], views: WrittenViews): ObjectChange {
  const { id, resource, operation } = writes[0]!;
  const { side } = operation;
  const key = writtenKey(operation);
  const reasons = writes.map((write) => write.operation.reason);
  return { id, side, resource, key, reasons, before: views[side].before(resource, key), after: views[side].now(resource, key) };
}
