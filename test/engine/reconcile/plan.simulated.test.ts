/** Findings of the simulator, as plans. The seeds are in docs/internals/reliability.md. */
import { describe, expect, test } from "vitest";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { plan } from "../../../src/engine/reconcile/plan.ts";
import type { Operation, Plan, PlanInput } from "../../../src/engine/reconcile/plan-types.ts";
import { namedService, ONE_ADDRESS, service, stored, tenantEndpoints, testRules } from "../../support/rules.ts";

const KEY = { namespace: "shop", name: "web" };
const rules = testRules();

function copyOf(tenant: KubeObject): KubeObject {
  const [operation] = plan(rules, { key: KEY, tenant, host: undefined }).operations;
  if (operation?.action !== "create") throw new Error("nothing is created");
  return stored(operation.object, "20");
}

/** The one update that is planned. */
function updateOf({ operations: [operation, ...others] }: Plan): Extract<Operation, { action: "update" }> {
  if (operation?.action !== "update" || others.length > 0) throw new Error("something else than one update is planned");
  return operation;
}

test("a late cache does not take over a copy whose labels the host's controller has replaced", () => {
  const external = testRules({ services: "external" });
  const copy = copyOf(tenantEndpoints({ resourceVersion: "10" }));
  const host = stored(
    { ...copy, metadata: { ...copy.metadata, labels: { "endpoints.kubernetes.io/managed-by": "endpoint-controller" } } },
    "21",
  );
  const around = { tenantService: service("shop", "web", {}), hostService: namedService() };
  const input: PlanInput = { key: KEY, tenant: tenantEndpoints({ resourceVersion: "9" }), host, ...around };
  expect(plan(external, input)).toMatchObject({ state: "stale", operations: [] });
  expect(plan(external, { ...input, tenant: tenantEndpoints({ resourceVersion: "10" }) }).notes).toMatchObject([{ code: "TAKEN_OVER" }]);
});

test("an edited label flows back though subsets that were edited with it cannot", () => {
  const copy = copyOf(tenantEndpoints({ labels: { app: "web" } }));
  const unknownPod = { ip: "10.0.0.9", targetRef: { kind: "Pod", namespace: "vc", name: "unknown" } };
  const host: KubeObject = { ...copy, metadata: { ...copy.metadata, labels: { ...copy.metadata.labels, app: "edited" } } };
  const edited = stored({ ...host, subsets: [{ addresses: [unknownPod], ports: [{ port: 80 }] }] } as KubeObject, "21");
  const planned = plan(rules, { key: KEY, tenant: tenantEndpoints({ labels: { app: "web" } }), host: edited });
  expect(planned.operations).toMatchObject([
    { action: "update", side: "tenant", object: { metadata: { labels: { app: "edited" } }, subsets: ONE_ADDRESS } },
  ]);
  expect(planned.notes).toMatchObject([{ code: "REVERSE_NOT_INVERSE", message: expect.stringContaining("body") as string }]);
});

test("a second host edit flows back after a first one that took the annotation away", () => {
  const team = (host: KubeObject, value: string | undefined, resourceVersion: string): KubeObject => {
    const { team: _before, ...others } = host.metadata.annotations ?? {};
    const annotations = value === undefined ? others : { ...others, team: value };
    return stored({ ...host, metadata: { ...host.metadata, annotations } }, resourceVersion);
  };
  const tenant = tenantEndpoints({ annotations: { team: "shop" } });
  const first = team(copyOf(tenant), undefined, "21");
  const [flow] = plan(rules, { key: KEY, tenant, host: first }).operations;
  if (flow?.action !== "update") throw new Error("nothing flows");
  const planned = plan(rules, { key: KEY, tenant: stored(flow.object, "11"), host: team(first, "sales", "22") });
  expect(planned.notes).toEqual([]);
  expect(planned.operations).toMatchObject([{ side: "tenant", object: { metadata: { annotations: { team: "sales" } } } }]);
});

test("what another syncer wrote in answer to a host edit is not taken for one more edit", () => {
  const edited = (host: KubeObject, team: string, resourceVersion: string): KubeObject =>
    stored({ ...host, metadata: { ...host.metadata, annotations: { ...host.metadata.annotations, team } } }, resourceVersion);
  const tenant = tenantEndpoints({ annotations: { team: "shop" }, resourceVersion: "10" });
  const first = edited(copyOf(tenant), "sales", "21");
  const [flow] = plan(rules, { key: KEY, tenant, host: first }).operations;
  if (flow?.action !== "update") throw new Error("nothing flows");
  const flowed = stored(flow.object, "11");
  // The other one had a patch that this one, which knows of the flow, does not have (any more).
  const patched: KubeObject = { ...flowed, metadata: { ...flowed.metadata, annotations: { team: "late-sales" } } };
  const [answer] = plan(rules, { key: KEY, tenant: patched, host: first, sourceConfirmed: true }).operations;
  if (answer?.action !== "update") throw new Error("nothing is written");
  const host = stored(answer.object, "22");
  const planned = plan(rules, { key: KEY, tenant: flowed, host });
  expect(planned.operations.map(({ side }) => side)).not.toContain("tenant");
});

