/** Bodies of this size or more are processed in pieces, and one at a time. */
const LARGE_BYTES = 16 * 1024;

/** Reports whether a body must wait for its turn. */
export function isLarge(bytes: number): boolean {
  return bytes >= LARGE_BYTES;
}

/** Keeps the cost of large bodies away from other callers. */
export interface LargeBodies {
  /**
   * Waits until a body of this size may be processed: large ones one after another, those of each caller in turn. Returns what to
   * call when it is done, and what to wait for between two pieces of the work; undefined for a body that is not large.
   */
  enter(caller: string, bytes: number): Promise<Large | undefined>;
}

/** A large body that is worked on. */
export interface Large {
  readonly leave: () => void;
  /** Lets other requests proceed. */
  readonly pause: () => Promise<void>;
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Creates the queue of large bodies. */
export function createLargeBodies(): LargeBodies {
  /** Waiting bodies, by caller; callers in the order of their turns. */
  const waiting = new Map<string, (() => void)[]>();
  let busy = false;
  const leave = () => {
    const [first] = waiting;
    if (first === undefined) return void (busy = false);
    const [caller, [begin, ...others]] = first;
    waiting.delete(caller);
    if (others.length > 0) waiting.set(caller, others);
    begin!();
  };
  return {
    async enter(caller, bytes) {
      if (!isLarge(bytes)) return undefined;
      if (busy) {
        const begun = new Promise<void>((begin) => waiting.set(caller, [...(waiting.get(caller) ?? []), begin]));
        await begun;
      }
      busy = true;
      await nextTurn();
      return { leave, pause: nextTurn };
    },
  };
}
