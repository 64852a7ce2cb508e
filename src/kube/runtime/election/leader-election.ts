import type { Chance } from "../../../base/chance.ts";
import { delay, type Clock } from "../../../base/clock.ts";
import { EngineError, isEngineError, messageOf } from "../../../base/errors.ts";
import { silentLogger, type Logger } from "../../../base/logger.ts";
import { noMetrics, type Metrics } from "../../../base/metrics.ts";
import type { ClusterClient } from "../../object/cluster-client.ts";
import { formatKey, type ObjectKey } from "../../object/key.ts";
import { LEASES } from "../../object/resource.ts";
import type { KubeObject } from "../../object/types.ts";
import {
  decideElection,
  ELECTION_TIMES,
  electionTimesProblem,
  handedRecord,
  handoverMs,
  releaseRecord,
  RETRY_JITTER,
  type ElectionStep,
  type ElectionTimes,
  type Sight,
} from "./election-step.ts";
import { NO_NOTES, readLease, readNotes, writeLease, type LeaseNotes, type LeaseRecord } from "./lease.ts";

/** How an election is set up. */
export interface LeaderElectionOptions {
  /**
   * A separate client, so that waiting writes do not delay a renewal. Each of its calls must end within half the renew deadline.
   */
  readonly client: Pick<ClusterClient, "get" | "create" | "update">;
  /** The Lease that candidates compete for. */
  readonly lease: ObjectKey;
  /** Unique among all processes that ever take part, including restarted ones. */
  readonly identity: string;
  readonly clock: Clock;
  readonly chance: Chance;
  /** Default 15, 10 and 2 s, as in client-go. */
  readonly times?: ElectionTimes;
  /** Time for `lead` to end after a loss, in milliseconds. Default 35 s: longer than a call may take. */
  readonly drainMs?: number;
  /** How well this process reaches its clusters. A blind leader hands the Lease to a candidate that requests it. Default: clear. */
  readonly sight?: () => Sight;
  /** Receives the results of requests for the Lease. */
  readonly reach?: Reach;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
}

/** Records each request and its response. */
export interface Reach {
  asked(): void;
  answered(): void;
  failed(error: unknown): void;
}

/**
 * The work of the leader. When `lost` aborts, the term is over: the function finishes work in progress, begins nothing new, and resolves.
 * It may be called again.
 */
export type Lead = (lost: AbortSignal) => Promise<void>;

/**
 * Competes for a Lease, with the protocol of client-go's leader election. Candidates that use client-go can take part.
 *
 * Guarantees:
 * - `leading` is never true in two processes at the same time, regardless of their wall clocks and of how long one of them was paused, as
 *   long as their monotonic clocks run equally fast and only candidates write the Lease.
 * - `leading` depends on the clock: a process that continues after its deadline immediately reads false.
 * - A Lease is released only when `lead` has ended. After a crash, other candidates wait until it expires.
 * - A blind leader leads until a candidate whose sight is clear requests the Lease. The leader hands it over when `lead` has ended, or at
 *   the latest when the Lease would have expired.
 */
export interface LeaderElection {
  /** True until the renew deadline, counted from the beginning of the last renewal that succeeded. */
  readonly leading: boolean;
  /** The last known leader; "" if there is none. */
  readonly holder: string;
  /**
   * Stands by, leads, and stands by again, until `stop` aborts.
   *
   * @throws LEADERSHIP_LOST when `lead` does not end in time after a loss: only the end of the process reliably ends it.
   * @throws errors of `lead`.
   */
  run(lead: Lead, stop: AbortSignal): Promise<void>;
}

/**
 * Creates an election that has not begun.
 *
 * @throws CONFIG_VALUE when the times contradict each other.
 * @example
 * const election = createLeaderElection({ client, lease: { namespace: "vc-blue", name: "endpoint-sync-blue" }, identity, clock, chance });
 * await election.run((lost) => syncer.lead(lost), stop);
 */
export function createLeaderElection(options: LeaderElectionOptions): LeaderElection {
  const problem = electionTimesProblem(options.times ?? ELECTION_TIMES);
  if (problem !== undefined) throw new EngineError("CONFIG_VALUE", `Cannot take part in an election: ${problem}`);
  return new Candidate(options);
}

