import { expect, test } from "vitest";
import { finish } from "../../../../src/base/finish.ts";
import { silentLogger } from "../../../../src/base/logger.ts";
import { noMetrics } from "../../../../src/base/metrics.ts";
import { ENDPOINT_SLICES, SERVICES } from "../../../../src/kube/object/resource.ts";
import { createMachine, type Response } from "../../../../src/engine/reconcile/machine.ts";
import { objectStrategy } from "../../../../src/engine/reconcile/object-strategy.ts";
import { plan, type Planner } from "../../../../src/engine/reconcile/plan.ts";
import type { PlanInput } from "../../../../src/engine/reconcile/plan-types.ts";
import { addEventHandlers } from "../../../../src/engine/sync/run/event-handlers.ts";
import { createExpectations } from "../../../../src/engine/sync/state/expectations.ts";
import { createLoopGuard } from "../../../../src/engine/sync/guards/loop-guard.ts";
import { createStatusRecords } from "../../../../src/engine/sync/state/status-records.ts";
import { beginObjectReconcile, createMissingNamespaces } from "../../../../src/engine/sync/run/object-reconcile.ts";
import { createWriteLimiter } from "../../../../src/engine/sync/guards/write-limiter.ts";
import { EMPTY_CACHE } from "../../../support/cache-by-hand.ts";
import { createAwaitedSlices } from "../../../../src/engine/sync/run/awaited-slices.ts";
import { createFakeClock } from "../../../support/fake-clock.ts";
import { service, tenantEndpoints, testRules } from "../../../support/rules.ts";

const KEY = { namespace: "shop", name: "web" };
const WITH_SELECTOR = service("vc", "web-x-shop-x-blue", { selector: { app: "web" } });

/** A reconcile that makes a copy where its cache knows of no host Service; the references that it records, by state. */
function begin(planner?: Planner, input: Partial<PlanInput> = {}) {
  const [clock, rules, caches, noted] = [createFakeClock(), testRules(), { source: () => EMPTY_CACHE }, [] as string[]];
  const doubted: string[] = [];
  const starting = beginObjectReconcile({
    id: "endpoints|shop/web",
    tracked: { rules, tenant: createExpectations(EMPTY_CACHE), host: createExpectations(EMPTY_CACHE) },
    start: { input: { key: KEY, tenant: tenantEndpoints(), host: undefined, ...input }, outdatedTimes: 0 },
    machine: createMachine(objectStrategy(rules, planner)),
    shared: {
      guard: createLoopGuard(clock, { restorations: 5, minutes: 10 }),
      missingNamespaces: createMissingNamespaces(() => {}),
      writeLimiter: createWriteLimiter({ clock, limits: {}, logger: silentLogger, metrics: noMetrics }),
      records: createStatusRecords(clock),
      router: addEventHandlers({ tenant: caches, host: caches, rules: [rules], enqueue: () => {}, changed: () => {} }),
      goneObjects: { look: () => {}, check: () => {} },
      awaited: createAwaitedSlices({ clock, serviceOf: () => undefined, enqueue: () => {} }),
      outdated: new Map([["endpoints|shop/web", 3]]),
      doubt: (_side, { plural }, { name }) => void doubted.push(`${plural} ${name}`),
      references: { planned: (_id, _rules, _input, { state }) => void noted.push(state), settled: () => {} },
    },
    ...{ hooks: {}, logger: silentLogger, metrics: noMetrics },
  });
  return { reconcile: finish(starting), noted, doubted };
}

const answers: readonly { why: string; answer: Response; want: readonly string[] }[] = [
  { why: "there is none: what the copy names", answer: { type: "absent" }, want: ["copied"] },
  { why: "it has a selector: that the object is left alone", answer: { type: "object", object: WITH_SELECTOR }, want: ["left"] },
  { why: "unknown: nothing", answer: { type: "failed", error: new Error("down") }, want: [] },
];
test.each(answers)("what an object refers to is noted once its host Service was read, and $why", ({ answer, want }) => {
  const { reconcile, noted } = begin();
  expect([reconcile.request, noted]).toMatchObject([{ type: "get", side: "host", resource: SERVICES }, []]);
  finish(reconcile.answer(answer));
  expect(noted).toEqual(want);
});

test("what an object refers to is noted once it was read, where only a late cache has told of it", () => {
  const late: Planner = (rules, input) => ({ ...plan(rules, input), ...(input.sourceConfirmed !== true && { state: "stale" }) });
  const { reconcile, noted } = begin(late);
  expect([reconcile.request, noted]).toEqual([{ type: "get", side: "tenant", key: KEY }, []]);
  finish(reconcile.answer({ type: "absent" }));
  expect([reconcile.request.type, noted]).toEqual(["done", ["absent"]]);
});

test("a cache is doubted that has shown what is to stand in for a copy, where its cluster says otherwise for a while", () => {
  const slice = { resource: ENDPOINT_SLICES, key: { namespace: "vc", name: "web-0" }, object: tenantEndpoints() };
  const operation = { action: "delete", side: "host", key: KEY, preconditions: {}, reason: "test", confirm: "none" } as const;
  const deletes: Planner = (rules, input) => ({ ...plan(rules, input), operations: [operation], restsOnServices: [] });
  const backends = { isSource: false, mayGo: true, skipMirror: undefined, standIns: [slice] };
  const { reconcile, doubted } = begin(deletes, { backends });
  expect(reconcile.request).toMatchObject({ type: "get", side: "host", resource: ENDPOINT_SLICES });
  finish(reconcile.answer({ type: "absent" }));
  expect([reconcile.request, doubted]).toMatchObject([{ type: "done" }, ["endpointslices web-0"]]);
});
