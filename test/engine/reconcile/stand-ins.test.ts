/** What a write that takes something from readers on the host rests on: it is read live, one object after the other. */
import { expect, test } from "vitest";
import { finish } from "../../../src/base/finish.ts";
import { SERVICE_NAME, SKIP_MIRROR } from "../../../src/engine/kinds/slice-labels.ts";
import { createMachine, type Response } from "../../../src/engine/reconcile/machine.ts";
import { objectStrategy } from "../../../src/engine/reconcile/object-strategy.ts";
import type { Operation, Plan } from "../../../src/engine/reconcile/plan-types.ts";
import type { StandIn } from "../../../src/engine/reconcile/rules/rules.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from "../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { service, stored, tenantEndpoints, testRules } from "../../support/rules.ts";

const KEY = { namespace: "shop", name: "web" };
const COPY = stored(tenantEndpoints({ resourceVersion: "20" }), "20");
const SLICE: KubeObject = {
  ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", addressType: "IPv4", endpoints: [{ addresses: ["10.0.0.1"] }] },
  metadata: { namespace: "vc", name: "web-0", uid: "slice", resourceVersion: "30", labels: { [SERVICE_NAME]: "web" } },
};
const STAND_IN: StandIn = { resource: ENDPOINT_SLICES, key: { namespace: "vc", name: "web-0" }, object: SLICE, label: SERVICE_NAME };
const NO_SERVICE: StandIn = { resource: SERVICES, key: { namespace: "vc", name: "web" }, object: undefined };

const DELETE: Operation = { action: "delete", side: "host", key: KEY, preconditions: {}, reason: "test", confirm: "absent" };
const UPDATE: Operation = { action: "update", side: "host", object: COPY, reason: "test" };
const AWAY: Operation = { ...UPDATE, object: { ...COPY, metadata: { ...COPY.metadata, labels: { [SKIP_MIRROR]: "true" } } } };

const NO_ENDPOINTS: StandIn = { side: "tenant", resource: ENDPOINTS, key: KEY, object: undefined };

const GOING = { ...tenantEndpoints(), metadata: { ...tenantEndpoints().metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };

const read = ({ side = "host", key, resource }: StandIn) => ({ type: "get", side, key, resource });
const source = { type: "get", side: "tenant", key: KEY };
const write = (operation: Operation) => ({ type: "write", operation });
const object = (found: KubeObject): Response => ({ type: "object", object: found });
const changed = (metadata: object, body: object = {}) => object({ ...SLICE, ...body, metadata: { ...SLICE.metadata, ...metadata } });
const absent: Response = { type: "absent" };
const outdated = { type: "done", ending: { result: "outdated", requeueAfterMs: 50 } };
const settled = { type: "done", ending: { result: "settled" } };

/** The requests of one operation, answered in order. */
function requests(operation: Operation, standIns: readonly StandIn[], answers: readonly Response[]) {
  const planned = { state: "absent", hostKey: KEY, operations: [operation], notes: [], outcomes: [] } as unknown as Plan;
  const machine = createMachine(objectStrategy(testRules(), () => planned));
  const backends = { isSource: false, mayGo: true, skipMirror: undefined, standIns } as const;
  let step = finish(machine.begin({ input: { key: KEY, tenant: undefined, host: COPY, backends }, outdatedTimes: 0 }));
  const seen: unknown[] = [step.request];
  for (const answer of answers) seen.push((step = finish(machine.next(structuredClone(step.state), answer))).request);
  return seen;
}

test("before a copy goes, all that readers see in its place is read, and the source last", () => {
  const answers = [object(SLICE), absent, absent, absent];
  const wanted = [read(STAND_IN), read(NO_SERVICE), source, write(DELETE), settled];
  expect(requests(DELETE, [STAND_IN, NO_SERVICE], answers)).toEqual(wanted);
});

test.each([
  { why: "is gone", found: absent },
  { why: "is going", found: changed({ resourceVersion: "31", deletionTimestamp: "2026-01-01T00:00:00Z" }) },
  { why: "says something else", found: changed({ resourceVersion: "31" }, { endpoints: [] }) },
  { why: "is of another Service", found: changed({ resourceVersion: "31", labels: { [SERVICE_NAME]: "db" } }) },
  { why: "is another one of the name", found: changed({ uid: "other", resourceVersion: "31" }) },
])("a copy stays where something is wrong with what readers see in its place: it $why", ({ found }) => {
  expect(requests(DELETE, [STAND_IN], [found])).toEqual([read(STAND_IN), outdated]);
});

test.each([
  { why: "says the same", found: changed({ resourceVersion: "31" }, { ports: null }), mayChange: false },
  { why: "may change", found: changed({ resourceVersion: "31" }, { endpoints: [] }), mayChange: true },
])("what was written since does not matter where it $why", ({ found, mayChange }) => {
  const standIn = { ...STAND_IN, mayChange };
  expect(requests(DELETE, [standIn], [found, absent])).toEqual([read(standIn), source, write(DELETE)]);
});

test("a copy stays where a Service has readers after all", () => {
  expect(requests(DELETE, [NO_SERVICE], [object(service("vc", "web", {}))])).toEqual([read(NO_SERVICE), outdated]);
});

test.each([
  { why: "is there after all", found: object(tenantEndpoints()), then: outdated },
  { why: "is about to go", found: object(GOING), then: source },
  { why: "is not there", found: absent, then: source },
])("what the tenant is not to have is read there: it $why", ({ found, then }) => {
  expect(requests(DELETE, [NO_ENDPOINTS], [found])).toEqual([read(NO_ENDPOINTS), then]);
});

test("the host's mirror is sent away only for what the host shows", () => {
  expect(requests(AWAY, [STAND_IN], [absent])).toEqual([read(STAND_IN), outdated]);
  expect(requests(AWAY, [STAND_IN], [object(SLICE)])).toEqual([read(STAND_IN), write(AWAY)]);
});

test("what is new, or is written to the tenant, needs nothing in its place", () => {
  const others: readonly Operation[] = [
    { ...UPDATE, action: "create" },
    { ...UPDATE, side: "tenant" },
  ];
  for (const operation of others) expect(requests(operation, [STAND_IN], [])).toEqual([write(operation)]);
});
