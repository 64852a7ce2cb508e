import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createEmbeddedCluster, type EmbeddedClusterOptions } from "../../src/clusters.ts";
import { slicesOf } from "../../src/kube/object/endpoints/slices-of-endpoints.ts";
import { PODS } from "../../src/cluster/kinds/pods.ts";
import { ENDPOINT_SLICES, ENDPOINTS, EVENTS, NAMESPACES, SERVICES } from "../../src/kube/object/resource.ts";
import type { EndpointSlice, EndpointSubset, ObjectMeta } from "../../src/kube/object/types.ts";
import { createMemoryStore } from "../../src/apiserver/store/memory/memory-store.ts";
import { createSeededChance } from "../apiserver/seeded-chance.ts";
import { createFakeClock } from "../support/fake-clock.ts";

const MIRRORED = "endpointslicemirroring-controller.k8s.io";
const ORDINARY = "endpointslice-controller.k8s.io";
const MANAGED_BY = "endpointslice.kubernetes.io/managed-by";
const SERVICE_NAME = "kubernetes.io/service-name";

async function setup(options: EmbeddedClusterOptions = {}) {
  const store = options.store ?? createMemoryStore();
  const cluster = await createEmbeddedCluster({ clock: createFakeClock(), chance: createSeededChance(), ...options, store });
  const { registry, client, settled } = cluster;
  const key = (name: string) => ({ namespace: "default", name });
  const service = (name: string, spec: object = {}) =>
    registry.create(SERVICES, "default", { metadata: { name, labels: { of: "service" } }, spec: { ports: [{ port: 80 }], ...spec } });
  const write = async (name: string, subsets: readonly EndpointSubset[], metadata: ObjectMeta = {}) =>
    (await registry.update(ENDPOINTS, key(name), { metadata: { ...metadata, name }, subsets })).object;
  const slices = async (managedBy = MIRRORED) => {
    await settled();
    const { items } = await client.list(ENDPOINT_SLICES, { namespace: "default", labelSelector: `${MANAGED_BY}=${managedBy}` });
    return items as EndpointSlice[];
  };
  const shown = async (managedBy?: string) =>
    (await slices(managedBy)).map(({ addressType, endpoints }) => `${addressType} ${endpoints!.flatMap((one) => one.addresses).join(" ")}`).sort(); // prettier-ignore
  return { ...cluster, store, key, service, write, slices, shown };
}

const one = (...ips: string[]): EndpointSubset => ({ addresses: ips.map((ip) => ({ ip })), ports: [{ port: 80 }] });

