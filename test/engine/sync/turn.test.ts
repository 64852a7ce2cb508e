import { expect, test } from "vitest";
import { finish } from "../../../src/base/finish.ts";
import { silentLogger } from "../../../src/base/logger.ts";
import { noMetrics } from "../../../src/base/metrics.ts";
import type { ObjectSource } from "../../../src/kube/object/object-source.ts";
import { SERVICES } from "../../../src/kube/object/resource.ts";
import { createMachine } from "../../../src/engine/reconcile/machine.ts";
import type { Response } from "../../../src/engine/reconcile/machine.ts";
import { plan } from "../../../src/engine/reconcile/plan.ts";
import { createKeyRouter } from "../../../src/engine/sync/run/key-router.ts";
import { createLatest } from "../../../src/engine/sync/state/latest.ts";
import { createLoopGuard } from "../../../src/engine/sync/guards/loop-guard.ts";
import { createRecords } from "../../../src/engine/sync/state/records.ts";
import { beginTurn } from "../../../src/engine/sync/run/turn.ts";
import { createMissingNamespaces } from "../../../src/engine/sync/state/missing-namespaces.ts";
import { createWriteBrake } from "../../../src/engine/sync/guards/write-brake.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { service, tenantEndpoints, testRules } from "../../support/rules.ts";

const KEY = { namespace: "shop", name: "web" };
const EMPTY: ObjectSource = { get: () => undefined, list: () => [], onChange: () => () => {}, synced: true, current: true };
const WITH_SELECTOR = service("vc", "web-x-shop-x-blue", { selector: { app: "web" } });

/** A turn that makes a copy where its cache knows of no host Service; what it notes that the object refers to, by state. */
function begin(machine = createMachine()) {
  const [clock, rules, caches, noted] = [createFakeClock(), testRules(), { source: () => EMPTY }, [] as string[]];
  const starting = beginTurn({
    id: "endpoints|shop/web",
    tracked: { rules, tenant: createLatest(EMPTY), host: createLatest(EMPTY) },
    start: { input: { key: KEY, tenant: tenantEndpoints(), host: undefined }, outdatedTimes: 0 },
    machine,
    books: {
      guard: createLoopGuard(clock, { restorations: 5, minutes: 10 }),
      missingNamespaces: createMissingNamespaces(() => {}),
      writeBrake: createWriteBrake({ clock, limits: {}, logger: silentLogger, metrics: noMetrics }),
      records: createRecords(clock),
      router: createKeyRouter({ tenant: caches, host: caches, rules: [rules], enqueue: () => {}, changed: () => {} }),
      outdated: new Map(),
      references: { planned: (_id, _rules, _input, { state }) => void noted.push(state) },
    },
    ...{ hooks: {}, logger: silentLogger, metrics: noMetrics },
  });
  return { turn: finish(starting), noted };
}

const answers: readonly { why: string; answer: Response; want: readonly string[] }[] = [
  { why: "there is none: what the copy names", answer: { type: "absent" }, want: ["copied"] },
  { why: "it has a selector: that the object is left alone", answer: { type: "object", object: WITH_SELECTOR }, want: ["left"] },
  { why: "nobody can tell: nothing", answer: { type: "failed", error: new Error("down") }, want: [] },
];
test.each(answers)("what an object refers to is noted once its host Service was read, and $why", ({ answer, want }) => {
  const { turn, noted } = begin();
  expect([turn.request, noted]).toMatchObject([{ type: "get", side: "host", resource: SERVICES }, []]);
  finish(turn.answer(answer));
  expect(noted).toEqual(want);
});

test("what an object refers to is noted once it was read, where only a late cache has told of it", () => {
  const late = createMachine((rules, input) => ({ ...plan(rules, input), ...(input.sourceConfirmed !== true && { state: "stale" }) }));
  const { turn, noted } = begin(late);
  expect([turn.request, noted]).toEqual([{ type: "get", side: "tenant", key: KEY }, []]);
  finish(turn.answer({ type: "absent" }));
  expect([turn.request.type, noted]).toEqual(["done", ["absent"]]);
});
