import { groupOf, type ResourceType } from "../../kube/object/resource.ts";
import type { ObjectKey } from "../../kube/object/key.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import type { Store, StoreEvent } from "../../apiserver/store/store.ts";
import { MANAGEMENT_GROUP } from "../kinds/types.ts";

/** One change of an object. */
export interface ManagedChange {
  /** Undefined if the object was deleted. */
  readonly object: KubeObject | undefined;
  /** Undefined if the object is new. */
  readonly previous: KubeObject | undefined;
}

/** The stored objects of the management API, indexed in memory. A result includes everything written before the call. */
export interface ManagedObjects {
  get(type: ResourceType, key: ObjectKey): KubeObject | undefined;
  of(type: ResourceType): Iterable<KubeObject>;
  /** The number of objects. */
  count(type: ResourceType): number;
  /**
   * Subscribes to each change of objects of these types in order, before its write is acknowledged. Listeners must not block or throw.
   * Returns the function that unsubscribes.
   */
  onChange(types: readonly ResourceType[], listener: (change: ManagedChange) => void): () => void;
  stop(): void;
}

/** The objects of one type, by the part of their store keys after the type, and the listeners to their changes. */
interface Collection {
  readonly objects: Map<string, KubeObject>;
  readonly listeners: Set<(change: ManagedChange) => void>;
}

/**
 * Keeps the objects of a store in memory, and follows their changes.
 *
 * @example
 * const objects = await followManagedObjects(store);
 * objects.get(TEAMS, { namespace: "", name: "ops" });
 */
export async function followManagedObjects(store: Pick<Store, "list" | "watch">): Promise<ManagedObjects> {
  /** By the plural of their type. */
  const collections = new Map<string, Collection>();
  const collectionOf = (plural: string): Collection => {
    let collection = collections.get(plural);
    if (collection === undefined) collections.set(plural, (collection = { objects: new Map(), listeners: new Set() }));
    return collection;
  };
  const prefix = `/${MANAGEMENT_GROUP}/`;
  const put = (key: string, object: KubeObject | undefined): Collection => {
    const end = key.indexOf("/", prefix.length);
    const collection = collectionOf(key.slice(prefix.length, end));
    const rest = key.slice(end + 1);
    if (object === undefined) collection.objects.delete(rest);
    else collection.objects.set(rest, object);
    return collection;
  };
  const of = (type: ResourceType) => (groupOf(type) === MANAGEMENT_GROUP ? collections.get(type.plural)?.objects : undefined);
  const onEvent = ({ type, key, object, previous }: StoreEvent) => {
    const change = { object: type === "deleted" ? undefined : object, previous };
    for (const listener of put(key, change.object).listeners) listener(change);
  };
  const present = await store.list({ prefix });
  for (const { key, object } of present.objects) put(key, object);
  const watch = await store.watch({ prefix, after: present.revision, onEvent });
  return {
    get: (type, { namespace, name }) => of(type)?.get(type.namespaced && namespace !== "" ? `${namespace}/${name}` : name),
    of: (type) => of(type)?.values() ?? [],
    count: (type) => of(type)?.size ?? 0,
    onChange(types, listener) {
      const followed = types.map(({ plural }) => collectionOf(plural).listeners);
      for (const listeners of followed) listeners.add(listener);
      return () => followed.forEach((listeners) => listeners.delete(listener));
    },
    stop: () => watch.stop(),
  };
}
