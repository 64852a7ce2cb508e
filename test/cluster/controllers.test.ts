import { describe, expect, test } from "vitest";
import { createEmbeddedCluster, type EmbeddedClusterOptions } from "../../src/clusters.ts";
import { PODS } from "../../src/cluster/kinds/pods.ts";
import { CONFIG_MAPS, ENDPOINTS, NAMESPACES, SERVICES } from "../../src/kube/object/resource.ts";
import type { Endpoints } from "../../src/kube/object/types.ts";
import { createMemoryStore } from "../../src/apiserver/store/memory/memory-store.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { createSeededChance } from "../apiserver/seeded-chance.ts";

async function setup(options: EmbeddedClusterOptions = {}) {
  const cluster = await createEmbeddedCluster({ clock: createFakeClock(), chance: createSeededChance(), ...options });
  const { registry, client, settled } = cluster;
  const key = (name: string) => ({ namespace: "default", name });
  const service = (name: string, spec: object = {}) =>
    registry.create(SERVICES, "default", { metadata: { name, labels: { team: "blue" } }, spec: { selector: { app: "web" }, ports: [{ port: 80, targetPort: "http" }], ...spec } }); // prettier-ignore
  const pod = async (name: string, status: object, labels: Record<string, string> = { app: "web" }) => {
    const containers = [{ name: "main", image: "example.com/web:1", ports: [{ name: "http", containerPort: 8_080 }] }];
    const created = await registry.create(PODS, "default", { metadata: { name, labels }, spec: { nodeName: "node-1", containers } });
    const { object } = await registry.update(PODS, key(name), { ...created, status }, { subresource: "status" });
    return object;
  };
  const endpoints = async (name: string) => {
    await settled();
    return (await client.get(ENDPOINTS, key(name))) as Endpoints | undefined;
  };
  return { ...cluster, key, service, pod, endpoints };
}

const ready = (podIP: string) => ({ phase: "Running", podIP, conditions: [{ type: "Ready", status: "True" }] });

