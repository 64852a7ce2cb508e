/**
 * Candidates of an election over an embedded cluster, each a process of its own: it can be paused, its wall clock jumps, and
 * its way to the API server can be slow, cut, or lose answers.
 *
 * @module
 */
import type { Chance } from "../../../src/base/chance.ts";
import { delay, type Clock } from "../../../src/base/clock.ts";
import { EngineError } from "../../../src/base/errors.ts";
import { createMetrics, type MetricsRegistry } from "../../../src/base/metrics.ts";
import { createEmbeddedCluster, type EmbeddedCluster } from "../../../src/cluster/cluster.ts";
import { LEASES, NAMESPACES } from "../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import type { ElectionTimes, Sight } from "../../../src/kube/runtime/election/election-step.ts";
import { createLeaderElection, type Lead, type LeaderElection } from "../../../src/kube/runtime/election/leader-election.ts";
import { createFakeClock, type FakeClock } from "../../support/fake-clock.ts";

export const LEASE = { namespace: "vc-blue", name: "endpoint-sync-blue" };

/** Network conditions between a process and the API server. */
export interface Network {
  /** Virtual milliseconds to the server, and back. */
  latencyMs: number;
  /** `refused` at once; `blocked` until the client gives up; `answer-lost` after the server did it; `late`: the server does it after the client gave up. */
  fault: "none" | "refused" | "blocked" | "answer-lost" | "late";
}

/** One process that takes part. */
export interface Candidate {
  readonly identity: string;
  readonly election: LeaderElection;
  readonly network: Network;
  /** Sight of its clusters. */
  sight: Sight;
  readonly metrics: MetricsRegistry;
  readonly lines: string[];
  /** How the run ended: undefined while it goes on. */
  ended: Promise<void>;
  /** Whether `lead` is at work, by its own account. */
  readonly working: boolean;
  readonly terms: number;
  pause(): void;
  resume(): void;
  readonly paused: boolean;
  /** Moves its wall clock. */
  skew(ms: number): void;
  /** A stop signal. */
  stop(): void;
  /** Ends it without a word. */
  kill(): void;
}

export interface ElectionWorld {
  readonly clock: FakeClock;
  readonly cluster: EmbeddedCluster;
  readonly candidates: readonly Candidate[];
  /** Adds a process; it takes part at once. */
  join(options?: JoinOptions): Candidate;
  lease(): Promise<KubeObject | undefined>;
  close(): Promise<void>;
}

export interface JoinOptions {
  readonly times?: ElectionTimes;
  readonly fraction?: () => number;
  /** Work of a leader. Default: waits for the loss. */
  readonly lead?: Lead;
  readonly drainMs?: number;
}

/** A client gives a call up after this long: half the renew deadline. */
const CALL_MS = 5_000;

export async function createElectionWorld(): Promise<ElectionWorld> {
  const clock = createFakeClock();
  const quiet = {
    controllers: [
      "*",
      "-endpoints-controller",
      "-garbage-collector-controller",
      "-endpointslice-controller",
      "-endpointslice-mirroring-controller",
    ],
  };
  const cluster = await createEmbeddedCluster({ clock, ...quiet });
  await cluster.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: LEASE.namespace } });
  const candidates: Candidate[] = [];
  return {
    clock,
    cluster,
    candidates,
    join(options = {}) {
      const candidate = new Process({ clock, cluster, identity: `process-${candidates.length}`, ...options });
      candidates.push(candidate);
      return candidate;
    },
    lease: () => cluster.client.get(LEASES, LEASE),
    async close() {
      for (const candidate of candidates) candidate.kill();
      await clock.advance(60_000);
      await Promise.allSettled(candidates.map(({ ended }) => ended));
      await cluster.stop();
    },
  };
}

interface ProcessOptions extends JoinOptions {
  readonly clock: FakeClock;
  readonly cluster: EmbeddedCluster;
  readonly identity: string;
}

