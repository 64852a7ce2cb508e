import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  decideElection,
  ELECTION_TIMES,
  electionTimesProblem,
  handedRecord,
  handoverMs,
  releaseRecord,
  type ElectionState,
  type ElectionStep,
} from "../../../src/kube/runtime/election/election-step.ts";
import {
  leaseTime,
  NO_NOTES,
  readLease,
  readNotes,
  writeLease,
  type LeaseNotes,
  type LeaseRecord,
} from "../../../src/kube/runtime/election/lease.ts";

const T0 = "2026-01-01T00:00:00.000000Z";
const NOW = "2026-01-01T00:01:00.000000Z";
const WALL_MS = Date.parse("2026-01-01T00:01:00Z");

function record(fields: Partial<LeaseRecord> = {}): LeaseRecord {
  return { holderIdentity: "other", leaseDurationSeconds: 15, acquireTime: T0, renewTime: T0, leaseTransitions: 3, ...fields };
}

function state(fields: Partial<ElectionState> = {}): ElectionState {
  const times = ELECTION_TIMES;
  return { identity: "me", lease: record(), observedMs: 0, leadUntilMs: undefined, nowMs: 1_000, wallMs: WALL_MS, times, ...fields };
}

const mine = (fields: Partial<LeaseRecord> = {}) => record({ holderIdentity: "me", acquireTime: NOW, renewTime: NOW, ...fields });

describe("the next step of a candidate", () => {
  test.each<{ why: string; given: Partial<ElectionState>; step: ElectionStep }>([
    {
      why: "without a Lease is to make one",
      given: { lease: undefined },
      step: { action: "acquire", record: mine({ leaseTransitions: 0 }), notes: NO_NOTES },
    },
    {
      why: "before a Lease that was given back is to take it at once",
      given: { lease: record({ holderIdentity: "", leaseDurationSeconds: 1 }) },
      step: { action: "acquire", record: mine({ leaseTransitions: 4 }), notes: NO_NOTES },
    },
    { why: "before another's Lease is to wait for its end", given: { nowMs: 1_000 }, step: { action: "wait", forMs: 14_000 } },
    { why: "a moment before its end is to wait still", given: { nowMs: 14_999 }, step: { action: "wait", forMs: 1 } },
    {
      why: "once another's Lease has not changed for its duration is to take it",
      given: { nowMs: 15_000 },
      step: { action: "acquire", record: mine({ leaseTransitions: 4 }), notes: NO_NOTES },
    },
    {
      why: "counts by the duration that the holder wrote, not by its own",
      given: { lease: record({ leaseDurationSeconds: 60 }), nowMs: 15_000 },
      step: { action: "wait", forMs: 45_000 },
    },
    {
      why: "counts by its own duration when the holder wrote none",
      given: { lease: record({ leaseDurationSeconds: 0 }), nowMs: 1_000 },
      step: { action: "wait", forMs: 14_000 },
    },
    {
      why: "counts from when it saw the Lease, however old its times are",
      given: { lease: record({ renewTime: "1999-01-01T00:00:00.000000Z" }), observedMs: 50_000, nowMs: 50_000 },
      step: { action: "wait", forMs: 15_000 },
    },
    {
      why: "counts from when it saw the Lease, though its times are in the future",
      given: { lease: record({ renewTime: "2099-01-01T00:00:00.000000Z" }), nowMs: 15_000 },
      step: { action: "acquire", record: mine({ leaseTransitions: 4 }), notes: NO_NOTES },
    },
    {
      why: "that finds its own name is to renew: a renewal came after it was given up",
      given: { lease: record({ holderIdentity: "me" }) },
      step: { action: "renew", record: mine({ acquireTime: T0 }), notes: NO_NOTES },
    },
  ])("$why", ({ given, step }) => {
    expect(decideElection(state(given))).toEqual(step);
  });
});

