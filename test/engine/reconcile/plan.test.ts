/**
 * Plans for Endpoints: which are copied, which are not, and the content of a copy.
 */
import { describe, expect, test } from "vitest";
import type { Endpoints, KubeObject } from "../../../src/kube/object/types.ts";
import { compileAddressPolicy } from "../../../src/engine/reconcile/rules/address-policy.ts";
import { plan } from "../../../src/engine/reconcile/plan.ts";
import { ONE_ADDRESS, stored, tenantEndpoints, testRules } from "../../support/rules.ts";
import { KEY, PREFIX, firstCopy, inputFor, only, writtenBy } from "./plan-support.ts";

describe("a first copy", () => {
  test("has the host name, the translated labels, the patched annotations and the subsets", () => {
    const rules = testRules({ patches: [PREFIX] });
    const tenant = tenantEndpoints({
      labels: { app: "web", release: "r1" },
      annotations: { team: "shop", "kubectl.kubernetes.io/x": "no" },
    });
    const copy = firstCopy(rules, tenant) as Endpoints;
    expect(copy.metadata).toMatchObject({ namespace: "vc", name: "web-x-shop-x-blue" });
    expect(copy.metadata.labels).toMatchObject({ app: "web", "sync.platform/managed-by": "blue" });
    expect(copy.metadata.labels).not.toHaveProperty("release");
    expect(copy.metadata.annotations).toMatchObject({ team: "blue-shop" });
    expect(copy.metadata.annotations).not.toHaveProperty("kubectl.kubernetes.io/x");
    expect(copy.subsets).toEqual(ONE_ADDRESS);
  });

  test("leaves nothing to do", () => {
    const rules = testRules({ patches: [PREFIX] });
    const tenant = tenantEndpoints({ annotations: { team: "shop" } });
    expect(plan(rules, inputFor(rules, { tenant, host: firstCopy(rules, tenant) })).operations).toEqual([]);
  });

  test("belongs to the virtual cluster's own Service where there is one", () => {
    const rules = testRules();
    const owner = { apiVersion: "v1", kind: "Service", name: "blue", uid: "uid-vc" };
    expect(writtenBy(only(plan(rules, inputFor(rules, { owner })))).metadata.ownerReferences).toEqual([owner]);
  });
});

describe("what another object on the host means", () => {
  test("a foreign object with the host name is never touched", () => {
    const rules = testRules();
    const foreign = { apiVersion: "v1", kind: "Endpoints", metadata: { namespace: "vc", name: "web-x-shop-x-blue", resourceVersion: "3" } };
    const planned = plan({ ...rules, servicesEnabled: false }, inputFor(rules, { host: foreign, hostService: undefined }));
    expect([planned.state, planned.operations, planned.notes.map(({ code }) => code)]).toEqual(["refused", [], ["HOST_OBJECT_FOREIGN"]]);
  });

  test("a copy of another tenant object with the same host name is never touched", () => {
    const rules = testRules();
    const first: KubeObject = { ...tenantEndpoints(), metadata: { namespace: "c", name: "a-x-b", uid: "one", resourceVersion: "1" } };
    const second: KubeObject = { ...tenantEndpoints(), metadata: { namespace: "b-x-c", name: "a", uid: "two", resourceVersion: "2" } };
    const copy = plan(rules, { key: { namespace: "c", name: "a-x-b" }, tenant: first, host: undefined });
    const planned = plan(rules, { key: { namespace: "b-x-c", name: "a" }, tenant: second, host: stored(writtenBy(only(copy)), "9") });
    expect([planned.state, planned.operations, planned.notes.map(({ code }) => code)]).toEqual(["refused", [], ["NAME_COLLISION"]]);
  });

  test("a mirrored object that inherited the markers is not ours", () => {
    const rules = testRules();
    const copy = firstCopy(rules, tenantEndpoints());
    const inherited = { ...copy, metadata: { ...copy.metadata, name: "web-x-shop-x-blue-abcde" } };
    expect(plan(rules, { key: KEY, tenant: undefined, host: inherited }).operations).toEqual([]);
  });
});

describe("what is not copied", () => {
  test.each([
    ["switched off", testRules({ enabled: false }), {}, "SYNC_DISABLED"],
    ["paused", testRules(), { annotations: { "sync.platform/pause": "true" } }, "EXCLUDED"],
    ["not selected", testRules({ settings: { selector: [{ key: "app", operator: "Exists", values: [] }] } }), {}, "EXCLUDED"],
  ] as const)("%s", (_name, rules, meta, code) => {
    const planned = plan(rules, inputFor(rules, { tenant: tenantEndpoints(meta) }));
    expect([planned.operations, planned.notes.map((note) => note.code)]).toEqual([[], [code]]);
  });

  test("default/kubernetes", () => {
    const rules = testRules();
    const tenant = { ...tenantEndpoints(), metadata: { namespace: "default", name: "kubernetes", uid: "u" } };
    expect(plan(rules, { key: { namespace: "default", name: "kubernetes" }, tenant, host: undefined }).operations).toEqual([]);
  });

  test("a paused object keeps the copy that it has", () => {
    const rules = testRules();
    const copy = firstCopy(rules, tenantEndpoints());
    const paused = tenantEndpoints({ annotations: { "sync.platform/pause": "true" } }, []);
    expect(plan(rules, inputFor(rules, { tenant: paused, host: copy })).operations).toEqual([]);
  });

  test("an object that is no longer selected loses its copy", () => {
    const rules = testRules();
    const copy = firstCopy(rules, tenantEndpoints());
    const strict = testRules({ settings: { selector: [{ key: "app", operator: "Exists", values: [] }] } });
    expect(only(plan(strict, inputFor(rules, { host: copy })))).toMatchObject({ action: "delete", confirm: "unchanged" });
  });
});

describe("addresses", () => {
  const bad = [{ addresses: [{ ip: "10.0.0.1" }, { ip: "127.0.0.1" }], ports: [{ port: 80, protocol: "TCP" }] }];

  test("that are refused are left out, and people are told", () => {
    const rules = testRules();
    const planned = plan(rules, inputFor(rules, { tenant: tenantEndpoints({}, bad) }));
    expect(writtenBy(only(planned))["subsets"]).toEqual(ONE_ADDRESS);
    expect(planned.notes.map(({ code }) => code)).toEqual(["ADDRESS_REFUSED"]);
  });

  test("are checked after the patches", () => {
    const rules = testRules({ patches: [{ path: "subsets[*].addresses[*].ip", expression: '"169.254.169.254"' }] });
    expect(writtenBy(only(plan(rules, inputFor(rules, {}))))["subsets"]).toEqual([]);
  });

  test("block their object when the policy says so", () => {
    const rules = testRules({ settings: { addressPolicy: compileAddressPolicy({ allow: [], deny: [], action: "reject-object" }) } });
    expect(plan(rules, inputFor(rules, { tenant: tenantEndpoints({}, bad) }))).toMatchObject({ state: "refused", operations: [] });
  });

  test("that are not addresses never pass the policy", () => {
    const rules = testRules({ patches: [{ path: "subsets", expression: '"169.254.169.254"' }] });
    expect(plan(rules, inputFor(rules, {}))).toMatchObject({ state: "refused", operations: [] });
  });
});
