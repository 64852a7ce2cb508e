/**
 * Copies that wait for a host namespace. The syncer may not be allowed to watch namespaces, so one of the copies is retried;
 * as soon as it exists, all others are created.
 *
 * @module
 */

/** See the module comment. */
export interface MissingNamespaces {
  /** Notes that the copy of an object waits for a namespace. Returns after how many milliseconds to try it again, if soon. */
  waits(id: string, namespace: string): number | undefined;
  /** Records that an object waits no more; another one is tried in its place. */
  leaves(id: string): void;
  /** Notes that a copy was made in a namespace. Returns whether others have waited for it; they are enqueued. */
  isThere(namespace: string): boolean;
}

/** One namespace is tried at most so often, in milliseconds. */
export const PROBE_MS = 3_000;
/** With many that are missing, each is tried less often, so that all of them together cost one request in this time, in milliseconds. */
const BETWEEN_PROBES_MS = 500;

/** Starts with no namespace missing. Objects that no longer need to wait go to `enqueue`, with those of `others`. */
export function createMissingNamespaces(
  enqueue: (id: string) => void,
  others: (namespace: string) => readonly string[] = () => [],
): MissingNamespaces {
  /** Per namespace the objects that wait; the first of them is the one that is tried. */
  const waiting = new Map<string, Set<string>>();
  const namespaceOf = new Map<string, string>();

  function leaves(id: string): void {
    const namespace = namespaceOf.get(id);
    if (namespace === undefined) return;
    namespaceOf.delete(id);
    const ids = waiting.get(namespace)!;
    const wasTried = first(ids) === id;
    ids.delete(id);
    if (ids.size === 0) waiting.delete(namespace);
    else if (wasTried) enqueue(first(ids)!);
  }

  return {
    leaves,
    waits(id, namespace) {
      if (namespaceOf.get(id) !== namespace) leaves(id);
      namespaceOf.set(id, namespace);
      const ids = (waiting.get(namespace) ?? new Set()).add(id);
      waiting.set(namespace, ids);
      return first(ids) === id ? Math.max(PROBE_MS, waiting.size * BETWEEN_PROBES_MS) : undefined;
    },
    isThere(namespace) {
      const ids = waiting.get(namespace);
      if (ids === undefined) return false;
      waiting.delete(namespace);
      for (const id of ids) {
        namespaceOf.delete(id);
        enqueue(id);
      }
      others(namespace).forEach(enqueue);
      return true;
    },
  };
}

function first(ids: ReadonlySet<string>): string | undefined {
  return ids.values().next().value;
}
