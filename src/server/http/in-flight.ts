/** Requests that may be under way at once; more are answered 429. */
export interface InFlightLimits {
  /** Default 400. */
  readonly reads?: number;
  /** Default 200. */
  readonly writes?: number;
}

/** Counts requests under way. */
export interface InFlight {
  /** A function to call when the request is answered, or undefined when there are too many. */
  enter(method: string): (() => void) | undefined;
}

const READING = new Set(["GET", "HEAD", "OPTIONS"]);

/** Source of the defaults: the API server's `--max-requests-inflight` and `--max-mutating-requests-inflight`. */
export function createInFlight({ reads = 400, writes = 200 }: InFlightLimits): InFlight {
  const left = { reads, writes };
  return {
    enter(method) {
      const kind = READING.has(method) ? "reads" : "writes";
      if (left[kind] <= 0) return undefined;
      left[kind] -= 1;
      return () => void (left[kind] += 1);
    },
  };
}
