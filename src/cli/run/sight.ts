/**
 * Reachability of both clusters from this process: for `/readyz`, since when a cluster cannot be reached or followed; for the election,
 * whether another process with better reachability should lead.
 *
 * @module
 */
import { delay } from "../../base/clock.ts";
import { isEngineError } from "../../base/errors.ts";
import { loggableMessage } from "../../base/logger.ts";
import type { Sight } from "../../kube/runtime/election/election-step.ts";
import type { Reach } from "../../kube/runtime/election/leader-election.ts";
import type { FollowedCluster, Runtime } from "../input/followed-cluster.ts";

/** Times of a sight, in milliseconds. */
export interface SightTimes {
  /** Time without a response, or without a working watch, after which a cluster counts as unreachable. */
  readonly lostAfterMs: number;
  /** Time without a failure after which the sight of a cluster is `clear`. */
  readonly clearAfterMs: number;
}

/** The reachability of one cluster from this process. Requests for the Lease and probes update it. */
export interface ClusterSight extends Reach {
  readonly sight: Sight;
  /** One line for the cluster, or for each kind, that cannot be reached or followed, with the time since when. */
  lost(): readonly string[];
}

/** A cluster to observe. */
export type SeenCluster = Pick<FollowedCluster, "side"> & {
  readonly access: Pick<FollowedCluster["access"], "lost" | "retryNow" | "identity">;
};

/** Tracks whether a cluster is reachable. At first this is unknown: the cluster is neither reachable nor lost. */
export function createClusterSight(cluster: SeenCluster, times: SightTimes, runtime: Pick<Runtime, "clock">): ClusterSight {
  return new WatchedCluster(cluster, times, runtime);
}

class WatchedCluster implements ClusterSight {
  readonly #cluster: SeenCluster;
  readonly #times: SightTimes;
  readonly #clock: Runtime["clock"];
  /** Monotonic time of the first request since the last response. */
  #unansweredMs: number | undefined;
  /** Monotonic time of the first response since the last failure. */
  #answeringMs: number | undefined;
  #failure: unknown;

  constructor(cluster: SeenCluster, times: SightTimes, { clock }: Pick<Runtime, "clock">) {
    this.#cluster = cluster;
    this.#times = times;
    this.#clock = clock;
  }

  asked(): void {
    this.#unansweredMs ??= this.#clock.monotonic();
  }

  answered(): void {
    const back = this.#answeringMs === undefined;
    this.#unansweredMs = undefined;
    this.#answeringMs ??= this.#clock.monotonic();
    // Informers increase the delay between their attempts.
    if (back) this.#cluster.access.retryNow();
  }

  failed(error: unknown): void {
    this.#failure = error;
    this.#answeringMs = undefined;
  }

  get sight(): Sight {
    const { access } = this.#cluster;
    if (access.identity.wrong !== undefined || this.lost().length > 0) return "blind";
    const clear = this.#answeringMs !== undefined && this.#since(this.#answeringMs) >= this.#times.clearAfterMs;
    return clear && access.lost().length === 0 ? "clear" : "unsteady";
  }

  lost(): readonly string[] {
    const { side, access } = this.#cluster;
    const lost = access.lost();
    if (this.#unansweredMs !== undefined && this.#isLost(this.#unansweredMs)) {
      const sinceMs = Math.min(this.#unansweredMs, ...lost.map((kind) => kind.sinceMs));
      const why = this.#failure === undefined ? "it does not respond" : loggableMessage(this.#failure);
      return [`unable to reach the ${side} cluster since ${this.#wall(sinceMs)}: ${why}`];
    }
    return lost
      .filter(({ sinceMs }) => this.#isLost(sinceMs))
      .map(({ kind, sinceMs }) => `unable to follow ${kind} of the ${side} cluster since ${this.#wall(sinceMs)}`);
  }

  #isLost(sinceMs: number): boolean {
    return this.#since(sinceMs) >= this.#times.lostAfterMs;
  }

  #since(monotonicMs: number): number {
    return this.#clock.monotonic() - monotonicMs;
  }

  #wall(monotonicMs: number): string {
    return new Date(this.#clock.now() - this.#since(monotonicMs)).toISOString();
  }
}

const RANK: Readonly<Record<Sight, number>> = { clear: 0, unsteady: 1, blind: 2 };

/** Returns the reachability of the least reachable cluster. */
export function leastOf(clusters: readonly Pick<ClusterSight, "sight">[]): Sight {
  return clusters.map(({ sight }) => sight).reduce((least, sight) => (RANK[sight] > RANK[least] ? sight : least), "clear");
}

/** How a cluster is probed. */
export interface ClusterProbe {
  readonly reach: Reach;
  /** Rejects if there is no response. */
  readonly ask: () => Promise<unknown>;
  /** Interval between two probes, in milliseconds. */
  readonly everyMs: number;
  readonly runtime: Pick<Runtime, "clock">;
}

/** Probes a cluster repeatedly, until the returned function is called. A refusal counts as a response. */
export function keepAsking({ reach, ask, everyMs, runtime: { clock } }: ClusterProbe): () => Promise<void> {
  const stop = new AbortController();
  const asking = (async () => {
    while (!stop.signal.aborted) {
      reach.asked();
      try {
        await ask();
        reach.answered();
      } catch (error) {
        if (isEngineError(error, "API_FORBIDDEN", "API_TOO_MANY_REQUESTS")) reach.answered();
        else reach.failed(error);
      }
      await delay(clock, everyMs, stop.signal);
    }
  })();
  return () => {
    stop.abort();
    return asking;
  };
}
