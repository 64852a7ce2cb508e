/** Requests that may be under way at once; more are answered 429. */
export interface InFlightLimits {
  /** Default 400. */
  readonly reads?: number;
  /** Default 200. */
  readonly writes?: number;
  /** The part of either that one caller may use, from 0 to 1; at least one request. Default 0.25. */
  readonly callerShare?: number;
  /** The part of either that only administrators may use, from 0 to 1. Default 0.1. */
  readonly administratorShare?: number;
}

/** Whose request it is. */
export interface InFlightCaller {
  /** Tells callers apart. */
  readonly name: string;
  /** May use what is kept for administrators, and all of it. */
  readonly administers: boolean;
}

/** Counts requests under way. */
export interface InFlight {
  /** A function to call when the request is answered, or undefined when there are too many: of this caller, or of all. */
  enter(method: string, caller: InFlightCaller): (() => void) | undefined;
}

const READING = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Sources of the defaults: the API server's `--max-requests-inflight` and `--max-mutating-requests-inflight`; of the shares, its
 * priority and fairness, by which no user's requests hold up those of others.
 */
export function createInFlight({ reads = 400, writes = 200, ...shares }: InFlightLimits): InFlight {
  const pools = { reads: createPool(reads, shares), writes: createPool(writes, shares) };
  return { enter: (method, caller) => pools[READING.has(method) ? "reads" : "writes"](caller) };
}

type Pool = (caller: InFlightCaller) => (() => void) | undefined;

function createPool(size: number, { callerShare = 0.25, administratorShare = 0.1 }: Omit<InFlightLimits, "reads" | "writes">): Pool {
  const open = size - Math.floor(size * administratorShare);
  const ofOne = Math.max(1, Math.floor(size * callerShare));
  const byCaller = new Map<string, number>();
  let all = 0;
  return ({ name, administers }) => {
    const own = byCaller.get(name) ?? 0;
    if (all >= (administers ? size : open) || (own >= ofOne && !administers)) return undefined;
    all += 1;
    byCaller.set(name, own + 1);
    return () => {
      all -= 1;
      const left = byCaller.get(name)! - 1;
      if (left === 0) byCaller.delete(name);
      else byCaller.set(name, left);
    };
  };
}