class Process implements Candidate {
  readonly #options: ProcessOptions;
  readonly identity: string;
  readonly election: LeaderElection;
  readonly network: Network = { latencyMs: 5, fault: "none" };
  sight: Sight = "clear";
  readonly metrics = createMetrics();
  readonly lines: string[] = [];
  readonly #stop = new AbortController();
  readonly #clock: Clock;
  #skewMs = 0;
  #resumed: Promise<void> | undefined;
  #resume: () => void = () => undefined;
  #dead = false;
  ended: Promise<void>;
  working = false;
  terms = 0;

  constructor(options: ProcessOptions) {
    this.#options = options;
    this.identity = options.identity;
    this.#clock = this.#ownClock();
    const chance: Chance = { fraction: options.fraction ?? (() => 0.5), uuid: () => "", bytes: (length) => new Uint8Array(length) };
    const line = (level: string) => (message: string, fields?: object) =>
      void this.lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
    const logger = { debug() {}, info: line("info"), warn: line("warn"), error: line("error") };
    this.election = createLeaderElection({
      client: this.#client(),
      lease: LEASE,
      identity: options.identity,
      clock: this.#clock,
      chance,
      logger,
      metrics: this.metrics,
      sight: () => this.sight,
      ...(options.times && { times: options.times }),
      ...(options.drainMs !== undefined && { drainMs: options.drainMs }),
    });
    this.ended = this.election.run((lost) => this.#lead(lost), this.#stop.signal);
    this.ended.catch(() => undefined);
  }

  async #lead(lost: AbortSignal): Promise<void> {
    this.working = true;
    this.terms += 1;
    const { lead = waitFor } = this.#options;
    await lead(lost);
    this.working = false;
  }

  /** Timers of a process that is paused fire when it goes on. */
  #ownClock(): Clock {
    const { clock } = this.#options;
    return {
      now: () => clock.now() + this.#skewMs,
      monotonic: () => clock.monotonic() + 1_000_000,
      schedule: (delayMs, callback) => {
        let cancelled = false;
        const fire = () => void (cancelled || this.#dead || (this.#resumed ? void this.#resumed.then(fire) : callback()));
        const timer = clock.schedule(delayMs, fire);
        return {
          cancel() {
            cancelled = true;
            timer.cancel();
          },
        };
      },
    };
  }

  #client() {
    const { client } = this.#options.cluster;
    type Lease = KubeObject | undefined;
    return {
      get: (resource: typeof LEASES, key: typeof LEASE) => this.#call<Lease>(() => client.get(resource, key)),
      create: (resource: typeof LEASES, object: KubeObject) => this.#call(() => client.create(resource, object)),
      update: (resource: typeof LEASES, object: KubeObject) => this.#call(() => client.update(resource, object)),
    };
  }

  async #call<Result>(send: () => Promise<Result>): Promise<Result> {
    const { clock } = this.#options;
    // Requests that a killed process has sent still arrive; later ones do not.
    if (this.#dead) return never();
    const { fault, latencyMs } = this.network;
    if (fault === "refused") throw unavailable("connect ECONNREFUSED");
    await delay(clock, latencyMs);
    if (fault === "none") return this.#answered(send);
    if (fault === "answer-lost") await send().catch(() => undefined);
    if (fault === "late") clock.schedule(CALL_MS + 2_000, () => void send().catch(() => undefined));
    await delay(clock, CALL_MS);
    await this.#resumed;
    throw unavailable(`no answer within ${CALL_MS} ms`);
  }

  async #answered<Result>(send: () => Promise<Result>): Promise<Result> {
    try {
      return await send();
    } finally {
      await delay(this.#options.clock, this.network.latencyMs);
      await this.#resumed;
      if (this.#dead) await never();
    }
  }

  get paused(): boolean {
    return this.#resumed !== undefined;
  }

  pause(): void {
    this.#resumed ??= new Promise((resolve) => (this.#resume = resolve));
  }

  resume(): void {
    this.#resume();
    this.#resumed = undefined;
  }

  skew(ms: number): void {
    this.#skewMs = ms;
  }

  stop(): void {
    this.#stop.abort();
  }

  kill(): void {
    this.#dead = true;
    this.ended = Promise.resolve();
  }
}

function unavailable(message: string): EngineError {
  return new EngineError("API_UNAVAILABLE", message);
}

function never<Result>(): Promise<Result> {
  return new Promise(() => undefined);
}

export function waitFor(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve(), { once: true })));
}
