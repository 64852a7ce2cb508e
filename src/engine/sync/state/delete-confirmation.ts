/** Deletions that were confirmed although the delete brake would hold them. Outlives a change of the configuration. */
export interface DeleteConfirmation {
  /** Confirms all of these, if enough confirmations are left; else none. */
  confirm(ids: readonly string[]): boolean;
  has(id: string): boolean;
  /** The object exists again: if it is deleted again, that is another deletion. */
  forget(id: string): void;
}

/**
 * Creates a confirmation of at most `count` deletions, valid once. Default: none.
 *
 * @example
 * const confirmation = createDeleteConfirmation(25);
 * confirmation.confirm(idsOf24); // true, and one more may be confirmed later
 */
export function createDeleteConfirmation(count = 0): DeleteConfirmation {
  const confirmed = new Set<string>();
  let left = count;
  return {
    confirm(ids) {
      if (ids.length > left) return false;
      left -= ids.length;
      for (const id of ids) confirmed.add(id);
      return true;
    },
    has: (id) => confirmed.has(id),
    forget: (id) => void confirmed.delete(id),
  };
}
