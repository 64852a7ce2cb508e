import { groupOf } from "../../kube/object/resource.ts";
import type { ResourceType } from "../../kube/object/resource.ts";
import type { ObjectKey } from "../../kube/object/key.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import type { Store, StoreEvent } from "../../apiserver/store/store.ts";
import { MANAGEMENT_GROUP } from "../kinds/types.ts";

/** One change of an object. */
export interface ManagedChange {
  /** Undefined when the object is gone. */
  readonly object: KubeObject | undefined;
  /** Undefined when the object is new. */
  readonly previous: KubeObject | undefined;
}

/** The stored objects of the management API, indexed in memory. A result includes everything written before the call. */
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
 * Keeps the objects of a store in memory, and follows their changes.
 *
 * @example
 * const objects = await followManagedObjects(store);
 * objects.get(TEAMS, { namespace: "", name: "ops" });
 */
export async function followManagedObjects(store: Store): Promise<ManagedObjects> {
  /** By the plural of their kind, then by the rest of their keys. */
  const collections = new Map<string, Map<string, KubeObject>>();
  const listeners = new Set<(change: ManagedChange) => void>();
  const prefix = `/${MANAGEMENT_GROUP}/`;
  const put = (key: string, object: KubeObject | undefined) => {
    const end = key.indexOf("/", prefix.length);
    const [plural, rest] = [key.slice(prefix.length, end), key.slice(end + 1)];
    const collection = collections.get(plural) ?? new Map<string, KubeObject>();
    collections.set(plural, collection);
    if (object === undefined) collection.delete(rest);
    else collection.set(rest, object);
  };
  const of = (type: ResourceType) => (groupOf(type) === MANAGEMENT_GROUP ? collections.get(type.plural) : undefined);
  const onEvent = ({ type, key, object, previous }: StoreEvent) => {
    const change = { object: type === "deleted" ? undefined : object, previous };
    put(key, change.object);
    for (const listener of listeners) listener(change);
  };
  const present = await store.list({ prefix });
  for (const { key, object } of present.objects) put(key, object);
  const watch = await store.watch({ prefix, after: present.revision, onEvent });
  return {
    get: (type, { namespace, name }) => of(type)?.get(type.namespaced && namespace !== "" ? `${namespace}/${name}` : name),
    of: (type) => of(type)?.values() ?? [],
    count: (type) => of(type)?.size ?? 0,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    stop: () => watch.stop(),
  };
}
