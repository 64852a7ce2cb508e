import { expect, test } from "vitest";
import type { Plan, PlanInput } from "../../../../src/engine/reconcile/plan-types.ts";
import { createStatusRecords } from "../../../../src/engine/sync/state/status-records.ts";
import { createFakeClock } from "../../../support/fake-clock.ts";
import { tenantEndpoints } from "../../../support/rules.ts";

test("a plan that was not carried out makes the one before it prove nothing", () => {
  const records = createStatusRecords(createFakeClock());
  const input: PlanInput = { key: { namespace: "shop", name: "web" }, tenant: tenantEndpoints(), host: undefined };
  const planned: Plan = { state: "left", hostKey: undefined, operations: [], notes: [], outcomes: [], references: [] };
  records.unsettle("endpoints|shop/web");
  records.record("endpoints|shop/web", { resource: "endpoints", input, planned, notes: [], complete: true });
  expect(records.settled("endpoints|shop/web", input)).toBe(true);
  records.unsettle("endpoints|shop/web");
  expect(records.settled("endpoints|shop/web", input)).toBe(false);
  expect(records.list()).toMatchObject([{ state: "left" }]);
});

test.each([
  ["API_INVALID", "refused"],
  ["HOST_NAMESPACE_MISSING", "waiting"],
  ["ONE_WAY_EDIT", "copied"],
] as const)("a copy whose write ends with %s is %s", (code, state) => {
  const records = createStatusRecords(createFakeClock());
  const key = { namespace: "shop", name: "web" };
  const input: PlanInput = { key, tenant: tenantEndpoints(), host: undefined };
  const create = { action: "create", side: "host", object: tenantEndpoints(), reason: "A copy is missing" } as const;
  const planned: Plan = { state: "copied", hostKey: key, operations: [create], notes: [], outcomes: [], references: [] };
  records.record("endpoints|shop/web", { resource: "endpoints", input, planned, notes: [{ code, message: "" }], complete: false });
  expect(records.list()).toMatchObject([{ state }]);
});
