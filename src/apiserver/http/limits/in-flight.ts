import { noMetrics, type Metrics } from "../../../base/metrics.ts";
import type { Body } from "../exchange.ts";
import { createLargeBodies, isLarge, type Large } from "../body/large-bodies.ts";
import { tooManyRequests } from "../../types/status.ts";

/** Limits on concurrent use. Requests beyond a limit get the response 429. */
export interface InFlightLimits {
  /** Reading requests in progress. Default 400. */
  readonly reads?: number;
  /** Writing requests in progress. Default 200. */
  readonly writes?: number;
  /** Open watches. Default 2,000. */
  readonly watches?: number;
  /** Bytes of request bodies that are being read or processed. Default 128 MiB. */
  readonly bytes?: number;
  /** The share of each limit that one caller may use, from 0 to 1; at least one unit. Default 0.25. */
  readonly callerShare?: number;
  /** The share of each limit that is reserved for administrators, from 0 to 1. Default 0.1. */
  readonly administratorShare?: number;
}

/** The limited resources. */
export type Shared = "reads" | "writes" | "watches" | "bytes";

/** The caller whose use is counted. */
export interface InFlightCaller {
  /** Identifies the caller. */
  readonly name: string;
  /** May use everything, including the part reserved for administrators. */
  readonly administers: boolean;
}

/** Counts the use of limited resources. */
export interface InFlight {
  /**
   * Takes one unit, or `amount`. Returns a function that releases it.
   *
   * @throws API_TOO_MANY_REQUESTS when the limit of this caller or the total limit is exceeded.
   */
  take(what: Shared, caller: InFlightCaller, amount?: number): () => void;
  /** Takes one unit while `action` runs. @throws like {@link take}. */
  during(what: Shared, caller: InFlightCaller, action: () => Promise<void>): Promise<void>;
  /** Returns the counter for the body of one request. `release` releases everything that the body has taken. */
  body(caller: InFlightCaller): Body & { readonly release: () => void };
}

const READING = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Reports whether requests with this method count as reads or as writes.
 *
 * @example
 * sharedBy("PATCH"); // "writes"
 */
export function sharedBy(method: string): "reads" | "writes" {
  return READING.has(method) ? "reads" : "writes";
}

/**
 * Creates the limits on requests in progress. The defaults are those of the API server's `--max-requests-inflight` and
 * `--max-mutating-requests-inflight`. The shares follow its API Priority and Fairness, which keeps one user's requests from delaying
 * others.
 */
export function createInFlight(limits: InFlightLimits, metrics: Metrics = noMetrics): InFlight {
  const { reads = 400, writes = 200, watches = 2_000, bytes = 128 * 1024 * 1024, ...shares } = limits;
  const sizes: Readonly<Record<Shared, number>> = { reads, writes, watches, bytes };
  const pools = new Map(Object.entries(sizes).map(([what, size]) => [what, new Pool(size, shares)]));
  const large = createLargeBodies();
  metrics.beforeRead(() => {
    for (const [what, kind] of REQUEST_KINDS) metrics.gauge("apiserver_current_inflight_requests", pools.get(what)!.inUse, kind);
  });
  const take: InFlight["take"] = (what, caller, amount = 1) => {
    const leave = pools.get(what)!.take(caller, amount);
    if (leave !== undefined) return leave;
    metrics.count("apiserver_rejected_requests_total", { reason: what });
    throw tooManyRequests();
  };
  return {
    take,
    async during(what, caller, action) {
      const leave = take(what, caller);
      try {
        await action();
      } finally {
        leave();
      }
    },
    body(caller) {
      const claimed: (() => void)[] = [];
      let [length, turn] = [0, undefined as Large | undefined];
      const done = () => {
        turn?.leave();
        turn = undefined;
      };
      return {
        claim(bytes) {
          claimed.push(take("bytes", caller, bytes));
          length += bytes;
        },
        begin: () => (isLarge(length) ? large.enter(caller.name, length).then((entered) => void (turn = entered)) : undefined),
        pause: () => turn?.pause(),
        done,
        release() {
          for (const release of claimed.splice(0)) release();
          done();
        },
      };
    },
  };
}

/** The labels that kube-apiserver uses. */
const REQUEST_KINDS = [
  ["reads", { request_kind: "readOnly" }],
  ["writes", { request_kind: "mutating" }],
] as const;

class Pool {
  readonly #size: number;
  readonly #open: number;
  readonly #ofOne: number;
  readonly #byCaller = new Map<string, number>();
  #inUse = 0;

  get inUse(): number {
    return this.#inUse;
  }

  constructor(size: number, { callerShare = 0.25, administratorShare = 0.1 }: InFlightLimits) {
    this.#size = size;
    this.#open = size - Math.floor(size * administratorShare);
    this.#ofOne = Math.max(1, Math.floor(size * callerShare));
  }

  take({ name, administers }: InFlightCaller, amount: number): (() => void) | undefined {
    const own = (this.#byCaller.get(name) ?? 0) + amount;
    if (this.#inUse + amount > (administers ? this.#size : this.#open) || (own > this.#ofOne && !administers)) return undefined;
    this.#inUse += amount;
    this.#byCaller.set(name, own);
    return () => {
      this.#inUse -= amount;
      const left = (this.#byCaller.get(name) ?? 0) - amount;
      if (left === 0) this.#byCaller.delete(name);
      else this.#byCaller.set(name, left);
    };
  }
}
