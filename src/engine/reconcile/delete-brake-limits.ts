/** Limits beyond which missing tenant objects are more likely a mistake than intended. */
export interface DeleteBrakeLimits {
  /** More than this share of the copies of one kind, in percent. Default 30. */
  readonly percent: number;
  /** And more than this number of them. Default 20. */
  readonly count: number;
}

/** The default limits. */
export const DEFAULT_DELETE_BRAKE_LIMITS: DeleteBrakeLimits = { percent: 30, count: 20 };

/** One kind's copies on the host. */
export interface Absences {
  /** Copies whose tenant object a list did not have. Deletions reported by events do not count. */
  readonly absent: number;
  /** All of our copies. */
  readonly copies: number;
}

/**
 * Reports whether the delete brake must engage. Without the brake, most copies would be deleted if the source is suddenly empty, if another
 * cluster responds at its address, or if it was restored from an old backup. One kind that exceeds the limits is enough, because each kind
 * is listed separately.
 *
 * @example
 * holdsDeletes(DEFAULT_DELETE_BRAKE_LIMITS, [{ absent: 25, copies: 60 }]); // true: more than 20, and more than 30 %
 */
export function holdsDeletes({ percent, count }: DeleteBrakeLimits, kinds: readonly Absences[]): boolean {
  return kinds.some(({ absent, copies }) => absent > count && absent * 100 > copies * percent);
}
