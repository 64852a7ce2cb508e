/**
 * The rules of a leader election, as a pure function: the algorithm of client-go's `tools/leaderelection`, with one rule more
 * strict than there (a leader whose Lease is not its own any more steps down before it tries again).
 *
 * No wall clock is compared with another one, and none with itself: a Lease counts as expired when it has not changed for its
 * duration by the observer's own monotonic clock. A leader counts from before it sent its renewal, an observer from after it
 * saw the renewal; the deadline of the first is shorter than the duration of the second. So, while clocks run equally fast, the
 * one has stopped before the other begins.
 *
 * @module
 */
import { microTime, type LeaseRecord } from "./lease.ts";

/** The three times of an election, in seconds. */
export interface ElectionTimes {
  /** Who does not lead waits so long after the last renewal that it saw. */
  readonly leaseDurationSeconds: number;
  /** A leader that could not renew for so long stops. Shorter than the duration. */
  readonly renewDeadlineSeconds: number;
  /** Between two attempts. */
  readonly retryPeriodSeconds: number;
}

/** What client-go's controllers use. */
export const ELECTION_TIMES: ElectionTimes = { leaseDurationSeconds: 15, renewDeadlineSeconds: 10, retryPeriodSeconds: 2 };

/** Who waits spreads its attempts: up to this many periods are added to each. */
export const RETRY_JITTER = 1.2;

/** What is known when a step is decided. */
export interface ElectionState {
  /** Who decides. Different for every process that ever takes part. */
  readonly identity: string;
  /** The Lease as last seen; undefined when there is none. */
  readonly lease: LeaseRecord | undefined;
  /** Monotonic time at which `lease` was first seen as it is. */
  readonly observedMs: number;
  /** Monotonic time until which the decider leads; undefined when it does not. */
  readonly leadUntilMs: number | undefined;
  readonly nowMs: number;
  /** Wall time, to be written into the Lease. */
  readonly wallMs: number;
  readonly times: ElectionTimes;
}

/** What to do next. */
export type ElectionStep =
  /** Take the Lease, with this record. */
  | { readonly action: "acquire"; readonly record: LeaseRecord }
  | { readonly action: "renew"; readonly record: LeaseRecord }
  /** Somebody else leads, at least for so long. */
  | { readonly action: "wait"; readonly forMs: number }
  /** Stop at once: the deadline has passed, or the Lease is another's. */
  | { readonly action: "step-down"; readonly reason: "deadline" | "taken" };

/**
 * The next step of a candidate or leader.
 *
 * @example
 * decideElection({ identity: "a", lease: undefined, observedMs: 0, leadUntilMs: undefined, nowMs: 0, wallMs: 0, times: ELECTION_TIMES }).action; // "acquire"
 */
export function decideElection(state: ElectionState): ElectionStep {
  const { identity, lease, observedMs, leadUntilMs, nowMs } = state;
  const own = lease?.holderIdentity === identity;
  if (leadUntilMs !== undefined && nowMs >= leadUntilMs) return { action: "step-down", reason: "deadline" };
  if (leadUntilMs !== undefined && !own) return { action: "step-down", reason: "taken" };
  if (lease === undefined) return { action: "acquire", record: recordOf(state, { transitions: 0, acquired: undefined }) };
  // Our own, though we do not lead: a renewal arrived after we had given up on it.
  if (own) return { action: "renew", record: recordOf(state, { transitions: lease.leaseTransitions, acquired: lease.acquireTime }) };
  const validUntilMs = lease.holderIdentity === "" ? nowMs : observedMs + durationMs(lease, state.times);
  if (nowMs < validUntilMs) return { action: "wait", forMs: validUntilMs - nowMs };
  return { action: "acquire", record: recordOf(state, { transitions: lease.leaseTransitions + 1, acquired: undefined }) };
}

/** The holder's own duration counts; its settings may differ from ours. */
function durationMs(lease: LeaseRecord, times: ElectionTimes): number {
  return (lease.leaseDurationSeconds || times.leaseDurationSeconds) * 1000;
}

interface Origin {
  readonly transitions: number;
  /** Undefined: now. */
  readonly acquired: string | undefined;
}

function recordOf({ identity, wallMs, times }: ElectionState, { transitions, acquired }: Origin): LeaseRecord {
  const now = microTime(wallMs);
  return {
    holderIdentity: identity,
    leaseDurationSeconds: times.leaseDurationSeconds,
    acquireTime: acquired || now,
    renewTime: now,
    leaseTransitions: transitions,
  };
}

/**
 * The record of a Lease that its holder gives back: free at once, for client-go's candidates too.
 *
 * @example
 * releaseRecord(readLease(lease), clock.now()).holderIdentity; // ""
 */
export function releaseRecord({ leaseTransitions }: LeaseRecord, wallMs: number): LeaseRecord {
  const now = microTime(wallMs);
  return { holderIdentity: "", leaseDurationSeconds: 1, acquireTime: now, renewTime: now, leaseTransitions };
}

/**
 * What is wrong with these times, as client-go checks them; undefined when they will do.
 *
 * @example
 * electionTimesProblem({ leaseDurationSeconds: 10, renewDeadlineSeconds: 10, retryPeriodSeconds: 2 });
 * // "leaseDurationSeconds must be greater than renewDeadlineSeconds"
 */
export function electionTimesProblem({
  leaseDurationSeconds,
  renewDeadlineSeconds,
  retryPeriodSeconds,
}: ElectionTimes): string | undefined {
  if (leaseDurationSeconds <= renewDeadlineSeconds) return "leaseDurationSeconds must be greater than renewDeadlineSeconds";
  if (renewDeadlineSeconds > RETRY_JITTER * retryPeriodSeconds) return undefined;
  return `renewDeadlineSeconds must be greater than ${RETRY_JITTER} times retryPeriodSeconds`;
}
