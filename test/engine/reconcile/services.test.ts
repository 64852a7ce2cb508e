import { describe, expect, test } from "vitest";
import type { Service } from "../../../src/kube/object/types.ts";
import { plan } from "../../../src/engine/reconcile/plan.ts";
import { SERVICES_KIND } from "../../../src/engine/kinds/services.ts";
import { service, stored, testRules } from "../../support/rules.ts";

const KEY = { namespace: "shop", name: "web" };
const rules = testRules({ kind: SERVICES_KIND });

function copyOf(spec: NonNullable<Service["spec"]>): Service {
  const { operations } = plan(rules, { key: KEY, tenant: service("shop", "web", spec), host: undefined });
  const [operation] = operations;
  if (operation?.action !== "create") throw new Error("no copy");
  return operation.object as Service;
}

/** As the host's API server stores it: defaults and a cluster IP filled in. */
function asStored(copy: Service): Service {
  const ports = copy.spec?.ports?.map((port) => ({ protocol: "TCP", targetPort: port.port, ...port }));
  const assigned = {
    clusterIP: "10.96.0.7",
    clusterIPs: ["10.96.0.7"],
    ipFamilies: ["IPv4"],
    internalTrafficPolicy: "Cluster",
    sessionAffinity: "None",
  };
  return stored({ ...copy, spec: { ...assigned, ...copy.spec, ...(ports && { ports }) } }, "20");
}

describe("the host copy of a Service", () => {
  test.each([
    ["has no selector", { selector: { app: "web" }, ports: [{ port: 80 }] }, { type: "ClusterIP", ports: [{ port: 80 }] }],
    ["stays headless", { clusterIP: "None", ports: [{ port: 80 }] }, { type: "ClusterIP", clusterIP: "None", ports: [{ port: 80 }] }],
    [
      "gets a cluster IP of its own",
      { clusterIP: "10.1.1.1", clusterIPs: ["10.1.1.1"], ports: [{ port: 80 }] },
      { type: "ClusterIP", ports: [{ port: 80 }] },
    ],
    ["opens no node port", { type: "NodePort", ports: [{ port: 80, nodePort: 30080 }] }, { type: "ClusterIP", ports: [{ port: 80 }] }],
    [
      "asks for no load balancer and takes no external address",
      { type: "LoadBalancer", externalIPs: ["1.2.3.4"], loadBalancerIP: "1.2.3.5", ports: [{ port: 80 }] },
      { type: "ClusterIP", ports: [{ port: 80 }] },
    ],
    [
      "keeps publishNotReadyAddresses and session affinity",
      { publishNotReadyAddresses: true, sessionAffinity: "ClientIP" },
      { type: "ClusterIP", publishNotReadyAddresses: true, sessionAffinity: "ClientIP" },
    ],
  ])("%s", (_name, spec, want) => {
    expect(copyOf(spec).spec).toEqual(want);
  });

  test("is not made for an ExternalName", () => {
    expect(plan(rules, { key: KEY, tenant: service("shop", "web", { type: "ExternalName" }), host: undefined }).operations).toEqual([]);
  });

  test("goes when the tenant Service becomes an ExternalName", () => {
    const host = asStored(copyOf({ ports: [{ port: 80 }] }));
    const planned = plan(rules, { key: KEY, tenant: service("shop", "web", { type: "ExternalName" }), host });
    expect(planned.operations).toMatchObject([{ action: "delete", confirm: "unchanged" }]);
  });

  test("needs no write once the API server has filled in its defaults", () => {
    const spec = {
      selector: { app: "web" },
      ports: [
        { name: "http", port: 80, targetPort: 8080 },
        { name: "dns", port: 53, protocol: "UDP" },
      ],
    };
    expect(plan(rules, { key: KEY, tenant: service("shop", "web", spec), host: asStored(copyOf(spec)) }).operations).toEqual([]);
  });

  test("follows a change of ports and keeps what the API server assigned", () => {
    const host = asStored(copyOf({ ports: [{ port: 80 }] }));
    const tenant = service("shop", "web", { ports: [{ port: 81 }] }, { resourceVersion: "6" });
    expect(plan(rules, { key: KEY, tenant, host }).operations).toMatchObject([
      { action: "update", side: "host", object: { spec: { clusterIP: "10.96.0.7", ports: [{ port: 81 }] } } },
    ]);
  });

  test("is recreated when headless flips, since a cluster IP cannot change", () => {
    const host = asStored(copyOf({ ports: [{ port: 80 }] }));
    const tenant = service("shop", "web", { clusterIP: "None", ports: [{ port: 80 }] }, { resourceVersion: "6" });
    expect(plan(rules, { key: KEY, tenant, host }).operations).toMatchObject([{ action: "delete", confirm: "unchanged" }]);
  });

  test("gets an edited spec back", () => {
    const host = asStored(copyOf({ ports: [{ port: 80 }] }));
    const edited = { ...host, spec: { ...host.spec, selector: { app: "evil" }, externalIPs: ["1.2.3.4"] } };
    const planned = plan(rules, { key: KEY, tenant: service("shop", "web", { ports: [{ port: 80 }] }), host: edited });
    expect(planned.operations).toMatchObject([{ action: "update", side: "host", restores: true }]);
    const spec = (planned.operations[0] as { object: Service }).object.spec;
    expect(spec).not.toHaveProperty("selector");
    expect(spec).not.toHaveProperty("externalIPs");
  });
});

