import type { ObjectKey } from "./key.ts";
import type { KubeObject } from "./types.ts";

/**
 * The origin of a change: an event reported it, or a complete list differs from the known state. An object that only a list
 * lacks may be a mistake of the list, if it is the list of another cluster for example.
 *
 * "missed" is not a change: the cache has passed the version of an expected write without showing it. That write never took
 * place, whatever its answer said.
 */
export type ChangeSign = "event" | "list" | "missed";

/** Effect of a write on an object. */
export type Written = "stored" | "removed";

/** Called for a change. `sign` defaults to "list". */
export type ChangeListener = (key: ObjectKey, sign?: ChangeSign) => void;

/**
 * A local copy of one kind's objects that follows the cluster: an informer, or an embedder's equivalent.
 *
 * Objects are shared and must not be modified. The copy may be late, but it never goes back in time.
 */
export interface ObjectSource {
  get(key: ObjectKey): KubeObject | undefined;
  list(): readonly KubeObject[];
  /** Calls `listener` with the key of every object that appeared, changed or vanished. Returns a function that unsubscribes the listener. */
  onChange(listener: ChangeListener): () => void;
  /**
   * Records the answer to a write before the cache shows it: this object is stored as it is here, or
   * was removed. When the cache reaches that version without it, listeners get its key as "missed", or as one that
   * vanished if there is no such object. Without this method they get nothing, and a false answer is believed until the object changes.
   */
  expect?(object: KubeObject, written: Written): void;
  /**
   * Requests a new list, because the cluster has contradicted the cache for a while. It is read soon, and at most once a minute.
   * Left out, the copy heals by itself or not at all.
   */
  relist?(): void;
  /** True once the copy was complete for the first time. */
  readonly synced: boolean;
  /** True while the cluster can be followed; false from a broken connection until the copy is known to be current again. */
  readonly current: boolean;
}
