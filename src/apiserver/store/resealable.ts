/**
 * Stores that encrypt their values with replaceable keys. A new key encrypts later writes; values that older keys have encrypted are
 * re-encrypted step by step while the store is in use.
 *
 * Consistency, each a case of `test/conformance/resealable.ts`:
 * - A step changes no object, and neither loses nor repeats a write that happens at the same time. In a store that does not assign
 * revisions itself, a re-encrypted value gets the next revision, as if its author had written it again.
 * - The result of a step survives the end of the process: the next one continues from there.
 * - When a step reports that it was the last one, the store can be opened without the older keys.
 *
 * @module
 */

/** Result of one step. */
export interface ResealStep {
  /** Number of values that this step has re-encrypted with the first key. */
  readonly resealed: number;
  /** True if every value that the store can reach is encrypted with the first key. */
  readonly done: boolean;
}

/** Re-encrypts values. */
export interface Resealable {
  /**
   * Returns the number of values that are encrypted with each key, by key id; 0 for an unused key. Includes values in the history that the
   * store needs when it opens.
   */
  sealedBy(): Promise<ReadonlyMap<string, number>>;
  /**
   * Examines the next values, and re-encrypts those encrypted with an older key.
   *
   * @param most Number of values to examine; a step with long values ends earlier.
   * @throws STORE_FAILED when nothing can be written; API_UNAVAILABLE while a store behind a network cannot be reached.
   */
  reseal(most: number): Promise<ResealStep>;
}
