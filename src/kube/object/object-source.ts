import type { ObjectKey } from "./key.ts";
import type { KubeObject } from "./types.ts";

/**
 * The origin of a change: an event reported it, or a complete list differs from the known state. If only a list shows that an object is
 * gone, the list may be wrong, for example because another cluster sent it.
 *
 * "missed" is not a change: the cache has passed the version of an expected write without showing it. That write never took place,
 * regardless of its response.
 */
export type ChangeSign = "event" | "list" | "missed";

/** Effect of a write on an object. */
export type Written = "stored" | "removed";

/** Called for a change. `sign` defaults to "list". */
export type ChangeListener = (key: ObjectKey, sign?: ChangeSign) => void;

/**
 * A cache of one kind's objects that follows the cluster: an informer, or an embedder's equivalent.
 *
 * Objects are shared and must not be modified. The cache may lag behind, but it never goes back to an older state.
 */
export interface ObjectSource {
  get(key: ObjectKey): KubeObject | undefined;
  list(): readonly KubeObject[];
  /**
   * Calls `listener` with the key of every object that appeared, changed or disappeared. Returns a function that unsubscribes the listener.
   */
  onChange(listener: ChangeListener): () => void;
  /**
   * Records the response to a write before the cache shows the write: the object is now stored as given, or has been removed. If the cache
   * reaches that version without showing the write, listeners get the key as "missed". If there is no such object, they get it as if the
   * object had disappeared. Without this method, listeners are not called, and a false response is trusted until the object changes.
   */
  expect?(object: KubeObject, written: Written): void;
  /**
   * Requests a new list, because the cluster contradicts the cache. The list is read soon, and at most once a minute.
   * Without this method, the cache may stay wrong.
   */
  relist?(): void;
  /** True once the cache has loaded all objects. */
  readonly synced: boolean;
  /** True while the cluster can be followed; false from a broken connection until the cache is known to be current again. */
  readonly current: boolean;
}
