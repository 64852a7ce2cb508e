import { describe, expect, test } from "vitest";
import type { PatchDefinition } from "../../../src/engine/patch/patch-definition.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { isStoredAsPlanned } from "../../../src/engine/reconcile/object-strategy.ts";
import { plan } from "../../../src/engine/reconcile/plan.ts";
import type { Operation, Plan } from "../../../src/engine/reconcile/plan-types.ts";
import { stored, tenantEndpoints, testRules } from "../../support/rules.ts";

const KEY = { namespace: "shop", name: "web" };
const TENANT = stored(tenantEndpoints({ uid: "uid-web", labels: { app: "web" }, annotations: { team: "shop" } }), "7");

/** The first plan for a tenant object, and the copy that it writes. */
function firstWrite(patches: readonly PatchDefinition[] = [], sees: boolean | "unknown" = false) {
  const rules = testRules({ patches });
  const { readsHostObject: _own, ...engine } = rules.engine;
  const seeing = { ...rules, engine: sees === "unknown" ? engine : { ...engine, readsHostObject: () => sees } };
  const planned = plan(seeing, { key: KEY, tenant: TENANT, host: undefined });
  const { object } = planned.operations[0] as Extract<Operation, { action: "create" }>;
  return { rules: seeing, planned, copy: stored({ ...object, metadata: { ...object.metadata, uid: "uid-copy" } }, "21") };
}

function withMeta(object: KubeObject, metadata: Partial<KubeObject["metadata"]>): KubeObject {
  return { ...object, metadata: { ...object.metadata, ...metadata } };
}

test("a copy that is stored as it was planned needs no second plan, which would do and say nothing", () => {
  const { rules, planned, copy } = firstWrite();
  expect(isStoredAsPlanned(rules, planned, copy)).toBe(true);
  expect(plan(rules, { key: KEY, tenant: TENANT, host: copy })).toMatchObject({ state: "copied", operations: [], notes: [] });
});

describe("what is stored as something else needs one", () => {
  test.each<{ why: string; change: (copy: KubeObject) => KubeObject }>([
    { why: "another label", change: (copy) => withMeta(copy, { labels: { ...copy.metadata.labels, webhook: "1" } }) },
    { why: "another annotation", change: (copy) => withMeta(copy, { annotations: { ...copy.metadata.annotations, team: "ops" } }) },
    { why: "a marker that is missing", change: (copy) => withMeta(copy, { labels: { app: "web" } }) },
    { why: "another body", change: (copy) => ({ ...copy, subsets: [] }) },
    { why: "a field more", change: (copy) => ({ ...copy, immutable: true }) },
    { why: "its end", change: (copy) => withMeta(copy, { deletionTimestamp: "2026-01-01T00:00:00Z" }) },
  ])("$why", ({ change }) => {
    const { rules, planned, copy } = firstWrite();
    expect(isStoredAsPlanned(rules, planned, change(copy))).toBe(false);
  });
});

describe("a plan that may say more the second time is made twice", () => {
  test.each<{ why: string; parts: (planned: Plan) => Partial<Plan> }>([
    { why: "it had something to say", parts: () => ({ notes: [{ code: "BOTH_SIDES_CHANGED", message: "test" }] }) },
    { why: "it is not a copy that it makes", parts: () => ({ state: "left" }) },
    { why: "it has two writes", parts: ({ operations }) => ({ operations: [...operations, ...operations] }) },
    { why: "it has none", parts: () => ({ operations: [] }) },
    { why: "it writes to the tenant", parts: ({ operations }) => ({ operations: [{ ...operations[0]!, side: "tenant" } as Operation] }) },
  ])("$why", ({ parts }) => {
    const { rules, planned, copy } = firstWrite();
    expect(isStoredAsPlanned(rules, { ...planned, ...parts(planned) }, copy)).toBe(false);
  });

  test.each<{ why: string; patch: PatchDefinition; sees: boolean | "unknown"; want: boolean }>([
    { why: "an expression sees the host object", patch: { path: "metadata.labels.app", expression: "value" }, sees: true, want: false },
    { why: "it is unknown whether one does", patch: { path: "metadata.labels.app", expression: "value" }, sees: "unknown", want: false },
    {
      why: "it names an object",
      patch: { path: "metadata.labels.app", reference: { apiVersion: "v1", kind: "Secret" } },
      sees: false,
      want: false,
    },
    { why: "but not where no expression sees it", patch: { path: "metadata.labels.app", expression: "value" }, sees: false, want: true },
  ])("$why", ({ patch, sees, want }) => {
    const { rules, planned, copy } = firstWrite([patch], sees);
    expect(isStoredAsPlanned(rules, planned, copy)).toBe(want);
  });
});