describe("where another syncer wrote an older state after a host edit had flowed", () => {
  const upper = { path: 'metadata.annotations["tag"]', expression: "value.toUpperCase()" };
  const none = { path: 'metadata.annotations["note"]', expression: "undefined" };
  const oneWay = { path: 'metadata.annotations["team"]', expression: "value" };
  const others = testRules({ patches: [upper, none, oneWay], configHash: "another" });
  const tenant = tenantEndpoints({ annotations: { tag: "c", note: "n" }, resourceVersion: "10" });
  const annotated = (host: KubeObject, annotations: Record<string, string>, resourceVersion: string): KubeObject =>
    stored({ ...host, metadata: { ...host.metadata, annotations: { ...host.metadata.annotations, ...annotations } } }, resourceVersion);
  const edited = annotated(copyOf(tenant), { team: "a" }, "21");
  const flow = updateOf(plan(rules, { key: KEY, tenant, host: edited }));
  // The other one does not know what has flowed, and has no way back for it.
  const answered = updateOf(plan(others, { key: KEY, tenant, host: edited }));

  test("what it wrote is no edit", () => {
    const host = stored(answered.object, "22");
    expect(host.metadata.annotations).toMatchObject({ tag: "C" });
    expect(host.metadata.annotations).not.toHaveProperty("note");
    const answer = updateOf(plan(rules, { key: KEY, tenant: stored(flow.object, "11"), host }));
    expect(answer).toMatchObject({ side: "host", object: { metadata: { annotations: { tag: "c", note: "n", team: "a" } } } });
  });

  test("an edit of what it wrote flows back", () => {
    const host = annotated(answered.object, { team: "b" }, "23");
    const answer = updateOf(plan(rules, { key: KEY, tenant: stored(flow.object, "11"), host }));
    expect(answer).toMatchObject({ side: "tenant", object: { metadata: { annotations: { tag: "c", note: "n", team: "b" } } } });
  });
});

test("a second host edit flows back though it brings back what was written", () => {
  const tenant = tenantEndpoints({ annotations: { team: "shop" }, resourceVersion: "10" });
  const copy = copyOf(tenant);
  const team = (value: string, resourceVersion: string): KubeObject =>
    stored({ ...copy, metadata: { ...copy.metadata, annotations: { ...copy.metadata.annotations, team: value } } }, resourceVersion);
  const first = team("sales", "21");
  const flowed = stored(updateOf(plan(rules, { key: KEY, tenant, host: first })).object, "11");
  const answer = updateOf(plan(rules, { key: KEY, tenant: flowed, host: team("shop", "22") }));
  expect(answer).toMatchObject({ side: "tenant", object: { metadata: { annotations: { team: "shop" } } } });
});

test("Endpoints whose slices are gone are mirrored again, though a host edit has just flowed back", () => {
  const tenant = tenantEndpoints({ labels: { app: "web" }, resourceVersion: "10" });
  const copy = copyOf(tenant);
  const [skip] = plan(rules, { key: KEY, tenant, host: copy, slices: { copied: 1, total: 1 } }).operations;
  if (skip?.action !== "update") throw new Error("the mirror is not replaced");
  const { labels } = skip.object.metadata;
  const first = stored({ ...skip.object, metadata: { ...skip.object.metadata, labels: { ...labels, app: "edited" } } }, "22");
  const [flow] = plan(rules, { key: KEY, tenant, host: first, slices: { copied: 1, total: 1 } }).operations;
  if (flow?.action !== "update" || flow.side !== "tenant") throw new Error("nothing flows");
  const input = { key: KEY, tenant: stored(flow.object, "23"), host: first, slices: { copied: 0, total: 0 } };
  const [answer] = plan(rules, input).operations;
  if (answer?.action !== "update") throw new Error("nothing is written");
  expect(answer.object.metadata.labels).not.toHaveProperty(["endpointslice.kubernetes.io/skip-mirror"]);
});

test("a deleted copy comes back only if a live read finds its source", () => {
  const created = (vanished: boolean) => plan(rules, { key: KEY, tenant: tenantEndpoints(), host: undefined, vanished });
  expect(created(true)).toMatchObject({ operations: [{ action: "create" }], restsOnSource: true });
  expect(created(false)).toMatchObject({ operations: [{ action: "create" }], restsOnSource: false });
});

describe("what a cache alone says of Services is read live before", () => {
  const tenantService = service("shop", "web", {});
  const hostService = namedService();
  const withSelector = service("vc", "web-x-shop-x-blue", { selector: { app: "web" } });
  const required = testRules({ services: "external", settings: { requireService: true } });
  const input = (parts: Partial<PlanInput>): PlanInput => ({ key: KEY, tenant: tenantEndpoints(), host: undefined, ...parts });
  const foreign: KubeObject = {
    apiVersion: "v1",
    kind: "Endpoints",
    metadata: { namespace: "vc", name: "web-x-shop-x-blue", labels: { "endpoints.kubernetes.io/managed-by": "x" } },
  };

  test.each([
    ["a copy is made where no host Service is known", rules, input({}), ["host"]],
    [
      "a copy is made beside another syncer's Service",
      testRules({ services: "external" }),
      input({ tenantService, hostService }),
      ["host"],
    ],
    ["a deleted copy comes back", rules, input({ vanished: true }), ["host"]],
    [
      "a deleted copy comes back, a tenant Service required",
      required,
      input({ tenantService, hostService, vanished: true }),
      ["host", "tenant"],
    ],
    ["a copy goes because of a selector", rules, input({ host: copyOf(tenantEndpoints()), hostService: withSelector }), ["host"]],
    ["a copy goes because a Service is required", required, input({ host: copyOf(tenantEndpoints()) }), ["tenant"]],
    [
      "unowned Endpoints are taken over",
      testRules({ services: "external" }),
      input({ tenantService, hostService, host: foreign }),
      ["host", "tenant"],
    ],
  ] as const)("%s", (_why, by, seen, clusters) => {
    const { operations, restsOnServices } = plan(by, seen);
    expect(operations).toHaveLength(1);
    expect(restsOnServices).toEqual(clusters);
  });
});
