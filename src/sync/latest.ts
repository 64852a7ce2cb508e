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
  /** Carries out a create or update of `key` and remembers what it returned. */
  write(key: ObjectKey, send: () => Promise<KubeObject>): Promise<KubeObject>;
  /** Remembers that exactly this object was deleted. */
  removed(object: KubeObject): void;
  /** Stops following the cache. */
  close(): void;
}

type Ahead = { readonly object: KubeObject } | { readonly removedUid: string | undefined };

/** Follows one cache. Holds an entry only while the cache lags behind our own write. */
export function createLatest(source: ObjectSource): Latest {
  const ahead = new Map<string, Ahead>();

  /** Per write under way whether its object vanished meanwhile: an answer that comes after that would lead for ever. */
  const vanished = new Map<string, boolean>();

  const unsubscribe = source.onChange((key) => {
    const [id, cached] = [formatKey(key), source.get(key)];
    if (cached === undefined && vanished.has(id)) vanished.set(id, true);
    const entry = ahead.get(id);
    if (entry !== undefined && caughtUp(entry, cached)) ahead.delete(id);
  });

  /** An event may overtake the answer; what the cache has already needs no lead. */
  function lead(id: string, entry: Ahead, cached: KubeObject | undefined): void {
    if (cached !== undefined && caughtUp(entry, cached)) ahead.delete(id);
    else ahead.set(id, entry);
  }

  return {
    get(key) {
      const cached = source.get(key);
      const entry = ahead.get(formatKey(key));
      if (entry === undefined) return cached;
      if (cached !== undefined && caughtUp(entry, cached)) return cached;
      return "object" in entry ? entry.object : undefined;
    },
    async write(key, send) {
      const id = formatKey(key);
      vanished.set(id, false);
      try {
        const object = await send();
        if (vanished.get(id)) ahead.delete(id);
        else lead(id, { object }, source.get(key));
        return object;
      } finally {
        vanished.delete(id);
      }
    },
    removed(object) {
      const [id, cached] = [formatKey(keyOf(object)), source.get(keyOf(object))];
      // Neither known nor expected: its end has been seen.
      if (cached === undefined && !ahead.has(id)) return;
      lead(id, { removedUid: object.metadata.uid }, cached);
    },
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
