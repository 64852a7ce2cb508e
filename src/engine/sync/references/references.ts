/** Index of the references from tenant objects to other objects, by the ids of both. */
export interface References {
  /**
   * Records all current references of one tenant object. Returns those that are new, and those that no longer exist.
   */
  refer(user: string, references: readonly string[]): readonly string[];
  /** Ids of the tenant objects that refer to an object. */
  users(reference: string): readonly string[];
}

const NOTHING: readonly string[] = [];

/**
 * Creates an empty record of references. It holds an entry for each object that refers to something, and nothing for the others.
 *
 * @example
 * const references = createReferences();
 * references.refer("endpoints|shop/web", ["secrets|shop/db"]); // ["secrets|shop/db"]
 * references.users("secrets|shop/db"); // ["endpoints|shop/web"]
 */
export function createReferences(): References {
  /** Both maps hold the same pairs. */
  const referencesByUser = new Map<string, ReadonlySet<string>>();
  const usersByReference = new Map<string, Set<string>>();

  function forget(user: string, reference: string): void {
    const users = usersByReference.get(reference);
    users?.delete(user);
    if (users?.size === 0) usersByReference.delete(reference);
  }

  return {
    refer(user, references) {
      const before = referencesByUser.get(user);
      if (before === undefined && references.length === 0) return NOTHING;
      const now = new Set(references);
      const gone = [...(before ?? [])].filter((reference) => !now.has(reference));
      const fresh = [...now].filter((reference) => !before?.has(reference));
      for (const reference of gone) forget(user, reference);
      for (const reference of fresh) usersByReference.set(reference, (usersByReference.get(reference) ?? new Set()).add(user));
      if (now.size === 0) referencesByUser.delete(user);
      else referencesByUser.set(user, now);
      return [...gone, ...fresh];
    },
    users: (reference) => [...(usersByReference.get(reference) ?? NOTHING)],
  };
}
