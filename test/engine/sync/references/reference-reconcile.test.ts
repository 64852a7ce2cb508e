import { describe, expect, test } from "vitest";
import { EngineError } from "../../../../src/base/errors.ts";
import { finish } from "../../../../src/base/finish.ts";
import { silentLogger } from "../../../../src/base/logger.ts";
import { noMetrics } from "../../../../src/base/metrics.ts";
import { ENDPOINTS, SECRETS } from "../../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../../src/kube/object/types.ts";
import { createMachine, READERS_MAX, type Start } from "../../../../src/engine/reconcile/machine.ts";
import type { Note, Operation } from "../../../../src/engine/reconcile/plan-types.ts";
import { planReferenceCopy } from "../../../../src/engine/reconcile/references/reference-copy.ts";
import type { ReferenceInput } from "../../../../src/engine/reconcile/references/reference-rules.ts";
import { referenceStrategy, type ReferenceUsers } from "../../../../src/engine/reconcile/references/reference-strategy.ts";
import { beginReconcile, createNoticeReconcile, type SyncHooks } from "../../../../src/engine/sync/run/reconcile.ts";
import { createExpectations } from "../../../../src/engine/sync/state/expectations.ts";
import { EMPTY_CACHE } from "../../../support/cache-by-hand.ts";
import { referenceInput, secret, SECRETS_TO_TENANT, testReferenceRules } from "../../../support/references.ts";
import { stored, tenantEndpoints } from "../../../support/rules.ts";

const rules = testReferenceRules();
const SOURCE = secret("shop", "db");
const COPY = stored(
  (planReferenceCopy(rules, referenceInput({ source: SOURCE })).operations[0] as Extract<Operation, { action: "create" }>).object,
  "20",
);

type Options = Partial<Start<ReferenceInput> & ReferenceUsers> & { readonly hooks?: SyncHooks };

/** Between any two steps the reconcile goes through JSON, as it would through a crash. */
function begin({ users = [tenantEndpoints()], user, hooks = {}, ...start }: Options = {}) {
  const settled: (readonly Note[])[] = [];
  const wrote: Operation[] = [];
  const machine = createMachine(referenceStrategy(rules, { users, user }));
  const starting = beginReconcile({
    ...{ id: "secrets|shop/db", resource: SECRETS, hooks, logger: silentLogger, metrics: noMetrics },
    machine: { ...machine, next: (state, response) => machine.next(structuredClone(state), response) },
    start: { input: referenceInput({ source: SOURCE }), outdatedTimes: 0, ...start },
    known: { host: createExpectations(EMPTY_CACHE) },
    observer: {
      answered: (operation, { type }) => void (["object", "absent"].includes(type) && wrote.push(operation)),
      ended: ({ result }, { notes }) => void (result === "settled" && settled.push(notes)),
    },
  });
  return { reconcile: finish(starting), settled, wrote };
}

const done = (ending: object) => ({ type: "done", ending });

