import { formatKey, keyOf, type ObjectKey } from "../../../kube/object/key.ts";
import type { ObjectSource } from "../../../kube/object/object-source.ts";
import { compareVersions } from "../../../kube/object/resource-version.ts";
import type { KubeObject } from "../../../kube/object/types.ts";

/**
 * The newest version of each object that is known: the cache's, or what our own write returned until the cache has caught up.
 *
 * Without it, a plan made right after a write would compare with the state before that write and write again.
 */
export interface Expectations {
  get(key: ObjectKey): KubeObject | undefined;
  /** Records a create or update of `key` in progress. Pass its answer to the returned function: the stored object, or none. */
  writing(key: ObjectKey): (stored: KubeObject | undefined) => void;
  /** Remembers that exactly this object was deleted. */
  removed(object: KubeObject): void;
  /** Trusts only the cache for `key`, and requests a new list: the cluster has contradicted the known state for a while. */
  doubt(key: ObjectKey): void;
  /** Requests a new list, and goes on trusting what our own writes returned. */
  relist(): void;
  /** Stops following the cache. */
  close(): void;
}

type Ahead = { readonly object: KubeObject } | { readonly removed: KubeObject };

/** Tracks one cache. Holds an entry only while the cache lags behind our own write. */
export function createExpectations(source: ObjectSource): Expectations {
  const ahead = new Map<string, Ahead>();

  /** Writes in progress whose object has not vanished in the meantime: an answer after that would be ahead of the cache forever. */
  const writes = new Set<{ readonly id: string }>();

  const unsubscribe = source.onChange((key, sign) => {
    if (ahead.size === 0 && writes.size === 0) return;
    const [id, cached] = [formatKey(key), source.get(key)];
    if (cached === undefined) for (const write of writes) if (write.id === id) writes.delete(write);
    const entry = ahead.get(id);
    if (entry !== undefined && (sign === "missed" || caughtUp(entry, cached))) ahead.delete(id);
  });

  /** Remembers a state until the cache has it. An event may overtake the answer, so that the cache has the state already. */
  function lead(id: string, entry: Ahead, cached: KubeObject | undefined): void {
    if (cached !== undefined && caughtUp(entry, cached)) return void ahead.delete(id);
    ahead.set(id, entry);
    // The answer may be false, or the cache may miss the deletion of the object: nothing else would then remove the entry.
    if ("object" in entry) source.expect?.(entry.object, "stored");
    else source.expect?.(entry.removed, "removed");
  }

  return {
    get(key) {
      const cached = source.get(key);
      const entry = ahead.size === 0 ? undefined : ahead.get(formatKey(key));
      if (entry === undefined) return cached;
      if (cached !== undefined && caughtUp(entry, cached)) return cached;
      return "object" in entry ? entry.object : undefined;
    },
    writing(key) {
      const write = { id: formatKey(key) };
      writes.add(write);
      return (stored) => {
        const there = writes.delete(write);
        if (stored === undefined) return;
        if (there) lead(write.id, { object: stored }, source.get(key));
        else ahead.delete(write.id);
      };
    },
    removed(object) {
      const [id, cached] = [formatKey(keyOf(object)), source.get(keyOf(object))];
      // The object is neither known nor expected: its deletion has been seen.
      if (cached === undefined && !ahead.has(id)) return;
      lead(id, { removed: object }, cached);
    },
    doubt(key) {
      ahead.delete(formatKey(key));
      source.relist?.();
    },
    relist: () => source.relist?.(),
    close: unsubscribe,
  };
}

/** Reports whether the cache has the state of an entry. An absent object counts: we deleted it, or the written object was deleted. */
function caughtUp(entry: Ahead, cached: KubeObject | undefined): boolean {
  if (cached === undefined) return true;
  if ("object" in entry) return compareVersions(cached, entry.object) >= 0;
  const { removed } = entry;
  // An object with finalizers remains after its delete, with a deletionTimestamp. An object that changes after its delete still exists.
  const isHeld = typeof cached.metadata.deletionTimestamp === "string";
  return isHeld || cached.metadata.uid !== removed.metadata.uid || compareVersions(cached, removed) > 0;
}
