import { groupOf } from "../../kube/object/resource.ts";
import type { ResourceType } from "../../kube/object/resource.ts";
import type { ObjectKey } from "../../kube/object/key.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { storeKey, storePrefix } from "../../apiserver/verbs/resource-context.ts";
import type { Store, StoreEvent } from "../../apiserver/store/store.ts";
import { MANAGEMENT_GROUP } from "../kinds/types.ts";

/** One change of an object. */
export interface ManagedChange {
  /** Undefined when the object is gone. */
  readonly object: KubeObject | undefined;
  /** Undefined when the object is new. */
  readonly previous: KubeObject | undefined;
}

/** The stored objects of the management API, indexed in memory: an answer includes everything written before the call. */
export interface ManagedObjects {
  get(type: ResourceType, key: ObjectKey): KubeObject | undefined;
  of(type: ResourceType): Iterable<KubeObject>;
  /** The number of objects. */
  count(type: ResourceType): number;
  /** Subscribes to each change in order, before its write is acknowledged. Listeners must not block or throw. Returns the unsubscribe. */
  onChange(listener: (change: ManagedChange) => void): () => void;
  stop(): void;
}

/**
 * Follows a store.
 *
 * @example
 * const objects = await followManagedObjects(store);
 * objects.get(TEAMS, { namespace: "", name: "ops" });
 */
export async function followManagedObjects(store: Store): Promise<ManagedObjects> {
  const collections = new Map<string, Map<string, KubeObject>>();
  const listeners = new Set<(change: ManagedChange) => void>();
  const prefix = `/${MANAGEMENT_GROUP}/`;
  const at = (key: string) => {
    const collection = key.slice(0, key.indexOf("/", prefix.length) + 1);
    const known = collections.get(collection) ?? new Map<string, KubeObject>();
    collections.set(collection, known);
    return known;
  };
  const onEvent = ({ type, key, object, previous }: StoreEvent) => {
    if (type === "deleted") at(key).delete(key);
    else at(key).set(key, object);
    for (const listener of listeners) listener({ object: type === "deleted" ? undefined : object, previous });
  };
  const present = await store.list({ prefix });
  for (const { key, object } of present.objects) at(key).set(key, object);
  const watch = await store.watch({ prefix, after: present.revision, onEvent });
  return {
    get: (type, key) => (groupOf(type) === MANAGEMENT_GROUP ? at(storePrefix(type)).get(storeKey(type, key)) : undefined),
    of: (type) => collections.get(storePrefix(type))?.values() ?? [],
    count: (type) => collections.get(storePrefix(type))?.size ?? 0,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    stop: () => watch.stop(),
  };
}
