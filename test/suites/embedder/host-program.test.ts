/** `fixtures/embedder`: a program that embeds the engine with caches, queue, names and Services of its own. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { startHostProgram, type HostProgram } from "../../../fixtures/embedder/host-program.ts";
import { createEmbeddedCluster, type EmbeddedCluster } from "../../../src/cluster/cluster.ts";
import type { ClusterClient } from "../../../src/kube/object/cluster-client.ts";
import { ENDPOINTS, EVENTS, NAMESPACES, SERVICES } from "../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { WAIT } from "../../support/patience.ts";

const CONFIG = `
sync:
  toHost:
    endpoints:
      patches:
        - path: metadata.annotations["example.com/team"]
          expression: '"blue-" + value'
          reverseExpression: 'value.replace(/^blue-/, "")'
`;
const WEB = { namespace: "shop", name: "web" };
const COPY = { namespace: "vc-blue", name: "shop-web" };

let tenant: EmbeddedCluster;
let host: EmbeddedCluster;
let program: HostProgram;
let watches: string[] = [];

/** Notes what is watched. */
function counted(side: string, client: ClusterClient): ClusterClient {
  return new Proxy(client, {
    get(target, name: keyof ClusterClient) {
      const member: unknown = target[name];
      if (typeof member !== "function") return member;
      return (...values: unknown[]) => {
        if (name === "watch") watches.push(`${side} ${(values[0] as { plural: string }).plural}`);
        return (member as (...parts: unknown[]) => unknown).apply(target, values);
      };
    },
  });
}

beforeEach(async () => {
  watches = [];
  [tenant, host] = await Promise.all([createEmbeddedCluster(), createEmbeddedCluster()]);
  await tenant.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await host.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "vc-blue" } });
  program = await startHostProgram({
    tenant: counted("tenant", tenant.client),
    host: counted("host", host.client),
    vcluster: { name: "blue", namespace: "vc-blue" },
    config: CONFIG,
  });
});
afterEach(async () => {
  await program.stop();
  await Promise.all([tenant.stop(), host.stop()]);
});

const service = (name: string): KubeObject =>
  ({ apiVersion: "v1", kind: "Service", metadata: { ...WEB, name }, spec: { ports: [{ port: 80 }] } }) as KubeObject;
const endpoints = (name: string, ...ips: string[]): KubeObject => ({
  apiVersion: "v1",
  kind: "Endpoints",
  metadata: { ...WEB, name, annotations: { "example.com/team": "ops" } },
  subsets: [{ addresses: ips.map((ip) => ({ ip })), ports: [{ port: 80 }] }],
});
const copied = () => vi.waitFor(async () => expect(await host.client.get(ENDPOINTS, COPY)).toBeDefined(), WAIT);

async function createWeb(): Promise<void> {
  await tenant.client.create(SERVICES, service("web"));
  await tenant.client.create(ENDPOINTS, endpoints("web", "10.0.0.1", "100.100.100.200"));
  await copied();
}

describe("the embedded engine", () => {
  test("opens no watch besides the program's own", async () => {
    await createWeb();
    expect(watches.sort()).toEqual(["host endpoints", "host services", "tenant endpoints", "tenant services"]);
  });

  test("writes patched copies under the program's names, beside the program's Services", async () => {
    await createWeb();
    const copy = await host.client.get(ENDPOINTS, COPY);
    expect(copy?.metadata.annotations).toMatchObject({ "example.com/team": "blue-ops" });
    expect(copy?.["subsets"]).toEqual([{ addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80, protocol: "TCP" }] }]);
    await tenant.client.patch(ENDPOINTS, WEB, "merge", { metadata: { annotations: { "example.com/team": "dev" } } });
    await vi.waitFor(async () => {
      const { annotations } = (await host.client.get(ENDPOINTS, COPY))!.metadata;
      expect(annotations).toMatchObject({ "example.com/team": "blue-dev" });
    }, WAIT);
    await tenant.client.delete(ENDPOINTS, WEB);
    await vi.waitFor(async () => expect(await host.client.get(ENDPOINTS, COPY)).toBeUndefined(), WAIT);
  });

  test("hands over what would be an Event, and writes none", async () => {
    await createWeb();
    const told = [{ object: { metadata: WEB }, code: "ADDRESS_REFUSED", reason: "AddressRefused" }];
    await vi.waitFor(() => expect(program.told).toMatchObject(told), WAIT);
    expect((await tenant.client.list(EVENTS)).items).toEqual([]);
  });

  test("writes nothing beside a Service that the program did not make, and nothing that a hook refuses", async () => {
    const foreign = { ...service("web"), metadata: { namespace: "vc-blue", name: "shop-db" } };
    await host.client.create(SERVICES, foreign);
    await tenant.client.create(SERVICES, service("db"));
    await tenant.client.create(ENDPOINTS, endpoints("db", "10.0.0.2"));
    await createWeb();
    expect(await host.client.get(ENDPOINTS, { namespace: "vc-blue", name: "shop-db" })).toBeUndefined();
    const before = await tenant.client.get(ENDPOINTS, WEB);
    await host.client.patch(ENDPOINTS, COPY, "merge", { metadata: { annotations: { "example.com/team": "blue-host" } } });
    await tenant.client.create(ENDPOINTS, endpoints("later", "10.0.0.3"));
    await tenant.client.create(SERVICES, service("later"));
    await vi.waitFor(async () => expect(await host.client.get(ENDPOINTS, { ...COPY, name: "shop-later" })).toBeDefined(), WAIT);
    expect(await tenant.client.get(ENDPOINTS, WEB)).toEqual(before);
  });
});
