/** Copies of referenced objects that a list leaves out. */
import { expect, test } from "vitest";
import { EngineError } from "../../../../src/base/errors.ts";
import { finish } from "../../../../src/base/finish.ts";
import { silentLogger } from "../../../../src/base/logger.ts";
import { keyOf } from "../../../../src/kube/object/key.ts";
import type { Operation } from "../../../../src/engine/reconcile/plan-types.ts";
import { planReferenceCopy } from "../../../../src/engine/reconcile/references/reference-copy.ts";
import { createCacheByHand } from "../../../support/cache-by-hand.ts";
import { createFakeClock } from "../../../support/fake-clock.ts";
import { copiesBetween, referenceInput, secret, testReferenceRules } from "../../../support/references.ts";
import { stored } from "../../../support/rules.ts";

/** An unreferenced copy that the last list lacked. */
function unused() {
  const rules = testReferenceRules();
  const source = secret("shop", "db");
  const input = referenceInput({ source });
  const [planned] = planReferenceCopy(rules, input).operations;
  const copy = stored((planned as Extract<Operation, { action: "create" }>).object, "20");
  const [tenant, host] = [createCacheByHand(source), createCacheByHand(copy)];
  const clock = createFakeClock();
  const copies = copiesBetween({ tenant: tenant.source, host: host.source }, { rules, clock });
  const begin = () => copies.begin("secrets|shop/db", silentLogger)!;
  const waits = { type: "done", ending: { requeueAfterMs: rules.retentionMs } };

  copies.found(input.kind, copy);
  expect(begin().request).toMatchObject(waits);
  host.set(keyOf(copy), undefined);
  expect(begin().request).toMatchObject(waits);
  return { copy, copies, host, begin, timeIsOver: () => clock.advance(rules.retentionMs) };
}

test("an unreferenced copy that a list leaves out is still deleted when its time is over", async () => {
  const { copy, host, begin, timeIsOver } = unused();
  host.set(keyOf(copy), copy);
  await timeIsOver();
  expect(begin().request).toMatchObject({ type: "write", operation: { action: "delete", side: "host" } });
});

test("a copy that the list still leaves out when its time is over is read live and deleted, until it is really gone", async () => {
  const { copy, copies, begin, timeIsOver } = unused();
  await timeIsOver();
  const { uid, resourceVersion } = copy.metadata;
  const isRead = { type: "get", side: "host", key: keyOf(copy) };
  const reconcile = begin();
  expect(reconcile.request).toMatchObject(isRead);
  finish(reconcile.answer({ type: "object", object: copy }));
  expect(reconcile.request).toMatchObject({ type: "write", operation: { action: "delete", preconditions: { uid, resourceVersion } } });
  // The answer can be false, and no cache shows that.
  finish(reconcile.answer({ type: "absent" }));
  expect(reconcile.request).toMatchObject({ type: "done", ending: { requeueAfterMs: 5_000 } });
  expect(copies.followed).toBe(2);
  const again = begin();
  expect(again.request).toMatchObject(isRead);
  finish(again.answer({ type: "absent" }));
  expect(again.request).toMatchObject({ type: "done" });
  expect(copies.followed).toBe(0);
});

test("without permission to read it, such a copy is deleted as it was last seen", async () => {
  const { copy, copies, begin, timeIsOver } = unused();
  await timeIsOver();
  const { uid, resourceVersion } = copy.metadata;
  const reconcile = begin();
  finish(reconcile.answer({ type: "failed", error: new EngineError("API_FORBIDDEN", "no") }));
  expect(reconcile.request).toMatchObject({ type: "write", operation: { action: "delete", preconditions: { uid, resourceVersion } } });
  finish(reconcile.answer({ type: "absent" }));
  expect(copies.followed).toBe(0);
});

test("a copy whose deletion the host refuses is still followed", async () => {
  const { copy, copies, host, begin, timeIsOver } = unused();
  host.set(keyOf(copy), copy);
  await timeIsOver();
  const reconcile = begin();
  finish(reconcile.answer({ type: "refused", note: { code: "API_INVALID", message: "no" } }));
  expect(reconcile.request).toMatchObject({ type: "done", ending: { requeueAfterMs: 60_000 } });
  expect(copies.followed).toBe(2);
  expect(begin().request).toMatchObject({ type: "write", operation: { action: "delete" } });
});

test("a deleted copy is followed until the cache shows that it is gone, because the answer can be false", async () => {
  const { copy, copies, host, begin, timeIsOver } = unused();
  host.set(keyOf(copy), copy);
  await timeIsOver();
  finish(begin().answer({ type: "absent" }));
  expect(copies.followed).toBe(2);
  host.set(keyOf(copy), undefined);
  begin();
  expect(copies.followed).toBe(0);
});

test("a copy that a list loses while it is deleted is read live before it counts as gone", async () => {
  const { copy, copies, host, begin, timeIsOver } = unused();
  host.set(keyOf(copy), copy);
  await timeIsOver();
  const reconcile = begin();
  host.set(keyOf(copy), undefined);
  finish(reconcile.answer({ type: "absent" }));
  expect(reconcile.request).toMatchObject({ type: "done", ending: { requeueAfterMs: 5_000 } });
  expect(copies.followed).toBe(2);
  expect(begin().request).toMatchObject({ type: "get", side: "host" });
});

test("a copy whose deletion a hook refuses is left alone", async () => {
  const { copy, copies, host, begin, timeIsOver } = unused();
  host.set(keyOf(copy), copy);
  await timeIsOver();
  const reconcile = begin();
  finish(reconcile.answer({ type: "refused" }));
  expect(reconcile.request).toEqual({ type: "done", ending: { result: "settled" } });
  expect(copies.followed).toBe(0);
});