describe("the endpoints controller", () => {
  test("lists ready Pods by the ports that they name, and marks its work", async () => {
    const { service, pod, endpoints } = await setup();
    await service("web");
    const { metadata } = await pod("web-1", ready("10.1.0.1"));
    const found = (await endpoints("web"))!;
    expect(found.subsets).toEqual([
      {
        addresses: [
          { ip: "10.1.0.1", nodeName: "node-1", targetRef: { kind: "Pod", namespace: "default", name: "web-1", uid: metadata.uid } },
        ],
        ports: [{ port: 8_080, protocol: "TCP" }],
      },
    ]);
    expect(found.metadata.labels).toEqual({ team: "blue", "endpoints.kubernetes.io/managed-by": "endpoint-controller" });
  });

  test("tells apart who is not ready, and leaves out who has ended or has no address", async () => {
    const { service, pod, endpoints } = await setup();
    await service("web");
    await pod("starting", { phase: "Running", podIP: "10.1.0.2" });
    await pod("done", { ...ready("10.1.0.3"), phase: "Succeeded" });
    await pod("placeless", { phase: "Pending" });
    await pod("other", ready("10.1.0.4"), { app: "db" });
    expect((await endpoints("web"))!.subsets).toMatchObject([{ notReadyAddresses: [{ ip: "10.1.0.2" }] }]);
  });

  test("takes the address of the Service's first family, and leaves out who has none of it", async () => {
    const { service, pod, endpoints } = await setup();
    await service("web");
    await service("six", { ipFamilies: ["IPv6"], ipFamilyPolicy: "SingleStack" });
    await pod("both", { ...ready("fd00::1"), podIPs: [{ ip: "fd00::1" }, { ip: "10.1.0.1" }] });
    await pod("four", ready("10.1.0.2"));
    const addresses = async (name: string) => (await endpoints(name))!.subsets?.flatMap((subset) => subset.addresses?.map(({ ip }) => ip));
    expect(await addresses("web")).toEqual(["10.1.0.1", "10.1.0.2"]);
    expect(await addresses("six")).toEqual(["fd00::1"]);
  });

  test("follows Pods that come, change their labels and go", async () => {
    const { service, pod, endpoints, registry, key } = await setup();
    await service("web");
    expect((await endpoints("web"))!.subsets).toBeUndefined();
    const created = await pod("web-1", ready("10.1.0.1"));
    expect((await endpoints("web"))!.subsets).toHaveLength(1);
    await registry.update(PODS, key("web-1"), { ...created, metadata: { ...created.metadata, labels: { app: "no" } } });
    expect((await endpoints("web"))!.subsets).toBeUndefined();
    await pod("web-2", ready("10.1.0.2"));
    await registry.delete(PODS, key("web-2"));
    expect((await endpoints("web"))!.subsets).toBeUndefined();
  });

  test("says headless, takes hostnames, and needs no ports then", async () => {
    const { service, registry, endpoints } = await setup();
    await service("web", { clusterIP: "None", ports: [] });
    const spec = { hostname: "one", subdomain: "web", containers: [{ name: "main", image: "example.com/web:1" }] };
    const created = await registry.create(PODS, "default", { metadata: { name: "web-1", labels: { app: "web" } }, spec });
    await registry.update(
      PODS,
      { namespace: "default", name: "web-1" },
      { ...created, status: ready("10.1.0.1") },
      { subresource: "status" },
    );
    const { subsets, metadata } = (await endpoints("web"))!;
    expect(subsets).toMatchObject([{ addresses: [{ ip: "10.1.0.1", hostname: "one" }] }]);
    expect(subsets![0]!.ports).toBeUndefined();
    expect(metadata.labels).toHaveProperty(["service.kubernetes.io/headless"], "");
  });

  test("publishes who is not ready where the Service says so", async () => {
    const { service, pod, endpoints } = await setup();
    await service("web", { publishNotReadyAddresses: true });
    await pod("starting", { phase: "Running", podIP: "10.1.0.2" });
    expect((await endpoints("web"))!.subsets).toMatchObject([{ addresses: [{ ip: "10.1.0.2" }] }]);
  });

  test.each([
    { published: false, found: undefined },
    { published: true, found: [{ addresses: [{ ip: "10.1.0.1" }] }] },
  ])("keeps a Pod that is being deleted where addresses that are not ready are published: $published", async ({ published, found }) => {
    const { service, pod, endpoints, registry, key } = await setup();
    await service("web", { publishNotReadyAddresses: published });
    const created = await pod("web-1", ready("10.1.0.1"));
    const metadata = { ...created.metadata, finalizers: ["example.com/wait"] };
    await registry.update(PODS, key("web-1"), { ...created, metadata });
    await registry.delete(PODS, key("web-1"));
    const { subsets } = (await endpoints("web"))!;
    if (found === undefined) expect(subsets).toBeUndefined();
    else expect(subsets).toMatchObject(found);
  });

  test("finds a port that a sidecar names, but not one of an init container that ends", async () => {
    const { service, registry, endpoints } = await setup();
    await service("web", { ports: [{ name: "a", port: 80, targetPort: "proxy" }, { name: "b", port: 81, targetPort: "setup" }] }); // prettier-ignore
    const image = "example.com/web:1";
    const initContainers = [
      { name: "setup", image, ports: [{ name: "setup", containerPort: 7_000 }] },
      { name: "proxy", image, restartPolicy: "Always", ports: [{ name: "proxy", containerPort: 7_001 }] },
    ];
    const spec = { initContainers, containers: [{ name: "main", image }] };
    const created = await registry.create(PODS, "default", { metadata: { name: "web-1", labels: { app: "web" } }, spec });
    const key = { namespace: "default", name: "web-1" };
    await registry.update(PODS, key, { ...created, status: ready("10.1.0.1") }, { subresource: "status" });
    expect((await endpoints("web"))!.subsets).toMatchObject([{ ports: [{ name: "a", port: 7_001 }] }]);
    expect((await endpoints("web"))!.subsets![0]!.ports).toHaveLength(1);
  });

  test("leaves Endpoints of a Service without selector to their author, until the Service goes", async () => {
    const { service, registry, endpoints, key } = await setup();
    await service("db", { selector: null, ports: [{ port: 5_432 }] });
    await registry.create(ENDPOINTS, "default", { metadata: { name: "db" }, subsets: [{ addresses: [{ ip: "10.2.0.1" }] }] });
    await registry.create(ENDPOINTS, "default", { metadata: { name: "lonely" }, subsets: [{ addresses: [{ ip: "10.2.0.2" }] }] });
    expect((await endpoints("db"))!.subsets).toMatchObject([{ addresses: [{ ip: "10.2.0.1" }] }]);
    await registry.delete(SERVICES, key("db"));
    expect([await endpoints("db"), (await endpoints("lonely"))?.metadata.name]).toEqual([undefined, "lonely"]);
  });

  test("takes over when a Service gets a selector, overwriting what was there", async () => {
    const { service, registry, endpoints, pod, client, key } = await setup();
    await service("web", { selector: null });
    await registry.create(ENDPOINTS, "default", { metadata: { name: "web" }, subsets: [{ addresses: [{ ip: "10.2.0.1" }] }] });
    await pod("web-1", ready("10.1.0.1"));
    await client.patch(SERVICES, key("web"), "merge", { spec: { selector: { app: "web" } } });
    expect((await endpoints("web"))!.subsets).toMatchObject([{ addresses: [{ ip: "10.1.0.1" }] }]);
  });

  test("makes deleted Endpoints again", async () => {
    const { service, registry, endpoints, pod, key, settled } = await setup();
    await service("web");
    await pod("web-1", ready("10.1.0.1"));
    await settled();
    await registry.delete(ENDPOINTS, key("web"));
    expect((await endpoints("web"))!.subsets).toHaveLength(1);
  });

  test("clears leftovers when it starts, but for leader locks", async () => {
    const store = createMemoryStore();
    const before = await setup({ store, controllers: ["*", "-endpoints-controller"] });
    const annotations = { "control-plane.alpha.kubernetes.io/leader": "{}" };
    for (const metadata of [{ name: "leftover" }, { name: "lock", annotations }])
      await before.registry.create(ENDPOINTS, "default", { metadata });
    const after = await setup({ store });
    expect([await after.endpoints("leftover"), (await after.endpoints("lock"))?.metadata.name]).toEqual([undefined, "lock"]);
    expect((await after.endpoints("kubernetes"))!.subsets).toHaveLength(1);
  });

  test("can be switched off", async () => {
    const { service, registry, endpoints, key } = await setup({ controllers: ["*", "-endpoints-controller"] });
    await service("db", { selector: null });
    await registry.create(ENDPOINTS, "default", { metadata: { name: "db" } });
    await registry.delete(SERVICES, key("db"));
    expect((await endpoints("db"))?.metadata.name).toBe("db");
  });

  test("at rest writes nothing", async () => {
    const { service, pod, settled, store } = await (async () => {
      const own = createMemoryStore();
      return { ...(await setup({ store: own })), store: own };
    })();
    await service("web");
    for (const n of [1, 2, 3]) await pod(`web-${n}`, ready(`10.1.0.${n}`));
    await settled();
    const revision = await store.revision();
    await pod("other", ready("10.1.0.9"), { app: "db" });
    await settled();
    // The Pod itself was written twice: made, then given its status.
    expect(await store.revision()).toBe(revision + 2);
  });
});

