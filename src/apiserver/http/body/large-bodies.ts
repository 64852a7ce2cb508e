/** Bodies of this size or more are processed in pieces, and one at a time. */
const LARGE_BYTES = 16 * 1024;

/** Reports whether a body must wait for its turn. */
export function isLarge(bytes: number): boolean {
  return bytes >= LARGE_BYTES;
}

/** Processes large bodies one at a time, so that they do not delay other callers. */
export interface LargeBodies {
  /**
   * Waits until a body of this size may be processed. Large bodies are processed one after another, and the callers take turns. Returns
   * undefined for a body that is not large.
   */
  enter(caller: string, bytes: number): Promise<Large | undefined>;
}

/** A large body that is being processed. */
export interface Large {
  /** Must be called when the body has been processed. */
  readonly leave: () => void;
  /** Lets other requests proceed. Called between two pieces of the work. */
  readonly pause: () => Promise<void>;
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Creates the queue of large bodies. */
export function createLargeBodies(): LargeBodies {
  /** Waiting bodies by caller, in the order of the callers' turns. */
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
