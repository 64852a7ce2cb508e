import type { ObjectKey } from "./key.ts";
import type { KubeObject } from "./types.ts";

/**
 * A local copy of one kind's objects that follows the cluster: an informer, or what an embedder has instead.
 *
 * Objects are shared and must not be modified. The copy may be late, but it never goes back in time.
 */
export interface ObjectSource {
  get(key: ObjectKey): KubeObject | undefined;
  list(): readonly KubeObject[];
  /** Calls `listener` with the key of every object that appeared, changed or vanished. Returns a function that ends that. */
  onChange(listener: (key: ObjectKey) => void): () => void;
  /** True once the copy was complete for the first time. */
  readonly synced: boolean;
  /** True while the cluster can be followed; false from a broken connection until the copy is known to be current again. */
  readonly current: boolean;
}
