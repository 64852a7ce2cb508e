/**
 * What the cluster does with its core kinds, seen through a client; part of the cluster client suite.
 */
import { describe, expect, test } from "vitest";
import { keyOf } from "../../src/kube/object/key.ts";
import {
  CONFIG_MAPS,
  ENDPOINT_SLICES,
  ENDPOINTS,
  EVENTS,
  LEASES,
  NAMESPACES,
  SECRETS,
  SERVICES,
  type ResourceType,
} from "../../src/kube/object/resource.ts";
import type { Endpoints, KubeObject, Service } from "../../src/kube/object/types.ts";
import { codeOf, type Setting } from "./setting.ts";
import { createNamespace, eventually, objectsOf } from "./sandbox-namespace.ts";

/** The cases; `setting` is called when a test runs. */
export function kindCases(setting: () => Setting): void {
  const object = (type: ResourceType, name: string, rest: object): KubeObject => {
    const { apiVersion, kind } = type;
    return { apiVersion, kind, metadata: { namespace: setting().namespace, name }, ...rest };
  };
  endpointsCases(setting);
  serviceCases(setting);

  describe("endpoint slices", () => {
    const slice = (name: string, rest: object = {}) =>
      object(ENDPOINT_SLICES, name, { addressType: "IPv4", endpoints: [{ addresses: ["10.1.0.1"] }], ports: [{ port: 80 }], ...rest });

    test("ports get defaults, nothing is regrouped, and the generation increases", async () => {
      const { client } = setting();
      const created = await client.create(ENDPOINT_SLICES, slice("grown"));
      expect(created["ports"]).toEqual([{ name: "", protocol: "TCP", port: 80 }]);
      expect(created.metadata.generation).toBe(1);
      const endpoints = [{ addresses: ["10.1.0.2"] }, { addresses: ["10.1.0.1"] }];
      const updated = await client.update(ENDPOINT_SLICES, { ...created, endpoints });
      expect(updated["endpoints"]).toMatchObject(endpoints);
      expect(updated.metadata.generation).toBe(2);
    });

    test("the addressType cannot change", async () => {
      const { client } = setting();
      const created = await client.create(ENDPOINT_SLICES, slice("typed"));
      const call = client.update(ENDPOINT_SLICES, { ...created, addressType: "IPv6", endpoints: [{ addresses: ["2001:db8::1"] }] });
      expect(await codeOf(call)).toBe("API_INVALID");
    });

    test.each([
      { why: "a missing addressType", rest: { addressType: undefined } },
      { why: "an address of another family", rest: { endpoints: [{ addresses: ["2001:db8::1"] }] } },
      { why: "an endpoint without address", rest: { endpoints: [{ addresses: [] }] } },
      { why: "a loopback address", rest: { endpoints: [{ addresses: ["127.0.0.1"] }] } },
      { why: "a port name that occurs twice", rest: { ports: [{ name: "a", port: 1 }, { name: "a", port: 2 }] } }, // prettier-ignore
    ])("$why fails with API_INVALID", async ({ rest }) => {
      expect(await codeOf(setting().client.create(ENDPOINT_SLICES, slice("refused", rest)))).toBe("API_INVALID");
    });
  });

  describe("secrets and config maps", () => {
    test("stringData is written into data and never read back", async () => {
      const { client } = setting();
      const created = await client.create(SECRETS, object(SECRETS, "mixed", { data: { a: "YQ==" }, stringData: { b: "é" } }));
      expect(created).toMatchObject({ type: "Opaque", data: { a: "YQ==", b: "w6k=" } });
      expect(created["stringData"]).toBeUndefined();
    });

    test("data that is not base64 fails with API_BAD_REQUEST", async () => {
      const call = setting().client.create(SECRETS, object(SECRETS, "garbled", { data: { a: "not base64!" } }));
      expect(await codeOf(call)).toBe("API_BAD_REQUEST");
    });

    test("neither the type nor immutable data can change", async () => {
      const { client } = setting();
      const created = await client.create(SECRETS, object(SECRETS, "fixed", { data: { a: "YQ==" }, immutable: true }));
      expect(await codeOf(client.update(SECRETS, { ...created, type: "example.com/other" }))).toBe("API_INVALID");
      expect(await codeOf(client.update(SECRETS, { ...created, data: { a: "Yg==" } }))).toBe("API_INVALID");
      expect(await codeOf(client.update(SECRETS, { ...created, immutable: false }))).toBe("API_INVALID");
      const { type: _type, ...typeless } = (await client.create(
        SECRETS,
        object(SECRETS, "typed", { type: "example.com/own" }),
      )) as KubeObject & { type: string };
      expect(await codeOf(client.update(SECRETS, typeless))).toBe("API_INVALID");
      const relabelled = { ...created, metadata: { ...created.metadata, labels: { app: "web" } } };
      expect(await codeOf(client.update(SECRETS, relabelled))).toBe("none");
    });

    test.each([
      { why: "a key with a slash", type: CONFIG_MAPS, rest: { data: { "a/b": "x" } } },
      { why: "data of more than 1 MiB", type: CONFIG_MAPS, rest: { data: { a: "x".repeat(1_048_577) } } },
      { why: "a key in both data and binaryData", type: CONFIG_MAPS, rest: { data: { a: "x" }, binaryData: { a: "YQ==" } } },
      { why: "a TLS secret without its key", type: SECRETS, rest: { type: "kubernetes.io/tls", data: { "tls.crt": "YQ==" } } },
    ])("$why fails with API_INVALID", async ({ type, rest }) => {
      expect(await codeOf(setting().client.create(type, object(type, "refused", rest)))).toBe("API_INVALID");
    });
  });

  describe("leases and events", () => {
    test("lease times keep their microseconds", async () => {
      const { client } = setting();
      const spec = { holderIdentity: "a", leaseDurationSeconds: 15, renewTime: "2026-01-02T03:04:05.678901Z" };
      const created = await client.create(LEASES, object(LEASES, "leader", { spec }));
      expect(created["spec"]).toEqual(spec);
      expect(await codeOf(client.update(LEASES, { ...created, spec: { ...spec, leaseDurationSeconds: 0 } }))).toBe("API_INVALID");
    });

    test("events can be selected by the object that they are about", async () => {
      const { client, namespace } = setting();
      const about = (name: string) => ({ involvedObject: { kind: "Endpoints", namespace, name }, reason: "Test", type: "Normal" });
      for (const name of ["db", "web"]) await client.create(EVENTS, object(EVENTS, `${name}.1`, about(name)));
      const fieldSelector = "involvedObject.name=db,involvedObject.kind=Endpoints";
      const { items } = await client.list(EVENTS, { namespace, fieldSelector });
      expect(items.map(({ metadata }) => metadata.name)).toEqual(["db.1"]);
    });

    test("an event about another namespace fails with API_INVALID", async () => {
      const involvedObject = { kind: "Endpoints", namespace: "elsewhere", name: "db" };
      expect(await codeOf(setting().client.create(EVENTS, object(EVENTS, "lost.1", { involvedObject })))).toBe("API_INVALID");
    });
  });

  describe("namespaces", () => {
    test.each(["default", "kube-system", "kube-public"])("the namespace %s exists and cannot be deleted", async (name) => {
      const { client } = setting();
      expect(await client.get(NAMESPACES, { namespace: "", name })).toMatchObject({ status: { phase: "Active" } });
      expect(await codeOf(client.delete(NAMESPACES, { namespace: "", name }))).toBe("API_FORBIDDEN");
    });

    test("the Service default/kubernetes has the address of the API server", async () => {
      const { client } = setting();
      const key = { namespace: "default", name: "kubernetes" };
      expect(await client.get(SERVICES, key)).toMatchObject({ spec: { type: "ClusterIP" } });
      expect(((await client.get(ENDPOINTS, key)) as Endpoints).subsets).toHaveLength(1);
    });

    test("a namespace that is deleted loses its contents, waits for finalizers, and accepts no new objects", async () => {
      const { client } = setting();
      const own = await createNamespace(client);
      const { configMap, service } = objectsOf(own.name);
      await client.create(SERVICES, service("web"));
      const kept = await client.create(CONFIG_MAPS, configMap("kept", {}, { finalizers: ["example.com/wait"] }));
      await own.remove();
      await eventually("the service goes", async () =>
        (await client.get(SERVICES, { namespace: own.name, name: "web" })) ? undefined : true,
      );
      expect(await client.get(NAMESPACES, { namespace: "", name: own.name })).toMatchObject({ status: { phase: "Terminating" } });
      expect(await codeOf(client.create(CONFIG_MAPS, configMap("late")))).toBe("API_FORBIDDEN");
      await client.patch(CONFIG_MAPS, keyOf(kept), "merge", { metadata: { finalizers: null } });
      await eventually("the namespace goes", async () =>
        (await client.get(NAMESPACES, { namespace: "", name: own.name })) ? undefined : true,
      );
    });
  });
}