describe("the next step of a leader", () => {
  const leading = { lease: record({ holderIdentity: "me" }), leadUntilMs: 10_000 };
  test.each<{ why: string; given: Partial<ElectionState>; step: ElectionStep }>([
    { why: "is to renew, keeping when it began", given: {}, step: { action: "renew", record: mine({ acquireTime: T0 }), notes: NO_NOTES } },
    {
      why: "a moment before the deadline is to renew",
      given: { nowMs: 9_999 },
      step: { action: "renew", record: mine({ acquireTime: T0 }), notes: NO_NOTES },
    },
    { why: "at the deadline is to step down", given: { nowMs: 10_000 }, step: { action: "step-down", reason: "deadline" } },
    { why: "whose Lease is another's is to step down", given: { lease: record() }, step: { action: "step-down", reason: "taken" } },
    {
      why: "whose Lease was emptied is to step down",
      given: { lease: record({ holderIdentity: "" }) },
      step: { action: "step-down", reason: "taken" },
    },
    { why: "whose Lease is gone is to step down", given: { lease: undefined }, step: { action: "step-down", reason: "taken" } },
  ])("$why", ({ given, step }) => {
    expect(decideElection(state({ ...leading, ...given }))).toEqual(step);
  });
});

describe("the next step when a cluster is out of sight", () => {
  const SINCE = "2026-01-01T00:00:50.000000Z";
  const noted = (notes: Partial<LeaseNotes>): LeaseNotes => ({ ...NO_NOTES, ...notes });
  const leading = { lease: record({ holderIdentity: "me" }), leadUntilMs: 10_000 };
  const renewed = (notes: Partial<LeaseNotes>): ElectionStep => ({
    action: "renew",
    record: mine({ acquireTime: T0 }),
    notes: noted(notes),
  });
  test.each<{ why: string; given: Partial<ElectionState>; step: ElectionStep }>([
    { why: "of a leader that is blind is to note since when", given: { ...leading, sight: "blind" }, step: renewed({ blindSince: NOW }) },
    {
      why: "of a leader that is blind still is to note the same",
      given: { ...leading, sight: "blind", notes: noted({ blindSince: SINCE }) },
      step: renewed({ blindSince: SINCE }),
    },
    { why: "of a leader that is unsteady is to renew as ever", given: { ...leading, sight: "unsteady" }, step: renewed({}) },
    {
      why: "of a leader that is blind and was asked is to step down",
      given: { ...leading, sight: "blind", notes: noted({ blindSince: SINCE, askedBy: "other" }) },
      step: { action: "step-down", reason: "asked" },
    },
    {
      why: "of a leader that was asked and sees again is to take the notes away",
      given: { ...leading, sight: "unsteady", notes: noted({ blindSince: SINCE, askedBy: "other" }) },
      step: renewed({}),
    },
    {
      why: "of a candidate that sees is to ask a leader that does not",
      given: { notes: noted({ blindSince: SINCE }) },
      step: { action: "ask", notes: noted({ blindSince: SINCE, askedBy: "me" }) },
    },
    { why: "of a candidate that sees is to wait for a leader that sees", given: {}, step: { action: "wait", forMs: 14_000 } },
    ...(["unsteady", "blind"] as const).map((sight) => ({
      why: `of a candidate that is ${sight} is not to ask`,
      given: { sight, notes: noted({ blindSince: SINCE }) },
      step: { action: "wait", forMs: sight === "blind" ? 18_400 : 14_000 } as const,
    })),
    {
      why: "of a candidate is to wait when another one has asked",
      given: { notes: noted({ blindSince: SINCE, askedBy: "third" }) },
      step: { action: "wait", forMs: 14_000 },
    },
    {
      why: "of a candidate that is blind is to leave a free Lease to the others first",
      given: { sight: "blind", lease: record({ holderIdentity: "" }) },
      step: { action: "wait", forMs: 3_400 },
    },
    {
      why: "of a blind candidate is to take a Lease that no other candidate took, and to note that",
      given: { sight: "blind", nowMs: 19_400, notes: noted({ blindSince: SINCE, askedBy: "third" }) },
      step: { action: "acquire", record: mine({ leaseTransitions: 4 }), notes: noted({ blindSince: NOW }) },
    },
    {
      why: "of the candidate that the Lease was handed to is to renew it",
      given: { lease: record({ holderIdentity: "me" }) },
      step: renewed({}),
    },
  ])("$why", ({ given, step }) => {
    expect(decideElection(state(given))).toEqual(step);
  });

  test("is handed on by a record that names the next holder and expires like any other", () => {
    expect(handedRecord(record({ holderIdentity: "me" }), "other", WALL_MS)).toStrictEqual({
      holderIdentity: "other",
      leaseDurationSeconds: 15,
      acquireTime: NOW,
      renewTime: NOW,
      leaseTransitions: 4,
    });
    expect(handoverMs(ELECTION_TIMES)).toBe(5_000);
  });
});

