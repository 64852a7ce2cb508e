/** With `backends: auto`, nothing is remembered of Services that are gone: users of a tenant can create any number of them. */
import { afterEach, expect, test, vi } from "vitest";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from "../../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../../src/kube/object/types.ts";
import { KeyMap } from "../../../../src/kube/runtime/informer/object-cache.ts";
import { createBackendsIndex } from "../../../../src/engine/sync/state/backends-index.ts";
import { createCacheByHand } from "../../../support/cache-by-hand.ts";
import { testRules } from "../../../support/rules.ts";
import { clock, start, useRunningSyncers } from "../running-syncers.ts";
import { copyOf } from "./hand-back-world.ts";
import { AUTO, ownSlice, sidesWith } from "./seen-backends.ts";

useRunningSyncers();
afterEach(() => void vi.restoreAllMocks());

/** Returns a function that lists the keys of all Services for which a decision is remembered, without that of the API server. */
function watchDecisions(): () => readonly string[] {
  const remembered = new Map<KeyMap<unknown>, Set<string>>();
  const original = { set: KeyMap.prototype.set, delete: KeyMap.prototype.delete };
  vi.spyOn(KeyMap.prototype, "set").mockImplementation(function (this: KeyMap<unknown>, key, value) {
    if (typeof value === "object" && value !== null && "othersBehindSince" in value)
      remembered.set(this, (remembered.get(this) ?? new Set()).add(`${key.namespace}/${key.name}`));
    original.set.call(this, key, value);
  });
  vi.spyOn(KeyMap.prototype, "delete").mockImplementation(function (this: KeyMap<unknown>, key) {
    remembered.get(this)?.delete(`${key.namespace}/${key.name}`);
    return original.delete.call(this, key);
  });
  return () => [...remembered.values()].flatMap((keys) => [...keys]).filter((key) => key !== "default/kubernetes");
}

const ports = [{ name: "http", port: 80 }];

test.each([true, false])("no decision is left about Services that had Endpoints, with a mirror on the host: %s", async (mirrors) => {
  const { tenant, on } = await sidesWith(false, mirrors);
  const decisions = watchDecisions();
  await start({ tenant, on, namespace: "vc", settings: AUTO });
  for (let index = 0; index < 5; index += 1) {
    const metadata = { namespace: "shop", name: `web-${index}` };
    const subsets = [{ addresses: [{ ip: "10.0.0.1" }], ports }];
    await tenant.client.create(SERVICES, { apiVersion: "v1", kind: "Service", metadata, spec: { ports } } as KubeObject);
    await tenant.client.create(ENDPOINTS, { apiVersion: "v1", kind: "Endpoints", metadata, subsets } as KubeObject);
    await clock.advance(30_000);
    expect(decisions()).toEqual([`shop/web-${index}`]);
    await tenant.client.delete(SERVICES, metadata);
    await tenant.client.delete(ENDPOINTS, metadata).catch(() => undefined);
    await clock.advance(120_000);
  }
  expect(decisions()).toEqual([]);
});

test("no decision is left about Services that a slice named one after the other", async () => {
  const { tenant, on } = await sidesWith(false, false);
  const decisions = watchDecisions();
  await start({ tenant, on, namespace: "vc", settings: AUTO });
  const key = { namespace: "shop", name: "own" };
  await tenant.client.create(ENDPOINT_SLICES, ownSlice("own", ["10.0.0.1"]));
  for (let index = 0; index < 20; index += 1) {
    const metadata = { labels: { "kubernetes.io/service-name": `web-${index}` } };
    await tenant.client.patch(ENDPOINT_SLICES, key, "merge", { metadata });
    await clock.advance(2_000);
  }
  await tenant.client.delete(ENDPOINT_SLICES, key);
  await clock.advance(120_000);
  expect(decisions()).toEqual([]);
});

test("the index forgets a Service with its host key and its version", () => {
  const { source } = createCacheByHand();
  const index = createBackendsIndex(testRules(), { source: () => source });
  const service = { namespace: "shop", name: "web" };
  index.touch(service);
  const hostKey = index.hostKeyOf(service)!;
  expect([index.version(service), index.servicesAt(hostKey)]).toEqual([1, [service]]);
  index.forget(service);
  expect([index.version(service), index.servicesAt(hostKey)]).toEqual([0, []]);
});

test("the index finds the Service of a copied slice by the copy of its Endpoints, where the tenant has nothing of it", () => {
  const endpoints = copyOf(undefined, "20");
  const { labels, annotations } = endpoints.metadata;
  const copyWith = (kind: string, namespace: string): KubeObject => ({
    ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice" },
    metadata: {
      ...{ namespace: "vc", name: "web-a-x-shop-x-blue" },
      labels: { ...labels, "kubernetes.io/service-name": endpoints.metadata.name! },
      annotations: {
        ...annotations,
        "sync.platform/object-kind": kind,
        "sync.platform/object-namespace": namespace,
        "sync.platform/object-name": "web-a",
        "sync.platform/object-host-name": "web-a-x-shop-x-blue",
      },
    },
  });
  const caches = new Map([[ENDPOINTS.plural, createCacheByHand(endpoints).source]]);
  const index = createBackendsIndex(testRules(), { source: ({ plural }) => caches.get(plural) ?? createCacheByHand().source });
  const kind = "discovery.k8s.io/v1/EndpointSlice";
  expect(index.serviceOf(copyWith(kind, "shop"))).toEqual({ namespace: "shop", name: "web" });
  // A name can be that of a copy from another namespace.
  expect(index.serviceOf(copyWith(kind, "other"))).toBeUndefined();
});