describe("mirrored slices", () => {
  test("say what the Endpoints say, belong to them, and are found by their Service", async () => {
    const { service, write, slices } = await setup();
    await service("db");
    const targetRef = { kind: "Pod", namespace: "default", name: "p" };
    const subsets = [
      {
        addresses: [{ ip: "10.1.0.1", hostname: "one", nodeName: "node-1", targetRef }],
        notReadyAddresses: [{ ip: "10.1.0.2" }],
        ports: [{ name: "sql", port: 5_432, appProtocol: "example.com/sql" }],
      },
    ];
    const { metadata } = await write("db", subsets, { labels: { team: "blue" }, annotations: { note: "x" } });
    const [slice, ...others] = await slices();
    expect(others).toEqual([]);
    expect(slice).toMatchObject({
      metadata: {
        name: expect.stringMatching(/^db-[a-z0-9]{5}$/) as unknown,
        labels: { team: "blue", [SERVICE_NAME]: "db", [MANAGED_BY]: MIRRORED },
        annotations: { note: "x" },
        ownerReferences: [
          { apiVersion: "v1", kind: "Endpoints", name: "db", uid: metadata.uid, controller: true, blockOwnerDeletion: true },
        ],
      },
      addressType: "IPv4",
      ports: [{ name: "sql", port: 5_432, protocol: "TCP", appProtocol: "example.com/sql" }],
    });
    expect(slice!.endpoints).toEqual([
      { addresses: ["10.1.0.1"], conditions: { ready: true }, hostname: "one", nodeName: "node-1", targetRef },
      { addresses: ["10.1.0.2"], conditions: { ready: false } },
    ]);
  });

  test("are one for each address family and each set of ports", async () => {
    const { service, write, shown } = await setup();
    await service("db");
    await write("db", [one("10.1.0.1", "2001:db8::1"), { ...one("10.1.0.2"), ports: [{ port: 81 }] }]);
    expect(await shown()).toEqual(["IPv4 10.1.0.1", "IPv4 10.1.0.2", "IPv6 2001:db8::1"]);
  });

  test("are one for subsets of the same ports, in whatever order these are written", async () => {
    const { service, write, shown, slices } = await setup();
    await service("db");
    const ports = [{ name: "a", port: 80 }, { name: "b", port: 81 }]; // prettier-ignore
    await write("db", [
      { addresses: [{ ip: "10.1.0.2" }], ports },
      { addresses: [{ ip: "10.1.0.1" }], ports: ports.toReversed() },
    ]);
    expect(await shown()).toEqual(["IPv4 10.1.0.1 10.1.0.2"]);
    expect((await slices())[0]!.ports).toHaveLength(2);
  });

  test("say what is written last of an address that is written twice", async () => {
    const { service, write, slices } = await setup();
    await service("db");
    const ready = one("10.1.0.1");
    const notReady = { notReadyAddresses: ready.addresses!, ports: ready.ports! };
    const said = async () => (await slices()).map(({ endpoints }) => endpoints!.map(({ conditions }) => conditions?.ready));
    await write("db", [ready, notReady]);
    expect(await said()).toEqual([[false]]);
    await write("db", [notReady, ready]);
    expect(await said()).toEqual([[true]]);
    await write("db", [{ ...ready, ...notReady }]);
    expect(await said()).toEqual([[false]]);
  });

  test("are not written when the same Endpoints are written in another order", async () => {
    const { service, write, slices } = await setup();
    await service("db");
    await write("db", [one("10.1.0.1", "10.1.0.2")]);
    const before = await slices();
    await write("db", [one("10.1.0.2"), one("10.1.0.1")]);
    expect(await slices()).toEqual(before);
  });

  test("of subsets of the same ports hold 1,000 addresses together", async () => {
    const { service, write, slices } = await setup();
    await service("db");
    const block = (part: number) => one(...Array.from({ length: 600 }, (_none, index) => `10.${part}.${index >> 8}.${index & 255}`));
    await write("db", [block(1), block(2)]);
    expect((await slices()).map(({ endpoints }) => endpoints!.length)).toEqual([1_000]);
  });

  test("that lack addresses are reported as an Event, once for each version of the Endpoints", async () => {
    const { service, write, slices, client, registry, key } = await setup();
    const events = async () => {
      await slices();
      const { items } = await client.list(EVENTS, { namespace: "default" });
      return items.map((event) => `${event["type"] as string} ${event["reason"] as string}: ${event["message"] as string}`);
    };
    await service("db");
    const block = (part: number, count: number) =>
      one(...Array.from({ length: count }, (_none, index) => `10.${part}.${index >> 8}.${index & 255}`));
    await write("db", [block(1, 1_000), { ...block(2, 1_000), ports: [{ port: 81 }] }]);
    expect(await events()).toEqual([]);
    await write("db", [block(1, 1_003), { ...block(2, 1_001), ports: [{ port: 81 }] }]);
    const told =
      "Warning TooManyAddressesToMirror: A max of 1000 addresses can be mirrored to EndpointSlices per Endpoints subset. 4 addresses were skipped";
    expect(await events()).toEqual([told]);
    await registry.delete(ENDPOINT_SLICES, key((await slices())[0]!.metadata.name!));
    expect((await slices()).length).toBe(2);
    expect(await events()).toEqual([told]);
  });

  test.each([
    { why: "without a Service there are none", spec: undefined, metadata: {} },
    { why: "a Service with a selector has its own", spec: { selector: { app: "web" } }, metadata: {} },
    { why: "the label says no", spec: {}, metadata: { labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } } },
    {
      why: "a leader lock is not for consumers",
      spec: {},
      metadata: { annotations: { "control-plane.alpha.kubernetes.io/leader": "{}" } },
    },
  ])("$why", async ({ spec, metadata }) => {
    const { service, write, shown } = await setup({ controllers: ["*", "-endpoints-controller"] });
    if (spec !== undefined) await service("db", spec);
    await write("db", [one("10.1.0.1")], metadata);
    expect(await shown()).toEqual([]);
  });

  test("any other text of the label means yes", async () => {
    const { service, write, shown } = await setup();
    await service("db");
    await write("db", [one("10.1.0.1")], { labels: { "endpointslice.kubernetes.io/skip-mirror": "True" } });
    expect(await shown()).toEqual(["IPv4 10.1.0.1"]);
  });

  test("do not carry what is said of the Endpoints themselves", async () => {
    const { service, write, slices } = await setup();
    await service("db");
    const annotations = {
      "endpoints.kubernetes.io/last-change-trigger-time": "2026-01-01T00:00:00Z",
      "kubectl.kubernetes.io/last-applied-configuration": "{}",
    };
    await write("db", [one("10.1.0.1")], { annotations });
    expect((await slices())[0]!.metadata.annotations).toBeUndefined();
  });

  test("follow changes in the same object, and go with what they were made from", async () => {
    const { service, write, slices, shown, registry, key } = await setup();
    await service("db");
    await write("db", [one("10.1.0.1")], { labels: { team: "blue" } });
    const [first] = await slices();
    await write("db", [{ ...one("10.1.0.2"), ports: [{ port: 81 }] }], { labels: { team: "red" } });
    const [second] = await slices();
    expect([second!.metadata.uid, second!.metadata.labels!["team"], second!.ports]).toMatchObject([
      first!.metadata.uid,
      "red",
      [{ port: 81 }],
    ]);
    await write("db", []);
    expect(await shown()).toEqual([]);
    await write("db", [one("10.1.0.3")]);
    expect(await shown()).toEqual(["IPv4 10.1.0.3"]);
    await registry.delete(ENDPOINTS, key("db"));
    expect(await shown()).toEqual([]);
  });

  test("come with the Service and go when it gets a selector", async () => {
    const { service, write, shown, client, key } = await setup({ controllers: ["*", "-endpoints-controller"] });
    await write("db", [one("10.1.0.1")]);
    expect(await shown()).toEqual([]);
    await service("db");
    expect(await shown()).toEqual(["IPv4 10.1.0.1"]);
    await client.patch(SERVICES, key("db"), "merge", { spec: { selector: { app: "db" } } });
    expect(await shown()).toEqual([]);
  });

  test("are restored when they are edited", async () => {
    const { service, write, slices, shown, registry, client } = await setup();
    await service("db");
    await write("db", [one("10.1.0.1")]);
    const [slice] = await slices();
    await client.patch(ENDPOINT_SLICES, { namespace: "default", name: slice!.metadata.name! }, "merge", { endpoints: null });
    expect(await shown()).toEqual(["IPv4 10.1.0.1"]);
    await registry.delete(ENDPOINT_SLICES, { namespace: "default", name: slice!.metadata.name! });
    expect(await shown()).toEqual(["IPv4 10.1.0.1"]);
  });

  test("of other makers are left alone", async () => {
    const { service, write, client, settled, registry } = await setup();
    await service("db");
    const labels = { [SERVICE_NAME]: "db", [MANAGED_BY]: "another" };
    const endpoints = [{ addresses: ["10.9.0.1"] }];
    await registry.create(ENDPOINT_SLICES, "default", { metadata: { name: "own", labels }, addressType: "IPv4", endpoints });
    await write("db", [one("10.1.0.1")]);
    await settled();
    expect((await client.get(ENDPOINT_SLICES, { namespace: "default", name: "own" }))!.metadata.generation).toBe(1);
  });

  test("do not keep a namespace from going", async () => {
    const { registry, client, settled } = await setup();
    await registry.create(NAMESPACES, "", { metadata: { name: "shop" } });
    await registry.create(SERVICES, "shop", { metadata: { name: "db" }, spec: { ports: [{ port: 80 }] } });
    await registry.create(ENDPOINTS, "shop", { metadata: { name: "db" }, subsets: [one("10.1.0.1")] });
    await settled();
    await registry.delete(NAMESPACES, { namespace: "", name: "shop" });
    await settled();
    expect(await client.get(NAMESPACES, { namespace: "", name: "shop" })).toBeUndefined();
  });

  test("that are left over are cleared at the start, and those that are right stay", async () => {
    const store = createMemoryStore();
    const before = await setup({ store });
    for (const name of ["kept", "gone"]) {
      await before.service(name);
      await before.write(name, [one(name === "kept" ? "10.1.0.1" : "10.1.0.2")]);
    }
    await before.settled();
    await before.stop();
    const between = await setup({
      store,
      controllers: ["*", "-endpointslice-mirroring-controller", "-garbage-collector-controller"],
      chance: createSeededChance(2),
    });
    await between.registry.delete(SERVICES, between.key("gone"));
    expect(await between.shown()).toEqual(["IPv4 10.1.0.1", "IPv4 10.1.0.2"]);
    const after = await setup({ store, chance: createSeededChance(3) });
    expect(await after.shown()).toEqual(["IPv4 10.1.0.1"]);
  });

  test("at rest write nothing", async () => {
    const { service, write, settled, store } = await setup();
    await service("db");
    await write("db", [one("10.1.0.1", "2001:db8::1")], { labels: { a: "b" }, annotations: { c: "d" } });
    await settled();
    const revision = await store.revision();
    await service("other");
    await settled();
    expect(await store.revision()).toBe(revision + 1);
  });

  test("can be switched off", async () => {
    const { service, write, shown } = await setup({ controllers: ["*", "-endpointslice-mirroring-controller"] });
    await service("db");
    await write("db", [one("10.1.0.1")]);
    expect(await shown()).toEqual([]);
  });
});