/** Longer than the 30 s after which a write that hangs ends by itself, so that the process does not have to end because of it. */
const DRAIN_MS = 35_000;

/** Reason of the abort when a term ends because another candidate has requested the Lease. */
const ASKED = "asked";

type Written = Extract<ElectionStep, { readonly action: "acquire" | "renew" }>;

class Candidate implements LeaderElection {
  readonly #options: LeaderElectionOptions;
  readonly #times: ElectionTimes;
  readonly #logger: Logger;
  readonly #metrics: Metrics;
  /** The Lease in the last response; undefined if it must be read. */
  #present: KubeObject | undefined;
  #notes: LeaseNotes = NO_NOTES;
  /** The Lease as last seen, and since when. */
  #observed: { readonly lease: LeaseRecord | undefined; readonly text: string; readonly sinceMs: number };
  #leadUntilMs: number | undefined;
  /** True from the first report of a failure until an attempt succeeds. */
  #troubled = false;

  constructor(options: LeaderElectionOptions) {
    this.#options = options;
    this.#times = options.times ?? ELECTION_TIMES;
    this.#logger = options.logger ?? silentLogger;
    this.#metrics = options.metrics ?? noMetrics;
    this.#observed = { lease: undefined, text: "", sinceMs: options.clock.monotonic() };
  }

  get leading(): boolean {
    return this.#leadUntilMs !== undefined && this.#options.clock.monotonic() < this.#leadUntilMs;
  }

  get holder(): string {
    return this.#observed.lease?.holderIdentity ?? "";
  }

  async run(lead: Lead, stop: AbortSignal): Promise<void> {
    this.#reportStatus();
    while (!stop.aborted) {
      await this.#standBy(stop);
      if (this.leading && !stop.aborted) await this.#term(lead, stop);
    }
    // `stop` aborted after the Lease was acquired and before the term began.
    if (this.#leadUntilMs !== undefined) await this.#giveBack();
  }

  async #standBy(stop: AbortSignal): Promise<void> {
    const { lease, identity } = this.#options;
    this.#logger.info("Standing by", { lease: formatKey(lease), identity });
    while (!stop.aborted) {
      // A process that stood still can find that its term has ended before it began. The Lease is then read again.
      if (!this.leading) this.#leadUntilMs = undefined;
      const step = await this.#attempt();
      if (this.leading) return;
      await delay(this.#options.clock, this.#pauseMs(step), stop);
    }
  }

  /** Returns the time until the next attempt. If the Lease is not renewed, the attempt follows soon after its end. */
  #pauseMs(step: ElectionStep | undefined): number {
    const { chance } = this.#options;
    const periodMs = this.#times.retryPeriodSeconds * 1000;
    const usualMs = periodMs * (1 + RETRY_JITTER * chance.fraction());
    // After an outage, the wait for the end of a Lease begins only when the Lease is read again.
    if (step === undefined) return (periodMs / 2) * (1 + chance.fraction());
    // A candidate that has requested the Lease gets it soon.
    if (step.action === "ask" || this.#notes.askedBy === this.#options.identity) return (periodMs / 4) * (1 + chance.fraction());
    return step.action === "wait" ? Math.min(usualMs, step.forMs + (periodMs / 4) * chance.fraction()) : usualMs;
  }

  /** Leads until the Lease is lost or `stop` aborts, and until `lead` has ended. */
  async #term(lead: Lead, stop: AbortSignal): Promise<void> {
    const lost = new AbortController();
    const failure: { error?: unknown } = {};
    this.#reportStatus();
    this.#logger.info("Leading", { lease: formatKey(this.#options.lease), identity: this.#options.identity });
    const stopped = () => lost.abort();
    // Added before the work begins, which may request the stop immediately.
    stop.addEventListener("abort", stopped, { once: true });
    const working = lead(lost.signal).catch((error: unknown) => {
      failure.error = error;
      lost.abort();
    });
    await this.#keep(lost);
    stop.removeEventListener("abort", stopped);
    if (lost.signal.reason === ASKED) await this.#handOver(working);
    const drained = await this.#drained(working);
    await this.#endTerm({ drained, given: stop.aborted || "error" in failure });
    if ("error" in failure) throw failure.error;
  }

