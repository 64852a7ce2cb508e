/**
 * What the host Service of the same name means for the Endpoints beside it.
 */
import { describe, expect, test } from "vitest";
import { compileExcludedKeys } from "../../../src/engine/reconcile/rules/excluded-keys.ts";
import { plan } from "../../../src/engine/reconcile/plan.ts";
import { namedService, ONE_ADDRESS, service, tenantEndpoints, testRules } from "../../support/rules.ts";
import { firstCopy, inputFor, only, writtenBy } from "./plan-support.ts";

const CONTROLLERS = { "endpoints.kubernetes.io/managed-by": "endpoint-controller" };

describe("the host Service beside the Endpoints", () => {
  const rules = testRules();
  const external = testRules({ services: "external" });
  const tenantService = service("shop", "web", {});

  test.each([
    ["managed, not there yet", rules, { tenantService, hostService: undefined }, "waiting", "HOST_SERVICE_MISSING"],
    [
      "managed, a foreign one",
      rules,
      { tenantService, hostService: service("vc", "web-x-shop-x-blue", {}) },
      "left",
      "HOST_OBJECT_FOREIGN",
    ],
    ["external, not there yet", external, { tenantService, hostService: undefined }, "waiting", "HOST_SERVICE_MISSING"],
    ["external, with a selector", external, { hostService: service("vc", "x", { selector: { a: "b" } }) }, "left", "HOST_SERVICE_SELECTOR"],
  ] as const)("%s: nothing is written", (_name, by, around, state, code) => {
    const planned = plan(by, inputFor(rules, { ...around }));
    expect([planned.state, planned.operations, planned.notes.map((note) => note.code)]).toEqual([state, [], [code]]);
  });

  test("external and without selector: the Endpoints are written", () => {
    expect(plan(external, inputFor(rules, { hostService: namedService() })).operations).toHaveLength(1);
  });

  test("that gets a selector takes over: a copy as we wrote it goes", () => {
    const copy = firstCopy(rules, tenantEndpoints());
    const hostService = service("vc", "web-x-shop-x-blue", { selector: { app: "web" } });
    expect(only(plan(rules, inputFor(rules, { host: copy, hostService })))).toMatchObject({ action: "delete", confirm: "none" });
  });

  test("that gets a selector takes over: what its controller wrote stays, without our marks", () => {
    const copy = {
      ...firstCopy(rules, tenantEndpoints({ annotations: { team: "shop" } })),
      subsets: [{ addresses: [{ ip: "10.9.9.9" }] }],
    };
    const hostService = service("vc", "web-x-shop-x-blue", { selector: { app: "web" } });
    const written = writtenBy(only(plan(rules, inputFor(rules, { host: copy, hostService }))));
    expect(written.metadata.annotations).toEqual({ team: "shop" });
    expect(written["subsets"]).toEqual([{ addresses: [{ ip: "10.9.9.9" }] }]);
  });

  test("that lost its selector leaves Endpoints behind, which are taken over", () => {
    const left = {
      apiVersion: "v1",
      kind: "Endpoints",
      metadata: { namespace: "vc", name: "web-x-shop-x-blue", resourceVersion: "7", labels: CONTROLLERS },
      subsets: [],
    };
    const planned = plan(rules, inputFor(rules, { host: left, tenantService }));
    expect(only(planned)).toMatchObject({
      action: "update",
      side: "host",
      object: { subsets: ONE_ADDRESS, metadata: { resourceVersion: "7" } },
    });
    expect(planned.notes.map(({ code }) => code)).toEqual(["TAKEN_OVER"]);
  });

  test("that had a selector for a moment has its controller's subsets in our copy, which do not flow back", () => {
    const copy = firstCopy(rules, tenantEndpoints({ labels: { app: "web" } }));
    const { "sync.platform/managed-by": managedBy, "sync.platform/namespace": namespace } = copy.metadata.labels!;
    const labels = {
      "sync.platform/managed-by": managedBy!,
      "sync.platform/namespace": namespace!,
      "endpoints.kubernetes.io/managed-by": "endpoint-controller",
    };
    const host = { ...copy, metadata: { ...copy.metadata, labels }, subsets: [] };
    const excluding = testRules({ settings: { excluded: compileExcludedKeys(["endpoints.kubernetes.io/managed-by"]) } });
    const planned = plan(excluding, inputFor(excluding, { tenant: tenantEndpoints({ labels: { app: "web" } }), host }));
    expect(only(planned)).toMatchObject({ side: "host", object: { subsets: ONE_ADDRESS, metadata: { labels: { app: "web" } } } });
    expect(writtenBy(only(planned)).metadata.labels).not.toHaveProperty("endpoints.kubernetes.io/managed-by");
  });

  test("that no tenant Service stands behind leaves Endpoints beside it alone", () => {
    const metadata = { namespace: "vc", name: "web-x-shop-x-blue", resourceVersion: "7", labels: CONTROLLERS };
    const left = { apiVersion: "v1", kind: "Endpoints", metadata };
    const hostService = namedService();
    const planned = plan(external, inputFor(external, { host: left, hostService }));
    expect([planned.operations, planned.notes.map(({ code }) => code)]).toEqual([[], ["HOST_OBJECT_FOREIGN"]]);
  });

  test("whose controller took our marker labels away keeps none of our annotations", () => {
    const copy = firstCopy(rules, tenantEndpoints({ annotations: { team: "shop" } }));
    const rewritten = { ...copy, metadata: { ...copy.metadata, labels: { app: "host" } }, subsets: [] };
    const hostService = service("vc", "web-x-shop-x-blue", { selector: { app: "web" } });
    const written = writtenBy(only(plan(rules, inputFor(rules, { host: rewritten, hostService }))));
    expect(written.metadata).toMatchObject({ labels: { app: "host" }, annotations: { team: "shop" } });
    expect(Object.keys(written.metadata.annotations!)).toEqual(["team"]);
  });
});