test("how long a client keeps its Pod is copied, kept and undone; the default of the API server costs no write", () => {
  const tenant = (timeoutSeconds: number) =>
    service("shop", "web", { sessionAffinity: "ClientIP", sessionAffinityConfig: { clientIP: { timeoutSeconds } }, ports: [{ port: 80 }] });
  const of = (timeoutSeconds: number) => ({ sessionAffinityConfig: { clientIP: { timeoutSeconds } } });
  const made = asStored(copyOf({ sessionAffinity: "ClientIP", ...of(55), ports: [{ port: 80 }] }));
  expect(made.spec).toMatchObject({ sessionAffinity: "ClientIP", ...of(55) });
  const writes = (seconds: number, host: Service) => plan(rules, { key: KEY, tenant: tenant(seconds), host }).operations;
  const edited = (seconds: number) => ({ ...made, spec: { ...made.spec, ...of(seconds) } });
  expect(writes(55, made)).toEqual([]);
  expect(writes(55, edited(99))).toMatchObject([{ action: "update", object: { spec: of(55) } }]);
  expect(writes(77, made)).toMatchObject([{ action: "update", object: { spec: of(77) } }]);
  const plain = asStored(copyOf({ sessionAffinity: "ClientIP", ...of(10_800), ports: [{ port: 80 }] }));
  expect(writes(10_800, { ...plain, spec: { ...plain.spec, ...of(10_800) } })).toEqual([]);
  const [back] = writes(10_800, edited(99)) as unknown as readonly { object: Service }[];
  expect(back!.object.spec).not.toHaveProperty("sessionAffinityConfig");
});

test("settings of a session affinity go with it, as the API server wants", () => {
  const sticky = asStored(copyOf({ sessionAffinity: "ClientIP", ports: [{ port: 80 }] }));
  const host = { ...sticky, spec: { ...sticky.spec, sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } } } };
  const input = (sessionAffinity: string) => ({
    key: KEY,
    tenant: service("shop", "web", { sessionAffinity, ports: [{ port: 80 }] }),
    host,
  });
  expect(plan(rules, input("ClientIP")).operations).toEqual([]);
  const [operation] = plan(rules, input("None")).operations;
  expect(operation).toMatchObject({ action: "update", object: { spec: { clusterIP: "10.96.0.7" } } });
  expect((operation as { object: Service }).object.spec).not.toHaveProperty("sessionAffinityConfig");
});