describe("slices of a Service with a selector", () => {
  const ready = (podIP: string) => ({ phase: "Running", podIP, conditions: [{ type: "Ready", status: "True" }] });

  test("follow its Pods and belong to it", async () => {
    const { service, registry, slices, shown, key } = await setup();
    const { metadata } = await service("web", { selector: { app: "web" } });
    const spec = { containers: [{ name: "main", image: "example.com/web:1" }] };
    const pod = await registry.create(PODS, "default", { metadata: { name: "web-1", labels: { app: "web" } }, spec });
    await registry.update(PODS, key("web-1"), { ...pod, status: ready("10.1.0.1") }, { subresource: "status" });
    const [slice] = await slices(ORDINARY);
    expect(slice).toMatchObject({
      metadata: { labels: { of: "service", [SERVICE_NAME]: "web" }, ownerReferences: [{ kind: "Service", uid: metadata.uid }] },
      endpoints: [{ addresses: ["10.1.0.1"], conditions: { ready: true, serving: true, terminating: false } }],
    });
    expect(await shown()).toEqual([]);
    await registry.delete(SERVICES, key("web"));
    expect(await shown(ORDINARY)).toEqual([]);
  });

  test("can be switched off", async () => {
    const { service, write, shown } = await setup({ controllers: ["*", "-endpointslice-controller", "-endpoints-controller"] });
    await service("web", { selector: { app: "web" } });
    await write("web", [one("10.1.0.1")]);
    expect(await shown(ORDINARY)).toEqual([]);
  });
});