describe("a reconcile of a referenced object", () => {
  test("writes the copy and ends", () => {
    const { reconcile, settled, wrote } = begin();
    expect(reconcile.request).toMatchObject({ type: "write", operation: { action: "create", side: "host" } });
    finish(reconcile.answer({ type: "object", object: COPY }));
    expect(reconcile.request).toEqual(done({ result: "settled" }));
    expect([settled.length, wrote.length]).toEqual([1, 1]);
  });

  test("comes again after a write that met a changed world, later each time", () => {
    for (const [outdatedTimes, requeueAfterMs] of [
      [0, 50],
      [3, 400],
      [60, 10_000],
    ] as const) {
      const { reconcile, settled } = begin({ outdatedTimes });
      finish(reconcile.answer({ type: "outdated", reason: "it changed" }));
      expect(reconcile.request).toEqual(done({ result: "outdated", requeueAfterMs }));
      expect(settled).toEqual([]);
    }
  });

  test("asks the source's own cluster before it believes a cache that is older than the copy", () => {
    const old = secret("shop", "db", { value: "b2xk", resourceVersion: "9" });
    const { reconcile } = begin({ input: referenceInput({ source: old, target: COPY }) });
    expect(reconcile.request).toEqual({ type: "get", side: "tenant", key: { namespace: "shop", name: "db" } });
    finish(reconcile.answer({ type: "object", object: SOURCE }));
    expect(reconcile.request).toEqual(done({ result: "settled" }));
  });

  test("removes the copy only when the source's own cluster has no source", () => {
    const input = referenceInput({ target: COPY });
    const there = begin({ input }).reconcile;
    expect(there.request).toMatchObject({ type: "get", side: "tenant" });
    finish(there.answer({ type: "object", object: SOURCE }));
    expect(there.request).toMatchObject(done({ result: "outdated" }));
    const gone = begin({ input }).reconcile;
    finish(gone.answer({ type: "absent" }));
    expect(gone.request).toMatchObject({ type: "write", operation: { action: "delete" } });
  });

  test("asks again when the source's own cluster says that the cached source is gone, because the answer can be wrong", () => {
    const { reconcile } = begin({ input: referenceInput({ source: SOURCE, known: COPY }) });
    expect(reconcile.request).toEqual({ type: "get", side: "tenant", key: { namespace: "shop", name: "db" } });
    finish(reconcile.answer({ type: "absent" }));
    finish(reconcile.answer({ type: "absent" }));
    expect(reconcile.request).toEqual(done({ result: "settled", requeueAfterMs: 5_000 }));
  });

  test("looks for an imported object's source on the host", () => {
    const input = referenceInput({ kind: SECRETS_TO_TENANT, target: undefined, source: secret("vc", "db-x-shop-x-blue") });
    const written = begin({ input }).reconcile.request as { operation: Extract<Operation, { action: "create" }> };
    const { reconcile } = begin({ input: { ...input, source: undefined, target: stored(written.operation.object, "20") } });
    expect(reconcile.request).toEqual({ type: "get", side: "host", key: { namespace: "vc", name: "db-x-shop-x-blue" } });
  });

  test.each([
    ["10", "write"],
    ["11", "done"],
  ])("deletes the copy of a missing source only if the object that refers to it is as cached (version %s: %s)", (resourceVersion, next) => {
    const key = { namespace: "shop", name: "web" };
    const user = { resource: ENDPOINTS, key, object: tenantEndpoints({ resourceVersion: "10" }) };
    const { reconcile } = begin({ input: referenceInput({ target: COPY }), user });
    expect(reconcile.request).toEqual({ type: "get", side: "tenant", key: { namespace: "shop", name: "db" } });
    finish(reconcile.answer({ type: "absent" }));
    expect(reconcile.request).toEqual({ type: "get", side: "tenant", key, resource: ENDPOINTS });
    finish(reconcile.answer({ type: "object", object: tenantEndpoints({ resourceVersion }) }));
    expect(reconcile.request.type).toBe(next);
  });

  describe("when the object is unreferenced", () => {
    const input = referenceInput({ source: SOURCE, target: COPY, unusedMs: 1e9 });
    const key = { namespace: "shop", name: "web" };
    const user = (resourceVersion: string): KubeObject => tenantEndpoints({ resourceVersion });
    const cases = [
      { why: "the last user is as it was known", known: user("10"), live: user("10"), request: "write" },
      { why: "the last user is gone as it was known", known: undefined, live: undefined, request: "write" },
      { why: "the last user has changed", known: user("10"), live: user("11"), request: "done" },
      { why: "the last user is there again", known: undefined, live: user("11"), request: "done" },
      { why: "the last user went just now", known: user("10"), live: undefined, request: "done" },
    ];
    test.each(cases)("and $why: $request", ({ known, live, request }) => {
      const { reconcile } = begin({ input, user: { resource: ENDPOINTS, key, object: known } });
      expect(reconcile.request).toEqual({ type: "get", side: "tenant", key, resource: ENDPOINTS });
      finish(reconcile.answer(live === undefined ? { type: "absent" } : { type: "object", object: live }));
      expect(reconcile.request.type).toBe(request);
    });

    test("and the last reference is unknown, the copy is deleted", () => {
      expect(begin({ input }).reconcile.request).toMatchObject({ type: "write", operation: { action: "delete" } });
    });

    test("it comes again when the copy's time is over", () => {
      const { reconcile } = begin({ input: { ...input, unusedMs: 1_000 } });
      expect(reconcile.request).toEqual(done({ result: "settled", requeueAfterMs: 599_000 }));
    });
  });

  test("tells those who refer to it, but not thousands of them", () => {
    const users = Array.from({ length: 100 }, (_, index) => tenantEndpoints({ uid: `uid-${index}` }));
    const { reconcile } = begin({ input: referenceInput(), users });
    let told = 0;
    for (; reconcile.request.type === "report"; told++) finish(reconcile.answer({ type: "absent" }));
    expect([told, reconcile.request]).toEqual([READERS_MAX, done({ result: "settled" })]);
    const notice = createNoticeReconcile({ resource: SECRETS, users, notes: [{ code: "REFERENCE_LIMIT", message: "Too many" }] });
    for (told = 0; notice.request.type === "report"; told++) finish(notice.answer({ type: "absent" }));
    expect(told).toBe(READERS_MAX);
  });

  test("leaves an edited copy alone once it may not be restored any more", () => {
    const edited = { ...COPY, data: { password: "ZWRpdA==" } };
    const input = referenceInput({ source: SOURCE, target: edited, writtenFrom: "uid-shop/10" });
    const { reconcile } = begin({ input, stoppedAt: "uid-shop/10" });
    expect(reconcile.request).toMatchObject({ type: "report", notes: [{ code: "LOOP_STOPPED" }] });
    expect(begin({ input }).reconcile.request.type).toBe("write");
  });

  describe("whose copy was deleted", () => {
    const input = referenceInput({ source: SOURCE, known: COPY });
    const unreachable = { type: "failed", error: new EngineError("API_UNAVAILABLE", "Cannot get an answer") } as const;

    test("asks its source's own cluster, and does with the cache while that cannot be reached", () => {
      const { reconcile, wrote } = begin({ input });
      expect(reconcile.request).toMatchObject({ type: "get", side: "tenant" });
      finish(reconcile.answer(unreachable));
      expect(reconcile.request).toMatchObject({ type: "write", operation: { action: "create", side: "host" } });
      finish(reconcile.answer({ type: "object", object: COPY }));
      expect([reconcile.request, wrote.length]).toEqual([done({ result: "settled" }), 1]);
    });

    test("waits for its source's own cluster when the cache is behind the copy, or when it refuses", () => {
      const old = secret("shop", "db", { resourceVersion: "9" });
      const behind = begin({ input: { ...input, source: old } }).reconcile;
      finish(behind.answer(unreachable));
      expect(behind.request).toMatchObject(done({ result: "failed", error: { code: "API_UNAVAILABLE" } }));
      const refused = begin({ input }).reconcile;
      finish(refused.answer({ type: "failed", error: new EngineError("API_FORBIDDEN", "No") }));
      expect(refused.request).toMatchObject(done({ result: "failed", error: { code: "API_FORBIDDEN" } }));
    });

    test("comes back later, and says so, when that happens again and again", () => {
      const { reconcile, wrote, settled } = begin({ input: { ...input, sourceConfirmed: true }, recreationWaitMs: 90_000 });
      expect(reconcile.request).toMatchObject({ type: "report", notes: [{ code: "LOOP_STOPPED" }] });
      finish(reconcile.answer({ type: "absent" }));
      expect([reconcile.request, wrote, settled.length]).toEqual([done({ result: "settled", requeueAfterMs: 90_000 }), [], 1]);
      // The first copy was not deleted.
      expect(begin({ recreationWaitMs: 90_000 }).reconcile.request.type).toBe("write");
    });
  });

  test("asks the embedder before each write, and does without it if told so", () => {
    const { reconcile, wrote } = begin({ hooks: { beforeWrite: () => "refuse" } });
    expect([reconcile.request, wrote]).toEqual([done({ result: "settled" }), []]);
  });

  test("says that a namespace is missing, each side in words of its own", () => {
    const refused = { type: "refused", note: { code: "HOST_NAMESPACE_MISSING", message: "The host namespace does not exist" } } as const;
    const host = begin().reconcile;
    finish(host.answer(refused));
    expect(host.request).toMatchObject({ notes: [{ code: "HOST_NAMESPACE_MISSING" }] });
    finish(host.answer({ type: "absent" }));
    expect(host.request).toEqual(done({ result: "settled", requeueAfterMs: 60_000 }));
    const input = referenceInput({ kind: SECRETS_TO_TENANT, source: secret("vc", "db-x-shop-x-blue") });
    const tenant = begin({ input }).reconcile;
    finish(tenant.answer(refused));
    expect(tenant.request).toMatchObject({ notes: [{ code: "REFERENCE_MISSING" }] });
  });

  test("repeats nothing of what an API server says, which may quote the Secret", () => {
    const { reconcile } = begin();
    finish(reconcile.answer({ type: "refused", note: { code: "API_INVALID", message: "data: aHVudGVyMg==" } }));
    expect(JSON.stringify(reconcile.request)).toContain("API_INVALID");
    expect(JSON.stringify(reconcile.request)).not.toContain("aHVudGVyMg");
    const failed = begin().reconcile;
    const details = { retryAfterSeconds: 7, status: { message: "aHVudGVyMg==" } };
    finish(failed.answer({ type: "failed", error: new EngineError("API_TOO_MANY_REQUESTS", "data: aHVudGVyMg==", { details }) }));
    const { error } = (failed.request as { ending: { error: EngineError } }).ending;
    expect([error.code, error.details, error.cause]).toEqual(["API_TOO_MANY_REQUESTS", { retryAfterSeconds: 7 }, undefined]);
    expect(error.message).not.toContain("aHVudGVyMg");
    const unexpected = begin().reconcile;
    finish(unexpected.answer({ type: "failed", error: new TypeError("aHVudGVyMg==") }));
    expect((unexpected.request as { ending: { error: Error } }).ending.error.message).not.toContain("aHVudGVyMg");
  });
});
