import { expect, test } from "vitest";
import { finish } from "../../../../src/base/finish.ts";
import type { Ending, Request } from "../../../../src/engine/reconcile/machine.ts";
import { createLanes } from "../../../../src/engine/sync/run/lanes.ts";
import type { ReconcileRun } from "../../../../src/engine/sync/run/reconcile.ts";
import { ENDPOINTS } from "../../../../src/kube/object/resource.ts";

const SETTLED: Request = { type: "done", ending: { result: "settled" } satisfies Ending };
const READ: Request = { type: "get", side: "host", key: { namespace: "vc", name: "db" } };

/** A reconcile that makes these requests, and fails where there is none. */
function* reconcileOf(...requests: readonly (Request | undefined)[]): Generator<undefined, ReconcileRun> {
  yield undefined;
  let index = 0;
  if (requests[0] === undefined) throw new Error("it cannot begin");
  return {
    resource: ENDPOINTS,
    get request() {
      return requests[index]!;
    },
    *answer() {
      yield undefined;
      index += 1;
      if (requests[index] === undefined) throw new Error("it cannot go on");
    },
  };
}

function twoOfOneLane() {
  const enqueued: string[] = [];
  const lanes = createLanes({ enqueue: (id) => void enqueued.push(id), laneOf: (id) => id.split("|")[1] });
  const begin = (id: string, ...requests: readonly (Request | undefined)[]) => finish(lanes.run(id, ENDPOINTS, reconcileOf(...requests)));
  return { enqueued, begin, lanes };
}

test("a reconcile waits for one of its lane, and is enqueued once at the end of that", () => {
  const { enqueued, begin } = twoOfOneLane();
  const first = begin("endpoints|shop/db", READ, READ, SETTLED);
  expect([first.waits, first.request]).toEqual([undefined, READ]);
  for (let times = 0; times < 2; times += 1) {
    const second = begin("backends|shop/db", READ, SETTLED);
    expect([second.waits, second.request]).toEqual([true, SETTLED]);
  }
  finish(first.answer({ type: "absent" }));
  expect(enqueued).toEqual([]);
  finish(first.answer({ type: "absent" }));
  expect([first.request, enqueued]).toEqual([SETTLED, ["backends|shop/db"]]);
  expect(begin("backends|shop/db", READ, SETTLED).waits).toBeUndefined();
});

test("one that waits for nothing leaves its lane at once, and other lanes are free", () => {
  const { enqueued, begin } = twoOfOneLane();
  expect(begin("endpoints|shop/db", SETTLED).waits).toBeUndefined();
  expect(begin("backends|shop/db", READ, SETTLED).waits).toBeUndefined();
  expect(begin("backends|shop/web", READ, SETTLED).waits).toBeUndefined();
  expect(enqueued).toEqual([]);
});

test("an id that is enqueued waits only for another one of its lane", () => {
  const { enqueued, begin, lanes } = twoOfOneLane();
  const first = begin("endpoints|shop/db", READ, SETTLED);
  for (const id of ["backends|shop/db", "endpoints|shop/db", "backends|shop/db", "hand-back", "backends|shop/web"]) lanes.enqueue(id);
  expect(enqueued).toEqual(["endpoints|shop/db", "hand-back", "backends|shop/web"]);
  finish(first.answer({ type: "absent" }));
  expect(enqueued.slice(3)).toEqual(["backends|shop/db"]);
  expect(begin("hand-back", READ).waits).toBeUndefined();
  expect(begin("hand-back", READ).waits).toBeUndefined();
});

test("one is under way from its first piece of work on", () => {
  const { enqueued, lanes } = twoOfOneLane();
  const run = (id: string) => lanes.run(id, ENDPOINTS, reconcileOf(READ, SETTLED));
  const first = run("endpoints|shop/db");
  first.next();
  expect(finish(run("backends|shop/db")).waits).toBe(true);
  expect(finish(first).waits).toBeUndefined();
  expect(enqueued).toEqual([]);
});

test("one that fails, at its beginning or later, leaves its lane", () => {
  const { enqueued, begin } = twoOfOneLane();
  expect(() => begin("endpoints|shop/db", undefined)).toThrow("it cannot begin");
  const first = begin("endpoints|shop/db", READ, undefined);
  expect(begin("backends|shop/db", READ).waits).toBe(true);
  expect(() => finish(first.answer({ type: "absent" }))).toThrow("it cannot go on");
  expect(enqueued).toEqual(["backends|shop/db"]);
  expect(begin("backends|shop/db", READ).waits).toBeUndefined();
});

test("one that is abandoned, and tried again, leaves its lane to those that have waited before", () => {
  const { enqueued, begin } = twoOfOneLane();
  begin("endpoints|shop/db", READ, SETTLED);
  expect(begin("backends|shop/db", READ).waits).toBe(true);
  const again = begin("endpoints|shop/db", READ, SETTLED);
  expect([again.waits, enqueued]).toEqual([undefined, []]);
  finish(again.answer({ type: "absent" }));
  expect(enqueued).toEqual(["backends|shop/db"]);
});

test("a reconcile without a lane of its own waits for one that it needs, and leaves it when it begins again without it", () => {
  const { enqueued, begin, lanes } = twoOfOneLane();
  const beginIn = (...requests: readonly (Request | undefined)[]) =>
    finish(lanes.run("slice", ENDPOINTS, lanes.runIn("shop/db", "slice", ENDPOINTS, reconcileOf(...requests))));
  const first = begin("endpoints|shop/db", READ, SETTLED);
  expect(beginIn(READ, SETTLED).waits).toBe(true);
  // As long as it waits, it does not begin: it would fail.
  expect(beginIn(undefined).waits).toBe(true);
  finish(first.answer({ type: "absent" }));
  expect(enqueued).toEqual(["slice"]);
  expect(beginIn(READ, SETTLED).waits).toBeUndefined();
  expect(begin("endpoints|shop/db", SETTLED).waits).toBe(true);
  // That reconcile was abandoned.
  expect(begin("slice", READ, SETTLED).waits).toBeUndefined();
  expect(begin("endpoints|shop/db", SETTLED).waits).toBeUndefined();
});

test("those that need a lane get it one after the other, and after those whose lane it is", () => {
  const { enqueued, begin, lanes } = twoOfOneLane();
  const beginIn = (id: string, ...requests: readonly (Request | undefined)[]) =>
    finish(lanes.run(id, ENDPOINTS, lanes.runIn("shop/db", id, ENDPOINTS, reconcileOf(...requests))));
  const first = begin("endpoints|shop/db", READ, SETTLED);
  for (const id of ["slice-1", "slice-2", "slice-3"]) expect(beginIn(id, READ, SETTLED).waits).toBe(true);
  lanes.enqueue("backends|shop/db");
  finish(first.answer({ type: "absent" }));
  expect(enqueued.splice(0)).toEqual(["backends|shop/db", "slice-1"]);
  const second = begin("backends|shop/db", READ, SETTLED);
  expect(beginIn("slice-1", READ, SETTLED).waits).toBe(true);
  // An event of the slice enqueues it beside the lane.
  finish(second.answer({ type: "absent" }));
  expect(enqueued.splice(0)).toEqual(["slice-2"]);
  expect(beginIn("slice-3", SETTLED).waits).toBeUndefined();
  expect(enqueued.splice(0)).toEqual(["slice-1"]);
  expect([beginIn("slice-2", SETTLED).waits, beginIn("slice-1", SETTLED).waits]).toEqual([undefined, undefined]);
  expect(enqueued).toEqual([]);
});
