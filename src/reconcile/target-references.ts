/**
 * References from an address to the Pod behind it, which runs on the host under another name.
 *
 * @module
 */
import type { TargetReference } from "../object/types.ts";
import type { Translator } from "../translate/translator.ts";

/** Whatever may point at a Pod: an address of Endpoints, or an endpoint of a slice. */
interface Pointing {
  readonly targetRef?: TargetReference;
}

const POD = { apiVersion: "v1", kind: "Pod" };

/**
 * `item` with its Pod reference as the host knows the Pod: under its host name, without uid and version, which would point at
 * nothing there. A Pod that has no place on the host loses its reference.
 */
export function toHostTarget<Item extends Pointing>(item: Item, translator: Translator): Item {
  const target = item.targetRef;
  if (target?.kind !== "Pod" || !target.name) return item;
  const host = translator.toHost({ namespace: target.namespace ?? "", name: target.name }, POD);
  if (host === undefined) return withoutTarget(item);
  const { uid: _uid, resourceVersion: _resourceVersion, ...kept } = target;
  return { ...item, targetRef: { ...kept, name: host.name, namespace: host.namespace } };
}

function withoutTarget<Item extends Pointing>({ targetRef: _targetRef, ...item }: Item): Item {
  return item as Item;
}

/**
 * The way back. Pod references come back through the tenant's own ones, `known`; one that the tenant does not hold has no tenant
 * name, and then the answer is undefined.
 */
export function tenantTargets<Item extends Pointing>(known: readonly Pointing[], translator: Translator): (item: Item) => Item | undefined {
  const targets = new Map<string, TargetReference>();
  for (const item of known) {
    const host = toHostTarget(item, translator).targetRef;
    if (item.targetRef && host) targets.set(textOf(host), item.targetRef);
  }
  return (item) => {
    if (item.targetRef?.kind !== "Pod") return item;
    const targetRef = targets.get(textOf(item.targetRef));
    return targetRef && { ...item, targetRef };
  };
}

function textOf({ namespace, name }: TargetReference): string {
  return `${namespace}/${name}`;
}