  /** Renews the Lease until `lost` aborts. Aborts `lost` when the deadline passes, or when the Lease is taken or requested. */
  async #keep(lost: AbortController): Promise<void> {
    const { clock } = this.#options;
    const watchdog = this.#watchDeadline(lost);
    while (!lost.signal.aborted) {
      await delay(clock, this.#times.retryPeriodSeconds * 1000, lost.signal);
      if (lost.signal.aborted) break;
      const step = await this.#attempt();
      if (step?.action === "step-down") this.#stepDown(lost, step.reason);
    }
    watchdog.cancel();
  }

  /** Enforces the deadline, even while a renewal hangs. */
  #watchDeadline(lost: AbortController): { cancel(): void } {
    const { clock } = this.#options;
    const leftMs = () => (this.#leadUntilMs ?? 0) - clock.monotonic();
    const check = () => {
      if (leftMs() <= 0) this.#stepDown(lost, "deadline");
      else timer = clock.schedule(leftMs(), check);
    };
    let timer = clock.schedule(leftMs(), check);
    return { cancel: () => timer.cancel() };
  }

  #stepDown(lost: AbortController, reason: "deadline" | "taken" | "asked"): void {
    if (lost.signal.aborted) return;
    this.#leadUntilMs = undefined;
    this.#reportStatus();
    const fields = { lease: formatKey(this.#options.lease), reason, holder: this.holder };
    if (reason === "asked") this.#logger.info("Handing over the lease", { ...fields, to: this.#notes.askedBy });
    else this.#logger.warn("Lost the lease", fields);
    lost.abort(reason === "asked" ? ASKED : undefined);
  }

  /** Hands the Lease over after work in progress has ended, or after the time that a Lease needs to expire. No new work begins. */
  async #handOver(working: Promise<void>): Promise<void> {
    const { clock } = this.#options;
    const to = this.#notes.askedBy;
    await this.#drained(working, handoverMs(this.#times));
    await this.#leave((record) => handedRecord(record, to, clock.now()));
  }