describe("the namespace controller", () => {
  const contents = async (cluster: Awaited<ReturnType<typeof setup>>, name: string) =>
    (await cluster.client.list(CONFIG_MAPS, { namespace: name })).items.map(({ metadata }) => metadata.name);

  test("empties a namespace before it goes", async () => {
    const cluster = await setup();
    await cluster.registry.create(NAMESPACES, "", { metadata: { name: "shop" } });
    for (const name of ["a", "b"]) await cluster.registry.create(CONFIG_MAPS, "shop", { metadata: { name } });
    const { gone, object } = await cluster.registry.delete(NAMESPACES, { namespace: "", name: "shop" });
    expect([gone, (object["status"] as { phase: string }).phase]).toEqual([false, "Terminating"]);
    await cluster.settled();
    expect([await contents(cluster, "shop"), await cluster.client.get(NAMESPACES, { namespace: "", name: "shop" })]).toEqual([
      [],
      undefined,
    ]);
  });

  test("waits for finalizers of the contents and for those of the namespace itself", async () => {
    const cluster = await setup();
    const finalizers = ["example.com/wait"];
    await cluster.registry.create(NAMESPACES, "", { metadata: { name: "shop", finalizers } });
    await cluster.registry.create(CONFIG_MAPS, "shop", { metadata: { name: "kept", finalizers } });
    await cluster.registry.delete(NAMESPACES, { namespace: "", name: "shop" });
    await cluster.settled();
    expect(await contents(cluster, "shop")).toEqual(["kept"]);
    const lift = { metadata: { finalizers: null } };
    await cluster.client.patch(CONFIG_MAPS, { namespace: "shop", name: "kept" }, "merge", lift);
    await cluster.settled();
    expect(await cluster.client.get(NAMESPACES, { namespace: "", name: "shop" })).toMatchObject({ metadata: { finalizers }, spec: {} });
    await cluster.client.patch(NAMESPACES, { namespace: "", name: "shop" }, "merge", lift);
    expect(await cluster.client.get(NAMESPACES, { namespace: "", name: "shop" })).toBeUndefined();
  });

  test("goes on with what was being deleted when it starts", async () => {
    const store = createMemoryStore();
    const before = await setup({ store });
    await before.registry.create(NAMESPACES, "", { metadata: { name: "shop" } });
    await before.registry.delete(NAMESPACES, { namespace: "", name: "shop" });
    const after = await setup({ store });
    await after.settled();
    expect(await after.client.get(NAMESPACES, { namespace: "", name: "shop" })).toBeUndefined();
  });
});
