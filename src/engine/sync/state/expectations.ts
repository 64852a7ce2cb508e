import { formatKey, keyOf } from "../../../kube/object/key.ts";
import type { ObjectKey } from "../../../kube/object/key.ts";
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
  /** Its cluster has contradicted the known state of `key` for a while: trusts the cache alone, and has it listed again. */
  doubt(key: ObjectKey): void;
  /** Stops following the cache. */
  close(): void;
}

type Ahead = { readonly object: KubeObject } | { readonly removed: KubeObject };

/** Tracks one cache. Holds an entry only while the cache lags behind our own write. */
export function createExpectations(source: ObjectSource): Expectations {
  const ahead = new Map<string, Ahead>();

  /** Writes in progress whose object did not vanish meanwhile: an answer that comes after that would lead forever. */
  const writes = new Set<{ readonly id: string }>();

  const unsubscribe = source.onChange((key, sign) => {
    if (ahead.size === 0 && writes.size === 0) return;
    const [id, cached] = [formatKey(key), source.get(key)];
    if (cached === undefined) for (const write of writes) if (write.id === id) writes.delete(write);
    const entry = ahead.get(id);
    if (entry !== undefined && (sign === "missed" || caughtUp(entry, cached))) ahead.delete(id);
  });

  /** An event may overtake the answer; a state that the cache has already needs no lead. */
  function lead(id: string, entry: Ahead, cached: KubeObject | undefined): void {
    if (cached !== undefined && caughtUp(entry, cached)) return void ahead.delete(id);
    ahead.set(id, entry);
    // The answer may be false, or the object may be deleted while the cache misses the event: nothing else would end the lead then.
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
      // Neither known nor expected: its end has been seen.
      if (cached === undefined && !ahead.has(id)) return;
      lead(id, { removed: object }, cached);
    },
    doubt(key) {
      ahead.delete(formatKey(key));
      source.relist?.();
    },
    close: unsubscribe,
  };
}

/** A change that left nothing behind ends the lead too: either it is our delete, or the written object was deleted. */
function caughtUp(entry: Ahead, cached: KubeObject | undefined): boolean {
  if (cached === undefined) return true;
  if ("object" in entry) return compareVersions(cached, entry.object) >= 0;
  const { removed } = entry;
  // An object that a finalizer holds stays after its delete, with the time of it. One that changes after its delete is still there.
  const isHeld = typeof cached.metadata.deletionTimestamp === "string";
  return isHeld || cached.metadata.uid !== removed.metadata.uid || compareVersions(cached, removed) > 0;
}