  async #drained(working: Promise<void>, drainMs = this.#options.drainMs ?? DRAIN_MS): Promise<boolean> {
    const { clock } = this.#options;
    const ended = new AbortController();
    let finished = false;
    const finish = working.then(() => {
      finished = true;
      ended.abort();
    });
    await Promise.race([finish, delay(clock, drainMs, ended.signal)]);
    return finished;
  }

  /** Ends the term. The Lease is not released while work may still be running. */
  async #endTerm({ drained, given }: { readonly drained: boolean; readonly given: boolean }): Promise<void> {
    const { drainMs = DRAIN_MS, lease } = this.#options;
    if (drained && given && this.leading) await this.#giveBack();
    this.#leadUntilMs = undefined;
    this.#reportStatus();
    if (drained || given) return;
    throw new EngineError(
      "LEADERSHIP_LOST",
      `Lost the lease ${formatKey(lease)}, and the work in progress did not end within ${drainMs} ms`,
    );
  }

  /** Reads the Lease and, if the rules require it, writes it. Never throws; undefined if this failed or another candidate was faster. */
  async #attempt(): Promise<ElectionStep | undefined> {
    const { reach } = this.#options;
    for (let races = 0; ; races++) {
      try {
        reach?.asked();
        const step = await this.#step();
        this.#reportReached();
        return step;
      } catch (error) {
        // The known state can be used for the next attempt even if the write took place: a conflict then shows that it is outdated.
        if (!this.#isLostRace(error)) return this.#report(error);
        reach?.answered();
        this.#present = undefined;
        // A leader finds out immediately who won; a candidate can wait.
        if (this.#leadUntilMs === undefined || races > 0) return undefined;
      }
    }
  }

  /** Reports whether another candidate was faster. This is not a failure: the next attempt reads the Lease that it wrote. */
  #isLostRace(error: unknown): boolean {
    if (isEngineError(error, "API_CONFLICT", "API_ALREADY_EXISTS")) return true;
    // The Lease was deleted between read and write. If there was no Lease before, the namespace is missing.
    return this.#present !== undefined && isEngineError(error, "API_NOT_FOUND");
  }

  async #step(): Promise<ElectionStep> {
    // A leader continues from its own last write, with one call instead of two.
    const led = this.#leadUntilMs !== undefined;
    if (!led || this.#present === undefined) await this.#read();
    // A term that has ended in the meantime is not continued.
    if (led && this.#leadUntilMs === undefined) return { action: "step-down", reason: "deadline" };
    const step = this.#decide();
    if (step.action === "acquire" || step.action === "renew") await this.#write(step, { led });
    if (step.action === "ask") await this.#ask(step.notes);
    return step;
  }

  async #ask(notes: LeaseNotes): Promise<void> {
    const { client, lease: key } = this.#options;
    const present = this.#present!;
    this.#observe(await client.update(LEASES, writeLease(readLease(present), { key, present, notes })));
    this.#logger.info("Requested the lease: its holder cannot reach its clusters", {
      lease: formatKey(key),
      holder: this.holder,
      since: notes.blindSince,
    });
  }

  #decide(): ElectionStep {
    const { identity, clock, sight = () => "clear" } = this.#options;
    const { lease, sinceMs } = this.#observed;
    const now = { nowMs: clock.monotonic(), wallMs: clock.now() };
    const known = { lease, notes: this.#notes, observedMs: sinceMs, leadUntilMs: this.#leadUntilMs };
    return decideElection({ identity, ...known, sight: sight(), ...now, times: this.#times });
  }

  async #read(): Promise<void> {
    const { client, lease } = this.#options;
    this.#present = undefined;
    this.#observe(await client.get(LEASES, lease));
  }

  /** Writes the Lease. The renewal counts from the beginning of the request, because the server may have processed it right then. */
  async #write({ record, notes }: Written, { led }: { readonly led: boolean }): Promise<void> {
    const { client, lease: key, clock } = this.#options;
    const beganMs = clock.monotonic();
    const lease = writeLease(record, { key, present: this.#present, notes });
    const written = this.#present === undefined ? await client.create(LEASES, lease) : await client.update(LEASES, lease);
    this.#observe(written);
    if (!led || this.#leadUntilMs !== undefined) this.#extend(beganMs);
  }

  #extend(beganMs: number): void {
    const untilMs = beganMs + this.#times.renewDeadlineSeconds * 1000;
    if (this.#options.clock.monotonic() < untilMs) this.#leadUntilMs = untilMs;
  }

  #observe(lease: KubeObject | undefined): void {
    this.#present = lease;
    this.#notes = lease === undefined ? NO_NOTES : readNotes(lease);
    const record = lease && readLease(lease);
    const text = JSON.stringify(record) ?? "";
    // A Lease is renewed only by a change of its record, not by a change of its labels.
    if (text === this.#observed.text) return;
    this.#observed = { lease: record, text, sinceMs: this.#options.clock.monotonic() };
  }

  #giveBack(): Promise<void> {
    return this.#leave((record) => releaseRecord(record, this.#options.clock.now()));
  }

  /** Writes another holder, or none, in place of this process. Never throws. */
  async #leave(left: (record: LeaseRecord) => LeaseRecord): Promise<void> {
    const { client, lease: key } = this.#options;
    const present = this.#present;
    this.#leadUntilMs = undefined;
    try {
      if (present !== undefined) this.#observe(await client.update(LEASES, writeLease(left(readLease(present)), { key, present })));
    } catch (error) {
      this.#logger.warn("Cannot release the lease; others wait until it expires", { lease: formatKey(key), error: messageOf(error) });
    }
  }

  #reportReached(): void {
    this.#options.reach?.answered();
    if (this.#troubled) this.#logger.info("Reached the lease again", { lease: formatKey(this.#options.lease) });
    this.#troubled = false;
  }

  #report(error: unknown): undefined {
    this.#options.reach?.failed(error);
    const fields = { lease: formatKey(this.#options.lease), error: messageOf(error), leading: this.leading };
    if (this.#troubled) this.#logger.debug("Still cannot reach the lease", fields);
    else this.#logger.warn("Cannot reach the lease", fields);
    this.#troubled = true;
    return undefined;
  }

  #reportStatus(): void {
    this.#metrics.gauge("leader_election_master_status", this.leading ? 1 : 0, { name: this.#options.lease.name });
  }
}
