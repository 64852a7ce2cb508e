import { formatKey, keyOf } from "../object/key.ts";
import type { ObjectKey } from "../object/key.ts";
import type { ObjectSource } from "../object/object-source.ts";
import { compareResourceVersions } from "../object/resource-version.ts";
import type { KubeObject } from "../object/types.ts";

/**
 * The newest version of each object that is known: the cache's, or what our own write returned until the cache has caught up.
 *
 * Without it, a plan made right after a write would compare with the state before that write and write again.
 */
export interface Latest {
  get(key: ObjectKey): KubeObject | undefined;
  /** Remembers what a create or update returned. */
  wrote(object: KubeObject): void;
  /** Remembers that exactly this object was deleted. */
  removed(object: KubeObject): void;
  /** Stops following the cache. */
  close(): void;
}

type Ahead = { readonly object: KubeObject } | { readonly removedUid: string | undefined };

/** Follows one cache. Holds an entry only while the cache lags behind our own write. */
export function createLatest(source: ObjectSource): Latest {
  const ahead = new Map<string, Ahead>();

  const unsubscribe = source.onChange((key) => {
    const id = formatKey(key);
    const entry = ahead.get(id);
    if (entry !== undefined && caughtUp(entry, source.get(key))) ahead.delete(id);
  });

  return {
    get(key) {
      const cached = source.get(key);
      const entry = ahead.get(formatKey(key));
      if (entry === undefined) return cached;
      if (cached !== undefined && caughtUp(entry, cached)) return cached;
      return "object" in entry ? entry.object : undefined;
    },
    wrote: (object) => void ahead.set(formatKey(keyOf(object)), { object }),
    removed: (object) => void ahead.set(formatKey(keyOf(object)), { removedUid: object.metadata.uid }),
    close: unsubscribe,
  };
}

/** A change that left nothing behind ends the lead too: either it is our delete, or somebody deleted what we wrote. */
function caughtUp(entry: Ahead, cached: KubeObject | undefined): boolean {
  if (cached === undefined) return true;
  // An object that a finalizer holds stays after its delete, with the time of it.
  if ("removedUid" in entry) return cached.metadata.uid !== entry.removedUid || typeof cached.metadata.deletionTimestamp === "string";
  return compareResourceVersions(cached.metadata.resourceVersion ?? "", entry.object.metadata.resourceVersion ?? "") >= 0;
}
