import { expect, test } from "vitest";
import { createFlows, LOST_MAX } from "../../src/sync/flows.ts";
import { tenantEndpoints } from "../support/rules.ts";

const TENANT = tenantEndpoints({ resourceVersion: "11" });
const HOST = tenantEndpoints({ uid: "uid-host" });

test("what flowed is known for exactly the version of the object that it made", () => {
  const flows = createFlows();
  flows.flowed("a", TENANT, HOST);
  const from = [TENANT, tenantEndpoints({ resourceVersion: "12" }), tenantEndpoints({ resourceVersion: "11", uid: "another life" })];
  expect(from.map((tenant) => flows.from("a", tenant))).toEqual([HOST, undefined, undefined]);
  flows.forget("a");
  expect(flows.from("a", TENANT)).toBeUndefined();
});

test("of lost objects only the last ones are remembered, and whatever is not lost", () => {
  const flows = createFlows();
  const ids = Array.from({ length: LOST_MAX + 1 }, (_none, index) => `lost ${index}`);
  for (const id of ["here", ...ids]) flows.flowed(id, TENANT, HOST);
  for (const id of [...ids, "never flowed"]) flows.lost(id);
  const known = ["here", ...ids].filter((id) => flows.from(id, TENANT) !== undefined);
  expect(known).toEqual(["here", ...ids.slice(1)]);
});
