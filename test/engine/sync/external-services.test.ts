/**
 * Backends of host Services that are not the tenant's: an operator's own, and those of tenant Services with the same host name.
 */
import { expect, test } from "vitest";
import type { EmbeddedCluster } from "../../../src/cluster/cluster.ts";
import { ENDPOINTS, SERVICES } from "../../../src/kube/object/resource.ts";
import { clock, cluster, fill, start, useRunningSyncers } from "./running-syncers.ts";

useRunningSyncers();

const ports = [{ port: 80 }];

async function addressesOf({ client }: EmbeddedCluster, namespace: string, name: string): Promise<string[] | undefined> {
  const found = await client.get(ENDPOINTS, { namespace, name });
  const subsets = found?.["subsets"] as { addresses?: { ip: string }[] }[] | undefined;
  return found && (subsets ?? []).flatMap(({ addresses = [] }) => addresses.map(({ ip }) => ip));
}

async function sourceAt({ client }: EmbeddedCluster, namespace: string, name: string): Promise<string> {
  const { annotations = {} } = (await client.get(ENDPOINTS, { namespace, name }))!.metadata;
  return `${annotations["sync.platform/object-namespace"]}/${annotations["sync.platform/object-name"]}`;
}

test("an operator's own Service in a mapped namespace gets no tenant's addresses, and the operator's own Endpoints stay", async () => {
  const [tenant, host] = [await cluster("team-a"), await cluster("vc", "h-team-a")];
  await fill(tenant, "team-a", ["db", "db2", "given"]);
  for (const name of ["db", "db2"])
    await host.client.create(SERVICES, { apiVersion: "v1", kind: "Service", metadata: { namespace: "h-team-a", name }, spec: { ports } });
  const metadata = { namespace: "h-team-a", name: "given", annotations: { "sync.platform/stands-for": "team-a/given" } };
  await host.client.create(SERVICES, { apiVersion: "v1", kind: "Service", metadata, spec: { ports } });
  await host.client.create(ENDPOINTS, {
    ...{ apiVersion: "v1", kind: "Endpoints", metadata: { namespace: "h-team-a", name: "db2" } },
    subsets: [{ addresses: [{ ip: "10.9.9.9" }], ports }],
  });
  await start({ tenant, on: host, namespace: "vc", mapped: { "team-*": "h-team-*" }, services: "external" });
  expect(await addressesOf(host, "h-team-a", "db")).toBeUndefined();
  expect(await addressesOf(host, "h-team-a", "db2")).toEqual(["10.9.9.9"]);
  expect(await addressesOf(host, "h-team-a", "given")).toEqual(["10.0.0.1"]);
});

test("without markers and word an embedder's hook names the Services that get backends", async () => {
  const [tenant, host] = [await cluster("shop"), await cluster("vc")];
  await fill(tenant, "shop", ["web", "api"]);
  for (const name of ["web-x-shop-x-blue", "api-x-shop-x-blue"])
    await host.client.create(SERVICES, { apiVersion: "v1", kind: "Service", metadata: { namespace: "vc", name }, spec: { ports } });
  const hooks = { ownsHostService: ({ name }: { name: string }) => name.startsWith("web-") };
  await start({ tenant, on: host, namespace: "vc", services: "external", hooks });
  expect(await addressesOf(host, "vc", "web-x-shop-x-blue")).toEqual(["10.0.0.1"]);
  expect(await addressesOf(host, "vc", "api-x-shop-x-blue")).toBeUndefined();
});

test("Endpoints without a Service give the host name to a Service that comes later, and its own Endpoints get it", async () => {
  const [tenant, host] = [await cluster("shop", "b-x-shop"), await cluster("vc")];
  const intruder = { apiVersion: "v1", kind: "Endpoints", metadata: { namespace: "b-x-shop", name: "a" } };
  await tenant.client.create(ENDPOINTS, { ...intruder, subsets: [{ addresses: [{ ip: "10.6.6.6" }], ports }] });
  const syncer = await start({ tenant, on: host, namespace: "vc" });
  expect(await addressesOf(host, "vc", "a-x-b-x-shop-x-blue")).toEqual(["10.6.6.6"]);
  await fill(tenant, "shop", ["a-x-b"]);
  await clock.advance(60_000);
  expect(await sourceAt(host, "vc", "a-x-b-x-shop-x-blue")).toBe("shop/a-x-b");
  expect(await addressesOf(host, "vc", "a-x-b-x-shop-x-blue")).toEqual(["10.0.0.1"]);
  const codes = syncer.status().objects.flatMap(({ tenantKey, notes }) => (tenantKey.name === "a" ? notes.map(({ code }) => code) : []));
  expect(codes).toEqual(["NAME_COLLISION"]);
});
