import { expect, test } from "vitest";
import type { EndpointSlice } from "../../../../src/kube/object/types.ts";
import type { CollectedBackends } from "../../../../src/engine/sync/backends/collect-backends.ts";
import type { BackendsDecision } from "../../../../src/engine/sync/backends/decide-backends.ts";
import { beginsMove, newService, nextWaitMs, planWrites, wasOver } from "../../../../src/engine/sync/backends/remembered-service.ts";
import { stored, tenantEndpoints, testRules } from "../../../support/rules.ts";

const NEW = { now: 0, made: [] };
const TIMES = { mirrorMs: 3_000, releaseMs: 5_000, isDone: true };

function heldSince(since: number) {
  return Object.assign(newService("1", {} as BackendsDecision, NEW), { heldSince: since });
}

test("what is held goes after its time, of which only that up to the last complete write counts", () => {
  const known = heldSince(1_000);
  // Whatever the clock says by now: nothing has been made since.
  expect(wasOver(known, known.heldSince, 5_000)).toBe(false);
  expect(wasOver(Object.assign(known, { doneAt: 5_999 }), 1_000, 5_000)).toBe(false);
  expect(wasOver(Object.assign(known, { doneAt: 6_000 }), 1_000, 5_000)).toBe(true);
  expect(wasOver(known, undefined, 0)).toBe(false);
});

test("the next look is at the first time that is over, at once where that was not seen yet, and not again", () => {
  const known = heldSince(1_000);
  expect(nextWaitMs(known, 2_000, TIMES)).toBe(4_000);
  expect(nextWaitMs(Object.assign(known, { mirrorOwesSince: 1_500 }), 2_000, TIMES)).toBe(2_500);
  expect(nextWaitMs(known, 2_000, { ...TIMES, writeMs: 7 })).toBe(7);
  expect(nextWaitMs(known, 60_000, TIMES)).toBe(1);
  expect(nextWaitMs(Object.assign(known, { doneAt: 60_000, lookedAt: 60_000 }), 60_000, TIMES)).toBeUndefined();
});

test("what is held does not go in its time if something has changed since everything was written", () => {
  const known = Object.assign(heldSince(1_000), { doneAt: 6_000, version: "2" });
  expect(wasOver(known, 1_000, 5_000)).toBe(false);
  expect(wasOver(Object.assign(known, { doneVersion: "2" }), 1_000, 5_000)).toBe(true);
});

test("endpoints that are moved after a copy was written wait as long as those before", () => {
  const known = newService("1", {} as BackendsDecision, NEW);
  const begins = (version: string, now: number) => [
    beginsMove(known, "endpointslices|shop/web-a", { version, now }),
    [...known.moving.values()][0]!.since,
  ];
  expect([begins("10", 1_000), begins("10", 4_000), begins("11", 6_000)]).toEqual([
    [true, 1_000],
    [false, 1_000],
    [true, 6_000],
  ]);
});

test("what is held is not looked at again before all that replaces it is written", () => {
  expect(nextWaitMs(heldSince(1_000), 2_000, { ...TIMES, isDone: false })).toBeUndefined();
  expect(nextWaitMs(heldSince(1_000), 60_000, { ...TIMES, isDone: false, writeMs: 7 })).toBe(7);
});

test.each([
  ["does not follow an edit of the copy that the tenant does not have", true, []],
  ["follows a change of the copy", false, ["update"]],
] as const)("a made slice %s", (_what, isEdited, actions) => {
  const sliceWith = (address: string): EndpointSlice => ({
    ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", addressType: "IPv4", ports: [{ port: 80 }] },
    metadata: { namespace: "vc", name: "web-x-shop-x-blue-0" },
    endpoints: [{ addresses: [address] }],
  });
  const made = stored(sliceWith("10.0.0.1"), "21");
  const collected = {
    seen: { made: "behind", mirror: "none", madeShown: true },
    ...{ copy: stored(tenantEndpoints(), "20"), made: [made], mirrored: [], isTaken: false, hostKey: undefined },
    isEdited: () => isEdited,
    desired: () => [sliceWith("10.0.0.2")],
  } as unknown as CollectedBackends;
  const known = newService("1", { makes: true, dropsMirrored: false, source: "made" } as BackendsDecision, NEW);
  const { operations } = planWrites(known, collected, { rules: testRules(), now: 0, mirrorMs: 3_000 });
  expect(operations.map(({ action }) => action)).toEqual(actions);
});
