/** Copies of referenced objects about which the answer to a write tells nothing, or is false. */
import { expect, test } from "vitest";
import { EngineError } from "../../../../src/base/errors.ts";
import { finish } from "../../../../src/base/finish.ts";
import { silentLogger } from "../../../../src/base/logger.ts";
import { keyOf } from "../../../../src/kube/object/key.ts";
import type { KubeObject } from "../../../../src/kube/object/types.ts";
import type { Response } from "../../../../src/engine/reconcile/machine.ts";
import type { Operation, Plan, PlanInput } from "../../../../src/engine/reconcile/plan-types.ts";
import { createCacheByHand } from "../../../support/cache-by-hand.ts";
import { createFakeClock } from "../../../support/fake-clock.ts";
import { copiesBetween, secret, testReferenceRules } from "../../../support/references.ts";
import { stored, tenantEndpoints, testRules } from "../../../support/rules.ts";

const SOURCE = secret("shop", "db");
const LOST: Response = { type: "failed", error: new EngineError("API_UNAVAILABLE", "no answer") };

/** The Secret `shop/db`, to which Endpoints refer. */
function referred(retentionMs = 600_000) {
  const [tenant, host] = [createCacheByHand(SOURCE), createCacheByHand()];
  const clock = createFakeClock();
  const rules = testReferenceRules({ retentionMs });
  const copies = copiesBetween({ tenant: tenant.source, host: host.source }, { rules, clock });
  const patches = [{ path: "metadata.annotations.secret", reference: { apiVersion: "v1", kind: "Secret" } }] as never;
  const refer = (...names: readonly string[]) => {
    const references = names.map((name) => ({ apiVersion: "v1", kind: "Secret", tenant: { namespace: "shop", name } }));
    const input = { tenant: tenantEndpoints(), host: undefined } as unknown as PlanInput;
    copies.planned("endpoints|shop/web", testRules({ patches }), input, { state: "copied", references } as unknown as Plan);
  };
  const begin = () => copies.begin("secrets|shop/db", silentLogger)!;
  const create = (response: (copy: KubeObject) => Response) => {
    const reconcile = begin();
    const { operation } = reconcile.request as unknown as { operation: Extract<Operation, { action: "create" }> };
    const copy = stored(operation.object, "20");
    finish(reconcile.answer(response(copy)));
    return copy;
  };
  refer("db");
  return { tenant, host, copies, clock, rules, refer, begin, create };
}

/** Time after which a creation without an answer can no longer take effect, in milliseconds. */
const LATE_MS = 70_000;

/** The last reference ends, and a copy that no cache shows is looked for after `lateMs`, and deleted after its retention. */
async function isLookedFor({ refer, begin, clock, rules }: ReturnType<typeof referred>, copy: KubeObject, lateMs: number): Promise<void> {
  const look = () => {
    const reconcile = begin();
    expect(reconcile.request).toMatchObject({ type: "get", side: "host", key: keyOf(copy) });
    finish(reconcile.answer({ type: "object", object: copy }));
    return reconcile.request;
  };
  const rests = (requeueAfterMs: number) => ({ type: "done", ending: { result: "settled", requeueAfterMs } });
  refer();
  if (lateMs > 0) expect(begin().request).toEqual(rests(lateMs));
  await clock.advance(lateMs);
  expect(look()).toEqual(rests(rules.retentionMs - lateMs));
  await clock.advance(rules.retentionMs - lateMs);
  expect(look()).toMatchObject({ type: "write", operation: { action: "delete", side: "host" } });
}

test.each<[string, Response]>([
  ["is lost", LOST],
  ["is that it exists", { type: "outdated", reason: "AlreadyExists" }],
])("a copy is looked for before it is forgotten if the answer to its creation %s", async (_, response) => {
  const world = referred();
  await isLookedFor(
    world,
    world.create(() => response),
    LATE_MS,
  );
});

test("an object whose copy the host does not allow is forgotten at once when nothing refers to it", () => {
  const { refer, begin, copies, create } = referred();
  create(() => ({ type: "failed", error: new EngineError("API_FORBIDDEN", "exceeded quota") }));
  refer();
  expect(begin().request).toEqual({ type: "done", ending: { result: "settled" } });
  expect(copies.followed).toBe(0);
});

test("a late creation is waited for also if others had deleted an earlier copy", () => {
  const { host, refer, begin, copies, create } = referred(0);
  const copy = create((object) => ({ type: "object", object }));
  host.show(keyOf(copy), copy, "event");
  begin();
  host.set(keyOf(copy), undefined);
  const again = begin();
  finish(again.answer({ type: "object", object: SOURCE }));
  expect(again.request).toMatchObject({ type: "write", operation: { action: "create" } });
  finish(again.answer(LOST));
  refer();
  const unused = begin();
  expect(unused.request).toMatchObject({ type: "get", side: "host" });
  finish(unused.answer({ type: "absent" }));
  expect(unused.request).toEqual({ type: "done", ending: { result: "settled", requeueAfterMs: LATE_MS } });
  expect(copies.followed).toBe(2);
});

test("a copy that was never made is forgotten once the host says so", async () => {
  const { refer, begin, clock, copies, create } = referred();
  create(() => LOST);
  refer();
  begin();
  await clock.advance(LATE_MS);
  const reconcile = begin();
  expect(reconcile.request).toMatchObject({ type: "get", side: "host" });
  finish(reconcile.answer({ type: "absent" }));
  expect(reconcile.request).toEqual({ type: "done", ending: { result: "settled" } });
  expect(copies.followed).toBe(0);
});

test("a copy whose creation had no answer is deleted as usual once the cache shows it", async () => {
  const { host, refer, begin, clock, create, rules, copies } = referred();
  const copy = create(() => LOST);
  refer();
  begin();
  host.set(keyOf(copy), copy);
  begin();
  await clock.advance(rules.retentionMs);
  const reconcile = begin();
  expect(reconcile.request).toMatchObject({ type: "write", operation: { action: "delete" } });
  host.set(keyOf(copy), undefined);
  finish(reconcile.answer({ type: "absent" }));
  finish(begin().answer({ type: "absent" }));
  expect(copies.followed).toBe(0);
});

test("a copy without a source is looked for again if a list lacked it when its deletion was reported as done", async () => {
  const world = referred();
  const { tenant, host, begin, create } = world;
  const copy = create((object) => ({ type: "object", object }));
  host.show(keyOf(copy), copy, "event");
  tenant.set(keyOf(SOURCE), undefined);
  const reconcile = begin();
  expect(reconcile.request).toMatchObject({ type: "get", side: "tenant" });
  finish(reconcile.answer({ type: "absent" }));
  expect(reconcile.request).toMatchObject({ type: "write", operation: { action: "delete" } });
  host.show(keyOf(copy), undefined);
  finish(reconcile.answer({ type: "absent" }));
  await isLookedFor(world, copy, 0);
});
