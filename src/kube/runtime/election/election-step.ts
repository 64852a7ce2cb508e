/**
 * The rules of a leader election, as a pure function: the algorithm of client-go's `tools/leaderelection`, with one stricter rule (a
 * leader that has lost its Lease steps down before it tries again).
 *
 * Wall clocks are never compared: a Lease counts as expired when it has not changed for its duration, measured by the observer's own
 * monotonic clock. The leader measures from before it sends a renewal, an observer from after it sees the renewal, and the leader's
 * deadline is shorter than the observer's duration. As long as clocks run at the same speed, the leader therefore stops before the observer
 * begins.
 *
 * A leader that cannot reach its clusters records this in a note on the Lease and continues. A candidate that can reach them requests the
 * Lease, also in a note; the leader then stops and writes the candidate's name into the Lease. The leader stays as long as no candidate
 * can reach more.
 *
 * @module
 */
import { leaseTime, NO_NOTES, type LeaseNotes, type LeaseRecord } from "./lease.ts";

/** The three times of an election, in seconds. */
export interface ElectionTimes {
  /** A candidate waits this long after the last renewal that it saw. */
  readonly leaseDurationSeconds: number;
  /** Time without a renewal after which a leader stops. Shorter than the duration. */
  readonly renewDeadlineSeconds: number;
  /** Time between two attempts. */
  readonly retryPeriodSeconds: number;
}

/** Defaults of client-go's controllers. */
export const ELECTION_TIMES: ElectionTimes = { leaseDurationSeconds: 15, renewDeadlineSeconds: 10, retryPeriodSeconds: 2 };

/** Maximum random delay that a candidate adds to an attempt, in retry periods, so that attempts are spread. */
export const RETRY_JITTER = 1.2;

/**
 * How well a candidate reaches its clusters: `clear` if it has reached them for some time, `unsteady` if this is unknown or recent, `blind`
 * if it could not reach one for so long that another candidate should lead.
 */
export type Sight = "clear" | "unsteady" | "blind";

/** Input of one step. */
export interface ElectionState {
  /** Identity of this candidate. Unique among all processes that ever take part. */
  readonly identity: string;
  /** The Lease as last seen; undefined when there is none. */
  readonly lease: LeaseRecord | undefined;
  /** Notes on the Lease. Default: none. */
  readonly notes?: LeaseNotes;
  /** Default clear. */
  readonly sight?: Sight;
  /** Monotonic time at which the current content of `lease` was first seen. */
  readonly observedMs: number;
  /** Monotonic time until which this candidate leads; undefined if it does not lead. */
  readonly leadUntilMs: number | undefined;
  readonly nowMs: number;
  /** Wall time, to be written into the Lease. */
  readonly wallMs: number;
  readonly times: ElectionTimes;
}

/** The next action. */
export type ElectionStep =
  /** Take the Lease, with this record and these notes. */
  | { readonly action: "acquire"; readonly record: LeaseRecord; readonly notes: LeaseNotes }
  | { readonly action: "renew"; readonly record: LeaseRecord; readonly notes: LeaseNotes }
  /** Request the Lease from its holder with these notes, because this candidate can reach more. */
  | { readonly action: "ask"; readonly notes: LeaseNotes }
  /** Another candidate leads, at least for this time. */
  | { readonly action: "wait"; readonly forMs: number }
  /** Stop immediately: the deadline has passed, another candidate has the Lease, or a candidate that can reach more has requested it. */
  | { readonly action: "step-down"; readonly reason: "deadline" | "taken" | "asked" };

/**
 * Returns the next step of a candidate or leader.
 *
 * @example
 * decideElection({ identity: "a", lease: undefined, observedMs: 0, leadUntilMs: undefined, nowMs: 0, wallMs: 0, times: ELECTION_TIMES }).action; // "acquire"
 */