function endpointsCases(setting: () => Setting): void {
  describe("endpoints", () => {
    const create = (name: string, subsets: unknown) =>
      setting().client.create(ENDPOINTS, setting().objects.endpoints(name, subsets)) as Promise<Endpoints>;

    test("subsets are stored as written, in the order of subsets, addresses and ports", async () => {
      const written = [
        { addresses: [{ ip: "10.1.0.2" }], ports: [{ name: "a", port: 80, protocol: "TCP" }] },
        { addresses: [{ ip: "10.1.0.1" }], ports: [{ name: "a", port: 80, protocol: "TCP" }] },
        {
          addresses: [{ ip: "10.1.0.2" }, { ip: "10.1.0.1" }],
          ports: [
            { name: "c", port: 82, protocol: "TCP" },
            { name: "b", port: 81, protocol: "UDP" },
          ],
        },
      ];
      expect((await create("written", written)).subsets).toEqual(written);
    });

    test("a duplicate address is kept, ready or not ready", async () => {
      const ports = [{ port: 80, protocol: "TCP" }];
      const written = [
        { addresses: [{ ip: "10.1.0.1", nodeName: "first" }], ports },
        { notReadyAddresses: [{ ip: "10.1.0.1", nodeName: "second" }], ports },
      ];
      expect((await create("twice", written)).subsets).toEqual(written);
    });

    test("the protocol of a port gets its default, and empty lists are left out", async () => {
      const { subsets } = await create("completed", [{ addresses: [{ ip: "10.1.0.1" }], notReadyAddresses: [], ports: [{ port: 80 }] }]);
      expect(subsets).toEqual([{ addresses: [{ ip: "10.1.0.1" }], ports: [{ port: 80, protocol: "TCP" }] }]);
    });

    test("moving the same addresses to other subsets is a write", async () => {
      const { client } = setting();
      const created = await create("same", [{ addresses: [{ ip: "10.1.0.1" }, { ip: "10.1.0.2" }], ports: [{ port: 80 }] }]);
      const split = ["10.1.0.2", "10.1.0.1"].map((ip) => ({ addresses: [{ ip }], ports: [{ port: 80, protocol: "TCP" }] }));
      const updated = await client.update(ENDPOINTS, { ...created, subsets: split });
      expect(updated["subsets"]).toEqual(split);
      expect(updated.metadata.resourceVersion).not.toBe(created.metadata.resourceVersion);
    });

    test("addresses without ports are valid, as is an object without subsets", async () => {
      const { subsets } = await create("portless", [{ addresses: [{ ip: "10.1.0.1" }] }]);
      expect(subsets).toEqual([{ addresses: [{ ip: "10.1.0.1" }] }]);
      expect((await create("empty", [])).subsets ?? []).toEqual([]);
    });

    test("Endpoints are deleted with their Service", async () => {
      const { client, objects } = setting();
      await client.create(SERVICES, objects.service("cascade"));
      const { metadata } = await create("cascade", undefined);
      await client.delete(SERVICES, { namespace: metadata.namespace!, name: "cascade" });
      await eventually("the Endpoints go", async () =>
        (await client.get(ENDPOINTS, keyOf({ metadata } as KubeObject))) ? undefined : true,
      );
    });

    test("nodeName may change", async () => {
      const { client } = setting();
      const created = await create("moved", [{ addresses: [{ ip: "10.1.0.1", nodeName: "node-a" }], ports: [{ port: 80 }] }]);
      const subsets = [{ addresses: [{ ip: "10.1.0.1", nodeName: "node-b" }], ports: [{ port: 80 }] }];
      expect(await codeOf(client.update(ENDPOINTS, { ...created, subsets }))).toBe("none");
    });

    test.each([
      { why: "a subset without addresses", subset: { ports: [{ port: 80 }] } },
      { why: "an invalid address", subset: { addresses: [{ ip: "10.1.0" }] } },
      { why: "a loopback address", subset: { addresses: [{ ip: "127.0.0.1" }] } },
      { why: "a link-local address", subset: { notReadyAddresses: [{ ip: "169.254.169.254" }] } },
      { why: "the unspecified address", subset: { addresses: [{ ip: "::" }] } },
      { why: "a link-local multicast address", subset: { addresses: [{ ip: "224.0.0.1" }] } },
      { why: "a port of 0", subset: { addresses: [{ ip: "10.1.0.1" }], ports: [{ port: 0 }] } },
      { why: "a second port without a name", subset: { addresses: [{ ip: "10.1.0.1" }], ports: [{ port: 80 }, { name: "b", port: 81 }] } },
      { why: "a port name in upper case", subset: { addresses: [{ ip: "10.1.0.1" }], ports: [{ name: "HTTP", port: 80 }] } },
      { why: "an unknown protocol", subset: { addresses: [{ ip: "10.1.0.1" }], ports: [{ port: 80, protocol: "ICMP" }] } },
      { why: "a hostname that is not a label", subset: { addresses: [{ ip: "10.1.0.1", hostname: "a.b" }] } },
      { why: "a node name in upper case", subset: { addresses: [{ ip: "10.1.0.1", nodeName: "Node" }] } },
    ])("$why fails with API_INVALID", async ({ subset }) => {
      expect(await codeOf(create("refused", [subset]))).toBe("API_INVALID");
    });

    test("a multicast address that is not link-local is accepted", async () => {
      expect(await codeOf(create("multicast", [{ addresses: [{ ip: "239.1.1.1" }] }]))).toBe("none");
    });

    test("a port that is not a number fails with API_BAD_REQUEST", async () => {
      expect(await codeOf(create("typed", [{ addresses: [{ ip: "10.1.0.1" }], ports: [{ port: "80" }] }]))).toBe("API_BAD_REQUEST");
    });
  });
}

