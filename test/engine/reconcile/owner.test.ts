import { describe, expect, test } from "vitest";
import type { KubeObject, OwnerReference } from "../../../src/kube/object/types.ts";
import { plan } from "../../../src/engine/reconcile/plan.ts";
import { stored, tenantEndpoints, testRules } from "../../support/rules.ts";
import { annotate, firstCopy, inputFor, only, writtenBy } from "./plan-support.ts";

const rules = testRules();
const OWNER: OwnerReference = { apiVersion: "v1", kind: "Service", name: "blue", uid: "new" };
const FORMER: OwnerReference = { ...OWNER, uid: "old" };
const OTHER: OwnerReference = { apiVersion: "v1", kind: "ConfigMap", name: "blue", uid: "other" };

function ownedBy(ownerReferences: readonly OwnerReference[] | undefined): KubeObject {
  const copy = firstCopy(rules, tenantEndpoints());
  return { ...copy, metadata: { ...copy.metadata, ...(ownerReferences && { ownerReferences }) } };
}

describe("the owner of a copy", () => {
  test.each([
    { why: "made before its owner", before: undefined, after: [OWNER] },
    { why: "owned by a Service that was recreated", before: [FORMER], after: [OWNER] },
    { why: "with another owner too", before: [OTHER, FORMER], after: [OTHER, OWNER] },
  ])("is written once to a copy $why", ({ before, after }) => {
    const input = inputFor(rules, { host: ownedBy(before), owner: OWNER });
    const operation = only(plan(rules, input));
    expect(operation).toMatchObject({ action: "update", side: "host", reason: "The virtual cluster's Service now owns the copy" });
    const written = writtenBy(operation);
    expect(written.metadata.ownerReferences).toEqual(after);
    expect(plan(rules, { ...input, host: stored(written, "21") }).operations).toEqual([]);
  });

  test("comes along with another change", () => {
    const tenant = annotate(tenantEndpoints(), { team: "blue" });
    const written = writtenBy(only(plan(rules, inputFor(rules, { tenant, host: ownedBy([FORMER]), owner: OWNER }))));
    expect(written.metadata).toMatchObject({ annotations: { team: "blue" }, ownerReferences: [OWNER] });
  });

  test("comes along with a new life of the tenant object", () => {
    const tenant = tenantEndpoints({ uid: "uid-2", resourceVersion: "30" });
    const written = writtenBy(only(plan(rules, inputFor(rules, { tenant, host: ownedBy([FORMER]), owner: OWNER }))));
    expect(written.metadata.ownerReferences).toEqual([OWNER]);
  });

  test.each([{ host: [OWNER] }, { host: [FORMER] }, { host: undefined }])("is left alone while there is no other: %j", ({ host }) => {
    const owner = host?.[0] === OWNER ? OWNER : undefined;
    expect(plan(rules, inputFor(rules, { host: ownedBy(host), owner })).operations).toEqual([]);
  });
});