export function decideElection(state: ElectionState): ElectionStep {
  const { identity, lease, leadUntilMs, nowMs, sight = "clear", notes = NO_NOTES } = state;
  const own = lease?.holderIdentity === identity;
  if (leadUntilMs !== undefined && nowMs >= leadUntilMs) return { action: "step-down", reason: "deadline" };
  if (leadUntilMs !== undefined && !own) return { action: "step-down", reason: "taken" };
  if (lease === undefined) return acquisition(state, 0);
  if (leadUntilMs !== undefined && sight === "blind" && notes.askedBy !== "") return { action: "step-down", reason: "asked" };
  // Also if this candidate does not lead: the Lease was handed to it, or a renewal arrived after its timeout.
  if (own) return renewal(state, lease);
  const freeMs = validUntilMs(state, lease);
  if (nowMs >= freeMs) return acquisition(state, lease.leaseTransitions + 1);
  const asks = sight === "clear" && notes.blindSince !== "" && notes.askedBy === "" && lease.holderIdentity !== "";
  return asks ? { action: "ask", notes: { ...notes, askedBy: identity } } : { action: "wait", forMs: freeMs - nowMs };
}

function acquisition(state: ElectionState, transitions: number): ElectionStep {
  return {
    action: "acquire",
    record: recordOf(state, { transitions, acquired: undefined }),
    notes: notesOf({ ...state, notes: NO_NOTES }),
  };
}

function renewal(state: ElectionState, { leaseTransitions, acquireTime }: LeaseRecord): ElectionStep {
  return { action: "renew", record: recordOf(state, { transitions: leaseTransitions, acquired: acquireTime }), notes: notesOf(state) };
}

/** Returns the notes of a holder. They are empty while it is not blind, so that a request for the Lease is ignored. */
function notesOf({ sight, notes = NO_NOTES, wallMs }: ElectionState): LeaseNotes {
  return sight === "blind" ? { ...notes, blindSince: notes.blindSince || leaseTime(wallMs) } : NO_NOTES;
}

/** Returns when a Lease is free. A blind candidate leaves a free Lease to the others for their longest retry period. */
function validUntilMs({ observedMs, times, sight }: ElectionState, lease: LeaseRecord): number {
  const lastsMs = lease.holderIdentity === "" ? 0 : durationMs(lease, times);
  const politeMs = sight === "blind" ? (1 + RETRY_JITTER) * times.retryPeriodSeconds * 1000 : 0;
  return observedMs + lastsMs + politeMs;
}

/** Returns the duration of a Lease. The holder's own duration counts, because its settings may differ. */
function durationMs(lease: LeaseRecord, times: ElectionTimes): number {
  return (lease.leaseDurationSeconds || times.leaseDurationSeconds) * 1000;
}

interface Origin {
  readonly transitions: number;
  /** Undefined: now. */
  readonly acquired: string | undefined;
}

function recordOf({ identity, wallMs, times }: ElectionState, { transitions, acquired }: Origin): LeaseRecord {
  const now = leaseTime(wallMs);
  return {
    holderIdentity: identity,
    leaseDurationSeconds: times.leaseDurationSeconds,
    acquireTime: acquired || now,
    renewTime: now,
    leaseTransitions: transitions,
  };
}

/**
 * Returns the record of a Lease that its holder releases. The Lease is free immediately, even for candidates that use client-go.
 *
 * @example
 * releaseRecord(readLease(lease), clock.now()).holderIdentity; // ""
 */
export function releaseRecord({ leaseTransitions }: LeaseRecord, wallMs: number): LeaseRecord {
  const now = leaseTime(wallMs);
  return { holderIdentity: "", leaseDurationSeconds: 1, acquireTime: now, renewTime: now, leaseTransitions };
}

/**
 * Returns the record of a Lease that its holder hands to the candidate that requested it. The candidate leads as soon as it has renewed the
 * Lease. If it never does, the Lease expires like any other.
 *
 * @example
 * handedRecord(readLease(lease), "syncer-1_77ab…", clock.now()).leaseTransitions; // one more
 */
export function handedRecord({ leaseTransitions, leaseDurationSeconds }: LeaseRecord, to: string, wallMs: number): LeaseRecord {
  const now = leaseTime(wallMs);
  return { holderIdentity: to, leaseDurationSeconds, acquireTime: now, renewTime: now, leaseTransitions: leaseTransitions + 1 };
}

/**
 * How long a leader waits for its work to end before it hands over a requested Lease, in milliseconds: the
 * time between the renew deadline and the end of the Lease. Work that is still in progress then is fenced off in the same way.
 */
export function handoverMs({ leaseDurationSeconds, renewDeadlineSeconds }: ElectionTimes): number {
  return (leaseDurationSeconds - renewDeadlineSeconds) * 1000;
}

/**
 * Returns why client-go's checks reject these times; undefined if they are valid.
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
