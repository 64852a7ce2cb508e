/**
 * A whole life of a sidecar: everything is made, changed, edited on the host, refused, lost and deleted.
 */
import { expect, vi } from "vitest";
import type { ClusterClient } from "../../src/kube/object/cluster-client.ts";
import type { ObjectKey } from "../../src/kube/object/key.ts";
import { CONFIG_MAPS, ENDPOINT_SLICES, ENDPOINTS, SECRETS, SERVICES, type ResourceType } from "../../src/kube/object/resource.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";
import { WAIT } from "../support/patience.ts";

/** Where the life is led. */
export interface World {
  readonly tenant: ClusterClient;
  readonly host: ClusterClient;
  /** Tenant namespace. */
  readonly namespace: string;
  /** The namespace where it is mapped; undefined when all copies are in `vc-blue`. */
  readonly mapped: string | undefined;
  /** With slices and references. */
  readonly rich: boolean;
}

const TLS = "example.com/tls-secret";
const SETTINGS = "example.com/settings";

/** Leads it. What is left are two Services without Endpoints. */
export async function lead(world: World): Promise<void> {
  const { tenant, host, namespace, mapped, rich } = world;
  const key = { namespace, name: "web" };
  const hostKey = mapped === undefined ? { namespace: "vc-blue", name: `web-x-${namespace}-x-blue` } : { namespace: mapped, name: "web" };
  if (rich) await tenant.create(SECRETS, { apiVersion: "v1", kind: "Secret", metadata: { namespace, name: "tls" }, data: { a: "YQ==" } });
  if (rich)
    await tenant.create(CONFIG_MAPS, { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name: "set" }, data: { a: "a" } });
  for (const name of ["web", "a", "b"]) {
    await tenant.create(SERVICES, { apiVersion: "v1", kind: "Service", metadata: { namespace, name }, spec: { ports: [{ port: 80 }] } });
  }
  const annotations = rich ? { [TLS]: "tls", [SETTINGS]: "set" } : {};
  // The second address is refused.
  const subsets = [{ addresses: [{ ip: "10.0.0.1" }, { ip: "100.100.100.200" }], ports: [{ port: 80 }] }];
  await tenant.create(ENDPOINTS, { apiVersion: "v1", kind: "Endpoints", metadata: { ...key, annotations }, subsets });
  for (const resource of [SERVICES, ENDPOINTS]) {
    await arrives(host, resource, hostKey);
    await flowsBack(world, resource, { key, hostKey });
    await vi.waitFor(async () => {
      await annotate(tenant, resource, key, "from-tenant");
      expect(annotationsOf(await host.get(resource, hostKey))).toHaveProperty("from-tenant");
    }, WAIT);
  }
  await leadSlices(world);
  if (!rich) await leadMadeSlices(world, { key, hostKey });
  if (rich) await leadReferences(world);
  await host.delete(ENDPOINTS, hostKey);
  await arrives(host, ENDPOINTS, hostKey);
  for (const resource of [ENDPOINTS, SERVICES]) await tenant.delete(resource, key);
  for (const resource of [ENDPOINTS, SERVICES]) await goes(host, resource, hostKey);
}

async function leadSlices(world: World): Promise<void> {
  const { tenant, host, namespace, mapped } = world;
  const key = { namespace, name: "own" };
  const hostKey = mapped === undefined ? { namespace: "vc-blue", name: `own-x-${namespace}-x-blue` } : { namespace: mapped, name: "own" };
  await tenant.create(ENDPOINT_SLICES, {
    ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", addressType: "IPv4" },
    metadata: { ...key, labels: { "kubernetes.io/service-name": "a" } },
    ...{ endpoints: [{ addresses: ["10.0.0.9"] }], ports: [{ port: 80 }] },
  });
  await arrives(host, ENDPOINT_SLICES, hostKey);
  await flowsBack(world, ENDPOINT_SLICES, { key, hostKey });
  await tenant.delete(ENDPOINT_SLICES, key);
  await goes(host, ENDPOINT_SLICES, hostKey);
}

/** Nothing mirrors Endpoints on this host: slices are made of the copy, and follow it. */
async function leadMadeSlices({ tenant, host }: World, { key, hostKey }: { key: ObjectKey; hostKey: ObjectKey }): Promise<void> {
  const made = async () => {
    const { items } = await host.list(ENDPOINT_SLICES, { namespace: hostKey.namespace });
    return items.filter(({ metadata }) => metadata.ownerReferences?.[0]?.name === hostKey.name);
  };
  await vi.waitFor(async () => expect(await made()).toHaveLength(1), WAIT);
  await annotate(tenant, ENDPOINTS, key, "later");
  await vi.waitFor(async () => expect(annotationsOf((await made())[0])).toHaveProperty("later"), WAIT);
}

async function leadReferences({ tenant, host, namespace }: World): Promise<void> {
  const sorts = [
    { resource: SECRETS, name: "tls", data: { a: "Yg==" }, annotation: TLS },
    { resource: CONFIG_MAPS, name: "set", data: { a: "b" }, annotation: SETTINGS },
  ];
  for (const { resource, name, data, annotation } of sorts) {
    const key = { namespace: "vc-blue", name: `${name}-x-${namespace}-x-blue` };
    await arrives(host, resource, key);
    await tenant.patch(resource, { namespace, name }, "merge", { data });
    await vi.waitFor(async () => expect(await host.get(resource, key)).toMatchObject({ data }), WAIT);
    await host.delete(resource, key);
    await arrives(host, resource, key);
    await tenant.patch(ENDPOINTS, { namespace, name: "web" }, "merge", { metadata: { annotations: { [annotation]: null } } });
    await goes(host, resource, key);
  }
}

async function flowsBack({ tenant, host }: World, resource: ResourceType, { key, hostKey }: { key: ObjectKey; hostKey: ObjectKey }) {
  await annotate(host, resource, hostKey, "from-host");
  await vi.waitFor(async () => expect(annotationsOf(await tenant.get(resource, key))).toHaveProperty("from-host"), WAIT);
}

async function arrives(client: ClusterClient, resource: ResourceType, key: ObjectKey): Promise<void> {
  await vi.waitFor(async () => expect(await client.get(resource, key), `${resource.kind} ${key.name}`).toBeDefined(), WAIT);
}

async function goes(client: ClusterClient, resource: ResourceType, key: ObjectKey): Promise<void> {
  await vi.waitFor(async () => expect(await client.get(resource, key), `${resource.kind} ${key.name}`).toBeUndefined(), WAIT);
}

async function annotate(client: ClusterClient, resource: ResourceType, key: ObjectKey, name: string): Promise<void> {
  await client.patch(resource, key, "merge", { metadata: { annotations: { [name]: "x" } } });
}

function annotationsOf(object: KubeObject | undefined): Readonly<Record<string, string>> {
  return object?.metadata.annotations ?? {};
}
