import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createEmbeddedCluster } from "../../src/clusters.ts";
import { createAllocation, ipv4ToNumber, numberToIpv4 } from "../../src/cluster/kinds/allocation.ts";
import { createServiceAllocations } from "../../src/cluster/kinds/service-allocations.ts";
import type { ServiceSpec } from "../../src/cluster/kinds/service-rules.ts";
import { isEngineError } from "../../src/base/errors.ts";
import { SERVICES } from "../../src/kube/object/resource.ts";
import { createMemoryStore } from "../../src/apiserver/store/memory/memory-store.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";
import { createSeededChance } from "../apiserver/seeded-chance.ts";

describe("an allocation", () => {
  test("gives each number once, until none is left", () => {
    const chance = createSeededChance();
    const allocation = createAllocation({ first: 5, last: 9, fraction: chance.fraction });
    const taken = Array.from({ length: 5 }, () => allocation.takeAny());
    expect([...taken].sort()).toEqual([5, 6, 7, 8, 9]);
    expect([allocation.takeAny(), allocation.take(5)]).toEqual([undefined, false]);
    allocation.release(7);
    expect([allocation.takeAny(), allocation.take(4), allocation.take(10)]).toEqual([7, false, false]);
  });

  test("addresses are numbers and back", () => {
    fc.assert(fc.property(fc.ipV4(), (ip) => numberToIpv4(ipv4ToNumber(ip)) === ip));
  });
});

