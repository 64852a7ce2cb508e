/**
 * References from an address to the Pod behind it, which runs on the host under a different name.
 *
 * @module
 */
import { isRecord } from "../../base/json.ts";
import type { TargetReference } from "../../kube/object/types.ts";
import type { Translator } from "../translate/translator.ts";

/** An item that can refer to a Pod: an address of Endpoints, or an endpoint of a slice. */
interface Pointing {
  readonly targetRef?: TargetReference;
}

const POD = { apiVersion: "v1", kind: "Pod" };

/**
 * Returns `item` with the Pod reference in its host form: with the Pod's host name, and without uid and version, which would refer to
 * nothing on the host. If the Pod has no host name, the reference is removed.
 */
export function toHostTarget<Item extends Pointing>(item: Item, translator: Translator): Item {
  const target = targetOf(item);
  if (target?.kind !== "Pod" || !target.name || !isText(target.name) || !isText(target.namespace ?? "")) return item;
  const host = translator.toHost({ namespace: target.namespace ?? "", name: target.name }, POD);
  if (host === undefined) return withoutTarget(item);
  const { uid: _uid, resourceVersion: _resourceVersion, ...kept } = target;
  return { ...item, targetRef: { ...kept, name: host.name, namespace: host.namespace } };
}

/** Returns the reference of an item, if it has one. Items that are not objects must not fail here: they are rejected later. */
function targetOf(item: Pointing): TargetReference | undefined {
  return isRecord(item) && isRecord(item.targetRef) ? item.targetRef : undefined;
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function withoutTarget<Item extends Pointing>({ targetRef: _targetRef, ...item }: Item): Item {
  return item as Item;
}

/**
 * Returns a function that translates Pod references back to the tenant, using `known`, the tenant's own references. If the tenant has no
 * such reference, there is no tenant name, and the function returns undefined.
 */
export function tenantTargets<Item extends Pointing>(known: readonly Pointing[], translator: Translator): (item: Item) => Item | undefined {
  const targets = new Map<string, TargetReference>();
  for (const item of known) {
    const target = targetOf(item);
    const host = target && targetOf(toHostTarget(item, translator));
    if (target && host) targets.set(textOf(host), target);
  }
  return (item) => {
    const target = targetOf(item);
    if (target?.kind !== "Pod") return item;
    const targetRef = targets.get(textOf(target));
    return targetRef && { ...item, targetRef };
  };
}

function textOf({ namespace, name }: TargetReference): string {
  return `${namespace}/${name}`;
}