function serviceCases(setting: () => Setting): void {
  describe("services", () => {
    const create = (name: string, spec?: Record<string, unknown>) =>
      setting().client.create(SERVICES, setting().objects.service(name, spec)) as Promise<Service>;

    test("defaults are filled in and an address is assigned", async () => {
      const { spec } = await create("plain");
      expect(spec).toMatchObject({
        type: "ClusterIP",
        sessionAffinity: "None",
        ports: [{ port: 80, protocol: "TCP", targetPort: 80 }],
      });
      expect(spec!.clusterIP).toMatch(/^[0-9a-f.:]+$/);
      expect(spec!["clusterIPs"]).toEqual([spec!.clusterIP]);
    });

    test("the address cannot change: an update without it keeps the address, and an update with a different one fails with API_INVALID", async () => {
      const { client } = setting();
      const created = await create("kept");
      const { clusterIP: _ip, clusterIPs: _ips, ...rest } = created.spec as Record<string, unknown>;
      const updated = (await client.update(SERVICES, { ...created, spec: { ...rest, selector: { app: "web" } } })) as Service;
      expect(updated.spec!.clusterIP).toBe(created.spec!.clusterIP);
      const headless = { ...updated.spec, clusterIP: "None", clusterIPs: ["None"] };
      expect(await codeOf(client.update(SERVICES, { ...updated, spec: headless }))).toBe("API_INVALID");
    });

    test("an address is allocated to one Service, and can be reused when it is free", async () => {
      const { client, namespace } = setting();
      const first = await create("holder");
      const spec = { clusterIP: first.spec!.clusterIP, ports: [{ port: 80 }] };
      expect(await codeOf(create("second", spec))).toBe("API_INVALID");
      await client.delete(SERVICES, { namespace, name: "holder" });
      expect((await create("third", spec)).spec!.clusterIP).toBe(first.spec!.clusterIP);
    });

    test("a headless Service has no address and needs no ports", async () => {
      const { spec } = await create("headless", { clusterIP: "None" });
      expect(spec).toMatchObject({ clusterIP: "None", clusterIPs: ["None"], type: "ClusterIP" });
    });

    test("a Service of type ExternalName has no address", async () => {
      const { spec } = await create("external", { type: "ExternalName", externalName: "db.example.com" });
      expect(spec!.clusterIP ?? "").toBe("");
    });

    test("node ports are allocated, kept, and released when the type changes", async () => {
      const { client } = setting();
      const created = await create("nodes", { type: "NodePort", ports: [{ port: 80 }] });
      const { nodePort } = created.spec!.ports![0]!;
      expect(nodePort).toBeGreaterThanOrEqual(30_000);
      const again = (await client.update(SERVICES, { ...created, spec: { ...created.spec, ports: [{ port: 80 }] } })) as Service;
      expect(again.spec!.ports![0]!.nodePort).toBe(nodePort);
      const inner = (await client.update(SERVICES, { ...again, spec: { ...again.spec, type: "ClusterIP" } })) as Service;
      expect(inner.spec!.ports![0]!.nodePort).toBeUndefined();
      expect((await create("successor", { type: "NodePort", ports: [{ port: 80, nodePort }] })).spec!.ports![0]!.nodePort).toBe(nodePort);
    });

    test("source ranges in an annotation are for load balancers only", async () => {
      const { client, objects } = setting();
      const made = objects.service("ranges", { ports: [{ port: 80 }] });
      const annotations = { "service.beta.kubernetes.io/load-balancer-source-ranges": "10.0.0.0/8" };
      const ranged = { ...made, metadata: { ...made.metadata, annotations } };
      expect(await codeOf(client.create(SERVICES, ranged))).toBe("API_INVALID");
      const balanced = { ...ranged, spec: { type: "LoadBalancer", externalTrafficPolicy: "Local", ports: [{ port: 80 }] } };
      const { spec, ...created } = (await client.create(SERVICES, balanced)) as Service;
      expect(spec!["healthCheckNodePort"]).toBeGreaterThanOrEqual(30_000);
      expect(await codeOf(client.update(SERVICES, { ...created, spec: { ...spec, type: "ClusterIP" } }))).toBe("API_INVALID");
      const bare = { ...created, metadata: { ...created.metadata, annotations: {} }, spec: { ...spec, type: "ClusterIP" } };
      const inner = (await client.update(SERVICES, bare)) as Service;
      expect(inner.spec).not.toHaveProperty("externalTrafficPolicy");
      expect(inner.spec).not.toHaveProperty("healthCheckNodePort");
      expect(inner.spec).not.toHaveProperty("allocateLoadBalancerNodePorts");
    });

    test.each([
      { why: "an empty list of ports", spec: { ports: [] } },
      { why: "a second port without a name", spec: { ports: [{ port: 80 }, { name: "b", port: 81 }] } },
      { why: "a port name that occurs twice", spec: { ports: [{ name: "a", port: 80 }, { name: "a", port: 81 }] } }, // prettier-ignore
      { why: "a port that occurs twice", spec: { ports: [{ name: "a", port: 80 }, { name: "b", port: 80 }] } }, // prettier-ignore
      { why: "a port out of range", spec: { ports: [{ port: 65_536 }] } },
      { why: "an unknown type", spec: { type: "Magic", ports: [{ port: 80 }] } },
      { why: "a missing external name", spec: { type: "ExternalName" } },
      { why: "an invalid address", spec: { clusterIP: "first", ports: [{ port: 80 }] } },
      { why: "a selector value with a space", spec: { selector: { app: "a b" }, ports: [{ port: 80 }] } },
      { why: "a node port on a ClusterIP", spec: { ports: [{ port: 80, nodePort: 30_000 }] } },
      { why: "a source range without a load balancer", spec: { ports: [{ port: 80 }], loadBalancerSourceRanges: ["10.0.0.0/8"] } },
      { why: "an invalid source range", spec: { type: "LoadBalancer", ports: [{ port: 80 }], loadBalancerSourceRanges: ["ten"] } },
      { why: "a load balancer class without a load balancer", spec: { ports: [{ port: 80 }], loadBalancerClass: "example.com/a" } },
      {
        why: "allocateLoadBalancerNodePorts without a load balancer",
        spec: { ports: [{ port: 80 }], allocateLoadBalancerNodePorts: true },
      },
      { why: "an external traffic policy without external traffic", spec: { ports: [{ port: 80 }], externalTrafficPolicy: "Local" } },
      {
        why: "a health check node port without local external traffic",
        spec: { type: "NodePort", ports: [{ port: 80 }], healthCheckNodePort: 30_007 },
      },
      { why: "an unknown internal traffic policy", spec: { ports: [{ port: 80 }], internalTrafficPolicy: "Near" } },
      { why: "a node port out of range", spec: { type: "NodePort", ports: [{ port: 80, nodePort: 80 }] } },
    ])("$why fails with API_INVALID", async ({ spec }) => {
      expect(await codeOf(create("refused", spec))).toBe("API_INVALID");
    });

    test("a name that starts with a digit fails with API_INVALID", async () => {
      expect(await codeOf(create("1st"))).toBe("API_INVALID");
    });
  });
}