describe("allocations of Services", () => {
  test("what is full is reported at the field", () => {
    const allocations = createServiceAllocations({ fraction: () => 0, firstIp: "10.0.0.1", lastIp: "10.0.0.1" });
    const service = (spec: ServiceSpec): KubeObject => ({ apiVersion: "v1", kind: "Service", metadata: {}, spec });
    const first = allocations.allocate(service({ type: "ClusterIP" }), undefined);
    expect(first.object["spec"]).toMatchObject({ clusterIP: "10.0.0.1" });
    expect(allocations.allocate(service({ type: "ClusterIP" }), undefined).errors).toMatchObject([
      { field: "spec.clusterIPs", message: "Invalid value: []: failed to allocate a serviceIP: range is full" },
    ]);
    first.rollback();
    expect(allocations.allocate(service({ type: "ClusterIP" }), undefined).errors).toEqual([]);
  });

  test("what is rolled back can be had again, however often", () => {
    const allocations = createServiceAllocations({ fraction: createSeededChance().fraction });
    const service: KubeObject = {
      apiVersion: "v1",
      kind: "Service",
      metadata: {},
      spec: { type: "NodePort", ports: [{ port: 80 }, { port: 81 }] },
    };
    for (let round = 0; round < 2_000; round += 1) {
      const allocation = allocations.allocate(service, undefined);
      expect(allocation.errors).toEqual([]);
      allocation.rollback();
    }
  });

  test("a Service that finalizers kept gives back its address when it goes at last", async () => {
    const { registry, client, stop } = await createEmbeddedCluster();
    const key = { namespace: "default", name: "kept" };
    const spec = { clusterIP: "10.96.0.77", ports: [{ port: 80 }] };
    await registry.create(SERVICES, "default", { metadata: { name: "kept", finalizers: ["example.com/wait"] }, spec });
    await registry.delete(SERVICES, key);
    await expect(registry.create(SERVICES, "default", { metadata: { name: "next" }, spec })).rejects.toThrow(/already allocated/);
    await client.patch(SERVICES, key, "merge", { metadata: { finalizers: null } });
    await registry.create(SERVICES, "default", { metadata: { name: "next" }, spec });
    await stop();
  });

  test("an update that loses to another writer leaves nothing held", async () => {
    const inner = createMemoryStore();
    let lose = 0;
    const update = inner.update.bind(inner);
    inner.update = async (key, object, expected) => {
      if (lose > 0) {
        lose -= 1;
        return undefined;
      }
      return update(key, object, expected);
    };
    const { registry, stop } = await createEmbeddedCluster({ store: inner, chance: createSeededChance() });
    const key = { namespace: "default", name: "web" };
    await registry.create(SERVICES, "default", { metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } });
    const nodePorts = { metadata: { name: "web" }, spec: { type: "NodePort", ports: [{ port: 80, nodePort: 30_000 }] } };
    lose = 2;
    expect((await registry.update(SERVICES, key, nodePorts)).object["spec"]).toMatchObject({ ports: [{ nodePort: 30_000 }] });
    await registry.delete(SERVICES, key);
    await registry.update(SERVICES, key, nodePorts);
    await stop();
  });

  test("a cluster that starts on a store knows what is held in it", async () => {
    const store = createMemoryStore();
    const before = await createEmbeddedCluster({ store });
    const spec = { type: "NodePort", clusterIP: "10.96.0.77", ports: [{ port: 80, nodePort: 30_000 }] };
    await before.registry.create(SERVICES, "default", { metadata: { name: "old" }, spec });
    const after = await createEmbeddedCluster({ store });
    await expect(after.registry.create(SERVICES, "default", { metadata: { name: "new" }, spec })).rejects.toThrow(
      /provided IP is already allocated.*provided port is already allocated/,
    );
    await after.registry.delete(SERVICES, { namespace: "default", name: "old" });
    await after.registry.create(SERVICES, "default", { metadata: { name: "new" }, spec });
    await after.stop();
  });

  test("the status of the author is not taken, neither at first nor later", async () => {
    const { registry, stop } = await createEmbeddedCluster();
    const status = { loadBalancer: { ingress: [{ ip: "192.0.2.9" }] } };
    const body = { metadata: { name: "web" }, spec: { ports: [{ port: 80 }] }, status };
    const key = { namespace: "default", name: "web" };
    expect((await registry.create(SERVICES, "default", body))["status"]).toEqual({ loadBalancer: {} });
    expect((await registry.update(SERVICES, key, body)).object["status"]).toEqual({ loadBalancer: {} });
    expect((await registry.update(SERVICES, key, body, { subresource: "status" })).object["status"]).toEqual(status);
    expect((await registry.update(SERVICES, key, { ...body, status: {} })).object["status"]).toEqual(status);
    await stop();
  });

  test("whatever is written, refused or deleted, no address or port is lost or held twice", async () => {
    const port = fc.record({
      port: fc.constantFrom(80, 81),
      name: fc.constantFrom("a", "b"),
      nodePort: fc.constantFrom(undefined, 30_000, 30_001),
    });
    const step = fc.record({
      name: fc.constantFrom("a", "b", "c"),
      verb: fc.constantFrom("write", "write", "write", "delete"),
      dryRun: fc.boolean(),
      spec: fc.record({
        type: fc.constantFrom("ClusterIP", "NodePort", "LoadBalancer", "ExternalName"),
        externalName: fc.constantFrom(undefined, "example.com"),
        clusterIP: fc.constantFrom(undefined, "None", "10.96.0.77"),
        ports: fc.uniqueArray(port, { maxLength: 2, selector: ({ name }) => name }),
      }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 20 }), async (steps) => {
        const { registry, stop } = await createEmbeddedCluster({
          chance: createSeededChance(),
          controllers: ["*", "-endpoints-controller"],
        });
        for (const { name, verb, dryRun, spec } of steps) {
          const key = { namespace: "default", name };
          const call =
            verb === "delete"
              ? registry.delete(SERVICES, key, { dryRun })
              : registry.update(SERVICES, key, { metadata: { name }, spec }, { dryRun });
          await call.catch((error: unknown) => expect(isEngineError(error, "API_INVALID", "API_NOT_FOUND"), String(error)).toBe(true));
        }
        const { items } = await registry.list(SERVICES);
        const specs = items.map((item) => item["spec"] as ServiceSpec);
        const ips = specs.map(({ clusterIP }) => clusterIP).filter((ip) => ip !== undefined && ip !== "None");
        const nodePorts = specs.flatMap(({ ports = [] }) => [...new Set(ports.flatMap(({ nodePort }) => nodePort ?? []))]);
        expect([new Set(ips).size, new Set(nodePorts).size]).toEqual([ips.length, nodePorts.length]);
        // Values that no Service holds are free: the contested ports and the address can all be allocated.
        const free = {
          nodePorts: [30_000, 30_001].filter((number) => !nodePorts.includes(number)),
          ip: ips.includes("10.96.0.77") ? undefined : "10.96.0.77",
        };
        const ports = [
          { name: "x", port: 1 },
          ...free.nodePorts.map((nodePort, index) => ({ name: `p${index}`, port: index + 2, nodePort })),
        ];
        await registry.create(SERVICES, "default", { metadata: { name: "rest" }, spec: { type: "NodePort", clusterIP: free.ip, ports } });
        await stop();
      }),
      { numRuns: 150 },
    );
  });
});
