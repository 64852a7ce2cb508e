/**
 * The owner of a host Service that another syncer or the operator made, and the unowned Endpoints that are taken over beside it.
 */
import { describe, expect, test } from "vitest";
import type { KubeObject, Service, StringMap } from "../../../src/kube/object/types.ts";
import { plan } from "../../../src/engine/reconcile/plan.ts";
import type { PlanInput } from "../../../src/engine/reconcile/plan-types.ts";
import { writeMarkers, type CopySource } from "../../../src/engine/translate/markers.ts";
import { namedService, service, stored, tenantEndpoints, testRules } from "../../support/rules.ts";
import { firstCopy, inputFor } from "./plan-support.ts";

const external = testRules({ services: "external" });
const PLACE = { namespace: "vc", name: "web-x-shop-x-blue" };
const UID = "uid-of-shop-web";
const TENANT_SERVICE: Service = { ...service("shop", "web", {}), metadata: { namespace: "shop", name: "web", uid: UID } };

function hostService(annotations: StringMap = {}, labels: StringMap = {}): Service {
  return { ...service("vc", "web-x-shop-x-blue", {}), metadata: { ...PLACE, annotations, labels } };
}

/** As version 0.30 of the other product marks its Services, for a virtual cluster and a tenant Service. */
function theirs(of = "shop/web", { vcluster = "blue" } = {}): Service {
  const [namespace, name] = of.split("/") as [string, string];
  const says = { name, namespace, uid: UID, kind: "/v1, Kind=Service", "host-name": PLACE.name, "host-namespace": PLACE.namespace };
  const annotations = Object.fromEntries(Object.entries(says).map(([key, value]) => [`vcluster.loft.sh/object-${key}`, value]));
  return hostService(annotations, { "vcluster.loft.sh/managed-by": vcluster, "vcluster.loft.sh/namespace": namespace });
}

function marked(said: Partial<CopySource> = {}): Service {
  const key = { namespace: "shop", name: "web" };
  const place = { hostName: PLACE.name, hostNamespace: PLACE.namespace };
  const { labels, annotations } = writeMarkers("sync.platform/", {
    ...{ vcluster: "blue", vclusterNamespace: "vc", kind: "v1/Service", uid: UID, ...key, ...place },
    ...said,
  });
  return hostService(annotations, labels);
}

function withAnnotations(object: Service, annotations: StringMap): Service {
  return { ...object, metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, ...annotations } } };
}

function planned(around: Partial<PlanInput>) {
  const { operations, notes } = plan(external, inputFor(external, { tenantService: TENANT_SERVICE, ...around }));
  return [...operations.map(({ action, side }) => `${action} ${side}`), ...notes.map(({ code }) => code)];
}

const NAMED = { "sync.platform/stands-for": "shop/web" };

describe("Endpoints beside a host Service of another syncer", () => {
  test.each([
    { why: "whose markers name the tenant Service", hostService: theirs(), want: ["create host"] },
    { why: "that the operator has given to the tenant Service", hostService: hostService(NAMED), want: ["create host"] },
    { why: "that this syncer made before", hostService: marked(), want: ["create host"] },
  ])("are written where it is one $why", ({ hostService, want }) => {
    expect(planned({ hostService })).toEqual(want);
  });

  test("are written where an embedder says that it is the right one, whatever stands on it", () => {
    expect(planned({ hostService: hostService(), ownsHostService: true })).toEqual(["create host"]);
    expect(planned({ hostService: theirs("shop/other"), ownsHostService: true })).toEqual(["create host"]);
  });

  test.each([
    { why: "that says nothing", hostService: hostService() },
    { why: "given to another tenant Service", hostService: hostService({ "sync.platform/stands-for": "shop/other" }) },
    { why: "given to it below another prefix", hostService: hostService({ "other.io/stands-for": "shop/web" }) },
    { why: "of another virtual cluster", hostService: theirs("shop/web", { vcluster: "red" }) },
    {
      why: "of another virtual cluster, on which a tenant has written the operator's word",
      hostService: withAnnotations(theirs("shop/web", { vcluster: "red" }), NAMED),
    },
    { why: "of a virtual cluster of the name in another namespace", hostService: marked({ vclusterNamespace: "v2" }) },
    { why: "of another name", hostService: marked({ vcluster: "red" }) },
  ])("are not written where it is one $why", ({ hostService }) => {
    expect(planned({ hostService })).toEqual(["HOST_OBJECT_FOREIGN"]);
  });

  test.each([
    { by: "another syncer's markers", hostService: theirs("b-x-shop/web") },
    { by: "our own markers", hostService: marked({ namespace: "b-x-shop" }) },
  ])("go where $by name another tenant Service, and do not keep its own out", ({ hostService }) => {
    expect(planned({ hostService })).toEqual(["NAME_COLLISION"]);
    const host = firstCopy(testRules(), tenantEndpoints());
    expect(planned({ hostService, host })).toEqual(["delete host", "NAME_COLLISION"]);
  });

  test("stay where nothing proves that it is another one's", () => {
    const host = firstCopy(testRules(), tenantEndpoints());
    expect(planned({ hostService: hostService(), host })).toEqual(["HOST_OBJECT_FOREIGN"]);
  });
});

describe("unowned Endpoints beside the right host Service", () => {
  const left = (metadata: KubeObject["metadata"]): KubeObject =>
    stored(
      { apiVersion: "v1", kind: "Endpoints", metadata: { ...PLACE, ...metadata }, subsets: [{ addresses: [{ ip: "10.9.9.9" }] }] },
      "7",
    );

  test.each([
    { why: "its label says so", metadata: { labels: { "endpoints.kubernetes.io/managed-by": "endpoint-controller" } } },
    {
      why: "it left the time of a change, as before Kubernetes 1.33",
      metadata: { annotations: { "endpoints.kubernetes.io/last-change-trigger-time": "2026-01-01T00:00:00Z" } },
    },
  ])("are taken over where the host's controller made them: $why", ({ metadata }) => {
    expect(planned({ hostService: namedService(), host: left(metadata) })).toEqual(["update host", "TAKEN_OVER"]);
  });

  test.each([
    { why: "their maker is unknown", metadata: {} },
    { why: "an operator made them", metadata: { labels: { app: "db" }, annotations: { team: "platform" } } },
    {
      why: "another syncer made them, of what a controller made in its tenant",
      metadata: {
        labels: { "endpoints.kubernetes.io/managed-by": "endpoint-controller", "vcluster.loft.sh/managed-by": "red" },
        annotations: { "vcluster.loft.sh/object-name": "web" },
      },
    },
  ])("are left alone where $why", ({ metadata }) => {
    expect(planned({ hostService: namedService(), host: left(metadata) })).toEqual(["HOST_OBJECT_FOREIGN"]);
  });
});