test("no wall clock decides anything", () => {
  const states = fc.record({
    lease: fc.option(fc.constantFrom(record(), record({ holderIdentity: "me" }), record({ holderIdentity: "" })), { nil: undefined }),
    nowMs: fc.integer({ min: 0, max: 40_000 }),
    leadUntilMs: fc.option(fc.integer({ min: 0, max: 40_000 }), { nil: undefined }),
    wallMs: fc.integer({ min: 0, max: 4e12 }),
  });
  fc.assert(
    fc.property(states, fc.integer({ min: 0, max: 4e12 }), (given, otherWallMs) => {
      const { action } = decideElection(state(given));
      expect(decideElection(state({ ...given, wallMs: otherWallMs })).action).toBe(action);
    }),
  );
});

describe("the times of an election", () => {
  test.each([
    { why: "of client-go will do", times: [15, 10, 2], problem: undefined },
    { why: "must leave time between the deadline and the end", times: [10, 10, 2], problem: /^leaseDurationSeconds must be greater/ },
    { why: "must leave time for a second attempt", times: [15, 6, 5], problem: /^renewDeadlineSeconds must be greater than 1.2 times/ },
  ])("$why", ({ times: [duration = 0, deadline = 0, retry = 0], problem }) => {
    const found = electionTimesProblem({ leaseDurationSeconds: duration, renewDeadlineSeconds: deadline, retryPeriodSeconds: retry });
    expect(found ?? "").toMatch(problem ?? /^$/);
  });
});

describe("a Lease", () => {
  const key = { namespace: "vc-blue", name: "endpoint-sync-blue" };

  test("has exactly the fields that client-go's lease lock writes, zeros too", () => {
    const made = decideElection(state({ lease: undefined }));
    expect(writeLease((made as { record: LeaseRecord }).record, { key })).toStrictEqual({
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "endpoint-sync-blue", namespace: "vc-blue" },
      spec: { holderIdentity: "me", leaseDurationSeconds: 15, acquireTime: NOW, renewTime: NOW, leaseTransitions: 0 },
    });
  });

  test("that is given back names no holder, is valid for a second and keeps its count, as client-go's", () => {
    expect(releaseRecord(record(), WALL_MS)).toStrictEqual({
      holderIdentity: "",
      leaseDurationSeconds: 1,
      acquireTime: NOW,
      renewTime: NOW,
      leaseTransitions: 3,
    });
  });

  test("keeps the metadata that others gave it", () => {
    const present = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { ...key, resourceVersion: "7", labels: { a: "b" } } };
    expect(writeLease(record(), { key, present }).metadata).toEqual(present.metadata);
  });

  test("has notes beside the annotations of others, and none once there is nothing to note", () => {
    const present = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { ...key, annotations: { a: "b" } } };
    const notes = { blindSince: NOW, askedBy: "other" };
    const written = writeLease(record(), { key, present, notes });
    expect(readNotes(written)).toEqual(notes);
    expect(written.metadata.annotations).toMatchObject({ a: "b" });
    const plain = writeLease(record(), { key, present: written });
    expect(plain.metadata.annotations).toEqual({ a: "b" });
    expect(readNotes(plain)).toEqual(NO_NOTES);
  });

  test("is read whatever its content", () => {
    const empty = { holderIdentity: "", leaseDurationSeconds: 0, acquireTime: "", renewTime: "", leaseTransitions: 0 };
    const specs = [undefined, null, "x", {}, { holderIdentity: 1, leaseDurationSeconds: -1, leaseTransitions: 1.5, acquireTime: {} }];
    for (const spec of specs) expect(readLease({ apiVersion: "v1", kind: "Lease", metadata: {}, spec })).toEqual(empty);
  });

  test("counts no further than its field goes", () => {
    const { spec } = writeLease(record({ leaseTransitions: 2 ** 31 }), { key });
    expect(spec).toMatchObject({ leaseTransitions: 2 ** 31 - 1 });
  });

  test("has times with microseconds", () => {
    expect(leaseTime(WALL_MS + 7)).toBe("2026-01-01T00:01:00.007000Z");
  });
});
