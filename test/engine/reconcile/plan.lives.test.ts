/**
 * What is planned when tenant objects come, go and come again, and for copies at keys that are not theirs any more.
 */
import { describe, expect, test } from "vitest";
import { plan } from "../../../src/engine/reconcile/plan.ts";
import type { Plan } from "../../../src/engine/reconcile/plan-types.ts";
import { service, stored, tenantEndpoints, testRules } from "../../support/rules.ts";
import { KEY, annotate, firstCopy, inputFor, only, writtenBy } from "./plan-support.ts";

describe("the life of the source", () => {
  const rules = testRules();
  const tenant = tenantEndpoints({ labels: { app: "web" } });
  const copy = firstCopy(rules, tenant);

  test("its end deletes the copy, with the copy's uid and version and a live read of the source", () => {
    expect(only(plan(rules, { key: KEY, tenant: undefined, host: copy }))).toMatchObject({
      action: "delete",
      key: { namespace: "vc", name: "web-x-shop-x-blue" },
      preconditions: { uid: "uid-host", resourceVersion: "20" },
      confirm: "absent",
    });
  });

  test("its recreation rebinds the copy, and nothing of the old life stays", () => {
    const host = annotate(copy, { leftover: "of the old life" });
    const reborn = tenantEndpoints({ uid: "uid-2", resourceVersion: "30", labels: { app: "new" } });
    const written = writtenBy(only(plan(rules, inputFor(rules, { tenant: reborn, host }))));
    expect(written.metadata.annotations).not.toHaveProperty("leftover");
    expect(written.metadata.labels).toMatchObject({ app: "new" });
    expect(written.metadata.annotations).toMatchObject({ "sync.platform/object-uid": "uid-2" });
  });

  test("a cache older than the copy decides nothing until a live read confirms it", () => {
    const older = { ...tenant, metadata: { ...tenant.metadata, resourceVersion: "9", labels: { app: "old" } } };
    expect(plan(rules, inputFor(rules, { tenant: older, host: copy }))).toMatchObject({ state: "stale", operations: [] });
    expect(plan(rules, inputFor(rules, { tenant: older, host: copy, sourceConfirmed: true })).operations).toHaveLength(1);
  });

  test("a deleted copy is made again", () => {
    expect(only(plan(rules, inputFor(rules, { tenant, host: undefined })))).toMatchObject({ action: "create", side: "host" });
  });
});

describe("a copy at another host key", () => {
  const rules = testRules();
  const orphan = stored({ ...firstCopy(rules, tenantEndpoints()), metadata: { namespace: "old", name: "web", uid: "uid-orphan" } }, "30");
  const actions = (planned: Plan) => planned.operations.map(({ action }) => action);

  test("goes after the new one is made", () => {
    const planned = plan(rules, inputFor(rules, { orphans: [orphan] }));
    expect(actions(planned)).toEqual(["create", "delete"]);
    expect(planned.operations[1]).toMatchObject({ key: { namespace: "old", name: "web" }, confirm: "none" });
  });

  test("stays while the new one is deleted to be recreated, and goes after that", () => {
    const recreating = { ...rules, kind: { ...rules.kind, mustRecreate: () => true } };
    const tenant = tenantEndpoints({ uid: "uid-2", resourceVersion: "30" });
    const before = plan(recreating, inputFor(rules, { tenant, host: firstCopy(rules, tenantEndpoints()), orphans: [orphan] }));
    expect(only(before)).toMatchObject({ action: "delete", key: before.hostKey, confirm: "unchanged" });
    expect(actions(plan(recreating, inputFor(rules, { tenant, orphans: [orphan] })))).toEqual(["create", "delete"]);
  });

  test("stays while a host edit of the new one is synced back, because the new one may have to be recreated after that", () => {
    const host = annotate(firstCopy(rules, tenantEndpoints()), { foreign: "x" });
    expect(only(plan(rules, inputFor(rules, { host, orphans: [orphan] })))).toMatchObject({ action: "update", side: "tenant" });
  });

  test("goes with the tenant object, after a live read", () => {
    const planned = plan(rules, inputFor(rules, { tenant: undefined, orphans: [orphan] }));
    expect(only(planned)).toMatchObject({ action: "delete", preconditions: { uid: "uid-orphan" }, confirm: "absent" });
  });

  test("goes where the host's controller makes what it stands for, though there is no new one", () => {
    const hostService = service("vc-blue", "web-x-shop-x-blue", { selector: { app: "web" } });
    const planned = plan(rules, inputFor(rules, { orphans: [orphan], hostService }));
    expect(only(planned)).toMatchObject({ action: "delete", key: { namespace: "old", name: "web" } });
    expect(planned.restsOnServices).toEqual(["host"]);
  });

  test.each([
    ["waits for its Service", rules, {}, { tenantService: service("shop", "web", {}), hostService: undefined }],
    ["is paused", rules, { annotations: { "sync.platform/pause": "true" } }, {}],
    ["is not synced any more", testRules({ enabled: false }), {}, {}],
  ] as const)("stays while the object %s", (_name, by, meta, parts) => {
    expect(actions(plan(by, inputFor(rules, { tenant: tenantEndpoints(meta), orphans: [orphan], ...parts })))).toEqual([]);
  });
});