describe("the slices of Endpoints", () => {
  const address = (n: number) => ({ ip: n % 3 === 0 ? `2001:db8::${n + 1}` : `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}` });
  const endpoints = (subset: EndpointSubset) => ({ apiVersion: "v1", kind: "Endpoints", metadata: { name: "a" }, subsets: [subset] });
  const counts = (slices: ReturnType<typeof slicesOf>) => slices.map((slice) => slice.endpoints!.length);

  test("leave out what is over the limit of a subset, those that are not ready first", () => {
    const v4 = (from: number, count: number) =>
      Array.from({ length: count }, (_none, index) => ({ ip: `10.1.${(from + index) >> 8}.${(from + index) & 255}` }));
    const subset = { addresses: v4(0, 900), notReadyAddresses: v4(900, 300), ports: [{ port: 80 }] };
    const [slice, ...others] = slicesOf(endpoints(subset), { addressesMax: 1_000, endpointsMax: 1_000, conditions: () => ({}) });
    expect(others).toEqual([]);
    expect(slice!.endpoints!.filter((one) => JSON.stringify(one).includes('"ready":true'))).toHaveLength(900);
    expect(slice!.endpoints).toHaveLength(1_000);
  });

  test("hold every address once, in slices of one family that are not too large", () => {
    fc.assert(
      fc.property(fc.nat({ max: 40 }), fc.nat({ max: 40 }), fc.integer({ min: 1, max: 10 }), (up, down, endpointsMax) => {
        const all = Array.from({ length: up + down }, (_none, index) => address(index));
        const subset = { addresses: all.slice(0, up), notReadyAddresses: all.slice(up), ports: [{ port: 80 }] };
        const slices = slicesOf(endpoints(subset), { addressesMax: Infinity, endpointsMax, conditions: () => ({}) });
        const found = slices.flatMap((slice) => slice.endpoints!.flatMap((one) => one.addresses!));
        expect(found.sort()).toEqual(all.map(({ ip }) => ip).sort());
        expect(counts(slices).every((count) => count > 0 && count <= endpointsMax)).toBe(true);
        for (const slice of slices) {
          expect(slice.endpoints!.every((one) => one.addresses![0]!.includes(":") === (slice.addressType === "IPv6"))).toBe(true);
        }
      }),
      { numRuns: 200 },
    );
  });
});
