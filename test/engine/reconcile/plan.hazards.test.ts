/** What late caches, lost answers and unlucky neighbours must not lead to. */
import { describe, expect, test } from "vitest";
import type { KubeObject, Service } from "../../../src/kube/object/types.ts";
import { plan } from "../../../src/engine/reconcile/plan.ts";
import type { PlanInput } from "../../../src/engine/reconcile/plan-types.ts";
import { SERVICES_KIND } from "../../../src/engine/kinds/services.ts";
import { namedService, ONE_ADDRESS, service, stored, tenantEndpoints, testRules } from "../../support/rules.ts";

const KEY = { namespace: "shop", name: "web" };
const rules = testRules();

function written(input: PlanInput, by = rules): KubeObject {
  const [operation] = plan(by, input).operations;
  if (operation === undefined || operation.action === "delete") throw new Error("nothing is written");
  return operation.object;
}

function copyOf(tenant: KubeObject): KubeObject {
  return stored(written({ key: KEY, tenant, host: undefined }), "20");
}

describe("a tenant object that is older than what its copy was made of", () => {
  const older = tenantEndpoints({ resourceVersion: "9", uid: "uid-0" });
  const host = copyOf(tenantEndpoints());

  test("does not bind the copy to an earlier life", () => {
    expect(plan(rules, { key: KEY, tenant: older, host })).toMatchObject({ state: "stale", operations: [] });
  });

  test("is no reason to take the copy away", () => {
    const strict = testRules({ settings: { selector: [{ key: "app", operator: "Exists", values: [] }] } });
    expect(plan(strict, { key: KEY, tenant: older, host })).toMatchObject({ state: "stale", operations: [] });
    expect(plan(strict, { key: KEY, tenant: older, host, sourceConfirmed: true }).operations).toHaveLength(1);
  });
});

describe("Endpoints whose host name is that of another object's Service", () => {
  const first = { namespace: "c", name: "a-x-b" };
  const second = { namespace: "b-x-c", name: "a" };
  const tenant: KubeObject = { ...tenantEndpoints(), metadata: { ...second, uid: "two", resourceVersion: "2" } };
  const hostService = stored(
    written({ key: first, tenant: service("c", "a-x-b", { ports: [{ port: 80 }] }), host: undefined }, testRules({ kind: SERVICES_KIND })),
    "6",
  ) as Service;

  test("do not become its backends", () => {
    const planned = plan(rules, { key: second, tenant, host: undefined, hostService });
    expect([planned.operations, planned.notes.map(({ code }) => code)]).toEqual([[], ["NAME_COLLISION"]]);
  });
});

const CONTROLLERS = { "endpoints.kubernetes.io/managed-by": "endpoint-controller" };

describe("an object on its way out", () => {
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  const going = (object: KubeObject) => ({ ...object, metadata: { ...object.metadata, deletionTimestamp } });
  const external = testRules({ services: "external" });

  test("is not handed over, since it goes anyway", () => {
    const host = going(copyOf(tenantEndpoints()));
    const hostService = service("vc", "web-x-shop-x-blue", { selector: { app: "web" } });
    expect(plan(external, { key: KEY, tenant: tenantEndpoints(), host, hostService }).operations).toEqual([]);
  });

  test("is not taken over, but waited for", () => {
    const host = going({
      apiVersion: "v1",
      kind: "Endpoints",
      metadata: { namespace: "vc", name: "web-x-shop-x-blue", resourceVersion: "7", labels: CONTROLLERS },
    });
    const around = { tenantService: service("shop", "web", {}), hostService: namedService() };
    expect(plan(external, { key: KEY, tenant: tenantEndpoints(), host, ...around })).toMatchObject({
      state: "waiting",
      operations: [],
      notes: [],
    });
  });
});

test("Endpoints that cannot be written are not said to be taken over", () => {
  const broken = testRules({ services: "external", patches: [{ path: "subsets", expression: '"none"' }] });
  const metadata = { namespace: "vc", name: "web-x-shop-x-blue", resourceVersion: "7", labels: CONTROLLERS };
  const host = { apiVersion: "v1", kind: "Endpoints", metadata };
  const around = { tenantService: service("shop", "web", {}), hostService: namedService() };
  const planned = plan(broken, { key: KEY, tenant: tenantEndpoints(), host, ...around });
  expect([planned.state, planned.notes.map(({ code }) => code)]).toEqual(["refused", ["EXPRESSION_RESULT"]]);
});

test("a second host edit before the answer to the first one is written flows back as well", () => {
  const edited = (host: KubeObject, team: string, resourceVersion: string): KubeObject =>
    stored({ ...host, metadata: { ...host.metadata, annotations: { ...host.metadata.annotations, team } } }, resourceVersion);
  const tenant = tenantEndpoints({ annotations: { team: "shop" } });
  const first = edited(copyOf(tenant), "ops", "21");
  const flowed = stored(written({ key: KEY, tenant, host: first }), "11");
  const second = edited(first, "sales", "22");
  const planned = plan(rules, { key: KEY, tenant: flowed, host: second });
  expect(planned.notes).toEqual([]);
  expect(planned.operations).toMatchObject([
    { side: "tenant", object: { metadata: { annotations: { team: "sales" } }, subsets: ONE_ADDRESS } },
  ]);
});

describe("a label of the host's own key that a patch made", () => {
  const made = testRules({ patches: [{ path: "metadata.labels", expression: '({ ...value, release: "x" })' }] });
  const tenant = tenantEndpoints({ labels: { app: "web" } });
  const host = stored(written({ key: KEY, tenant, host: undefined }, made), "20");

  test("goes with the patch", () => {
    const next = written({ key: KEY, tenant, host }, testRules({ configHash: "without" }));
    expect(next.metadata.labels).toMatchObject({ app: "web" });
    expect(next.metadata.labels).not.toHaveProperty("release");
  });

  test("stays if it has been edited on the host", () => {
    const labels = { ...host.metadata.labels, release: "own" };
    const own = { ...host, metadata: { ...host.metadata, labels } };
    const planned = plan(testRules({ configHash: "without" }), { key: KEY, tenant, host: own });
    expect(planned.operations.map((operation) => operation.action !== "delete" && operation.object.metadata.labels)).toEqual([labels]);
  });
});
