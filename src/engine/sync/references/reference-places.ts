/**
 * A limited number of places for followed objects, shared by the tenant namespaces that refer to them. While there are enough places, each
 * namespace takes what it needs. After that, the namespace with the most places yields some to those with fewer, until they have as many.
 */
export interface ReferencePlaces {
  /**
   * Requests a place for `id`, charged to `namespace`. "waits": there is no place, and `id` is recorded as waiting. `evicted`: the object
   * that had the place until now, and that waits from now on.
   */
  take(id: string, namespace: string): "waits" | { readonly evicted?: string };
  /** Gives up the place of `id`, or its wait. Returns the id that should request a place again, if there is one. */
  release(id: string): string | undefined;
  /** Returns the id that should request a place next; undefined if none waits, or if there is no free place. */
  next(): string | undefined;
  isWaiting(id: string): boolean;
  /** Returns the number of places that `namespace` has. */
  count(namespace: string): number;
}

/** Reports whether an object with a place can be evicted without much harm, because nothing was copied yet. */
export type IsIdle = (id: string) => boolean;

/**
 * Creates a fixed number of places for followed objects.
 *
 * @example
 * const places = createReferencePlaces(2, () => true);
 * places.take("secrets|a/1", "a"); // {}
 * places.take("secrets|a/2", "a"); // {}
 * places.take("secrets|b/1", "b"); // { evicted: "secrets|a/2" }
 */
export function createReferencePlaces(placesMax: number, isIdle: IsIdle): ReferencePlaces {
  const [held, waiting] = [createShares(), createShares()];

  /**
   * Returns the object that yields its place to a namespace with this many places: the newest one of the namespace with the most places,
   * preferably one of which nothing was copied.
   */
  function victimFor(has: number): string | undefined {
    const richest = held.richest();
    // With a difference of one, an eviction would only exchange the roles of the two namespaces.
    if (richest === undefined || richest.ids.size <= has + 1) return undefined;
    const newestFirst = [...richest.ids].reverse();
    return newestFirst.find(isIdle) ?? newestFirst[0];
  }

  return {
    take(id, namespace) {
      waiting.remove(id);
      if (held.has(id)) return {};
      const evicted = held.size < placesMax ? undefined : victimFor(held.count(namespace));
      if (held.size >= placesMax && evicted === undefined) {
        waiting.add(id, namespace);
        return "waits";
      }
      if (evicted !== undefined) waiting.add(evicted, held.remove(evicted)!);
      held.add(id, namespace);
      return evicted === undefined ? {} : { evicted };
    },
    release(id) {
      const had = held.remove(id) !== undefined;
      const waited = waiting.remove(id) !== undefined;
      return had || waited ? waiting.firstOfPoorest((namespace) => held.count(namespace)) : undefined;
    },
    next: () => (held.size < placesMax ? waiting.firstOfPoorest((namespace) => held.count(namespace)) : undefined),
    isWaiting: (id) => waiting.has(id),
    count: (namespace) => held.count(namespace),
  };
}

/** Ids by namespace, those of each namespace in the order in which they were added. */
function createShares() {
  const namespaceOf = new Map<string, string>();
  const shares = new Map<string, Set<string>>();
  return {
    get size() {
      return namespaceOf.size;
    },
    has: (id: string) => namespaceOf.has(id),
    count: (namespace: string) => shares.get(namespace)?.size ?? 0,
    add(id: string, namespace: string) {
      namespaceOf.set(id, namespace);
      shares.set(namespace, (shares.get(namespace) ?? new Set()).add(id));
    },
    /** Returns the namespace of the removed id. */
    remove(id: string): string | undefined {
      const namespace = namespaceOf.get(id);
      if (namespace === undefined) return undefined;
      namespaceOf.delete(id);
      const share = shares.get(namespace)!;
      share.delete(id);
      if (share.size === 0) shares.delete(namespace);
      return namespace;
    },
    richest(): { readonly namespace: string; readonly ids: ReadonlySet<string> } | undefined {
      let richest: { readonly namespace: string; readonly ids: ReadonlySet<string> } | undefined;
      for (const [namespace, ids] of shares) if (ids.size > (richest?.ids.size ?? 0)) richest = { namespace, ids };
      return richest;
    },
    firstOfPoorest(has: (namespace: string) => number): string | undefined {
      let poorest: string | undefined;
      for (const namespace of shares.keys()) if (poorest === undefined || has(namespace) < has(poorest)) poorest = namespace;
      return poorest === undefined ? undefined : shares.get(poorest)!.values().next().value;
    },
  };
}
